//! Everything that a follower remembers, as bytes and back.
//!
//! What is read must be what was written, in the same form: [`FORM`] numbers the forms, and a checksum is up to the
//! caller. A delivered transaction is shared by engines; it is written where it occurs first, and by its number from then
//! on.

use isoscope_check::checkers::{Level, Pattern};
use isoscope_formats::{self as formats, Format};
use isoscope_model::history::{Interval, OperationKind, Outcome};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::Hash;
use std::sync::Arc;

/// The number of this form. It changes with everything that is kept: a field, its type or its meaning.
pub const FORM: u32 = 9;

/// Bytes that are written.
#[derive(Debug, Default)]
pub(super) struct Writing {
    bytes: Vec<u8>,
    /// The numbers of what is shared and was written.
    pub(super) shared: FxHashSet<u64>,
}

/// Bytes that are read.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    bytes: &'a [u8],
    /// What is shared, by number.
    pub(super) shared: FxHashMap<u64, Arc<dyn Any + Send + Sync>>,
}

impl Reading<'_> {
    pub(super) fn new(bytes: &[u8]) -> Reading<'_> {
        Reading {
            bytes,
            shared: FxHashMap::default(),
        }
    }

    fn take(&mut self, n: usize) -> Option<&[u8]> {
        let (taken, rest) = self.bytes.split_at_checked(n)?;
        self.bytes = rest;
        Some(taken)
    }
}

/// What can be kept.
pub(super) trait Keep: Sized {
    /// Writes it.
    fn put(&self, to: &mut Writing);
    /// Reads it; none where the bytes are no such thing.
    fn get(from: &mut Reading<'_>) -> Option<Self>;
}

/// Writes anything to bytes of its own.
pub(super) fn bytes_of(put: impl FnOnce(&mut Writing)) -> Vec<u8> {
    let mut writing = Writing::default();
    put(&mut writing);
    writing.bytes
}

/// Structures: their fields, one after the other; behind `;` those that begin empty.
macro_rules! kept {
    ($type:ty { $($field:ident),* $(; $($empty:ident),*)? }) => {
        impl $crate::follow::keep::Keep for $type {
            fn put(&self, to: &mut $crate::follow::keep::Writing) {
                $($crate::follow::keep::Keep::put(&self.$field, to);)*
            }
            fn get(from: &mut $crate::follow::keep::Reading<'_>) -> Option<Self> {
                Some(Self {
                    $($field: $crate::follow::keep::Keep::get(from)?,)*
                    $($($empty: Default::default(),)*)?
                })
            }
        }
    };
}

/// Enumerations: the number of the variant, and its fields.
macro_rules! kept_enum {
    ($type:ty { $($number:literal $variant:ident $(($($field:ident),*))? $({ $($named:ident),* })?),* }) => {
        impl $crate::follow::keep::Keep for $type {
            fn put(&self, to: &mut $crate::follow::keep::Writing) {
                match self {
                    $(Self::$variant $(($($field),*))? $({ $($named),* })? => {
                        let number: u32 = $number;
                        $crate::follow::keep::Keep::put(&number, to);
                        $($($crate::follow::keep::Keep::put($field, to);)*)?
                        $($($crate::follow::keep::Keep::put($named, to);)*)?
                    })*
                }
            }
            fn get(from: &mut $crate::follow::keep::Reading<'_>) -> Option<Self> {
                let number: u32 = $crate::follow::keep::Keep::get(from)?;
                Some(match number {
                    $($number => {
                        $($(let $field = $crate::follow::keep::Keep::get(from)?;)*)?
                        $($(let $named = $crate::follow::keep::Keep::get(from)?;)*)?
                        Self::$variant $(($($field),*))? $({ $($named),* })?
                    })*
                    _ => return None,
                })
            }
        }
    };
}

pub(super) use {kept, kept_enum};

/// Seven bits in each byte, the lowest first.
impl Keep for u64 {
    fn put(&self, to: &mut Writing) {
        let mut rest = *self;
        while rest >= 0x80 {
            to.bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        to.bytes.push(rest as u8);
    }

    fn get(from: &mut Reading<'_>) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = *from.take(1)?.first()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

/// What is written as something else.
macro_rules! kept_as {
    ($($type:ty: $put:expr, $get:expr;)*) => {
        $(impl Keep for $type {
            fn put(&self, to: &mut Writing) {
                $put(self).put(to);
            }
            fn get(from: &mut Reading<'_>) -> Option<Self> {
                $get(Keep::get(from)?)
            }
        })*
    };
}

kept_as! {
    u32: |n: &u32| u64::from(*n), |n: u64| u32::try_from(n).ok();
    usize: |n: &usize| *n as u64, |n: u64| usize::try_from(n).ok();
    i64: |n: &i64| *n as u64, |n: u64| Some(n as i64);
    bool: |is: &bool| u64::from(*is), |n: u64| Some(n == 1);
    u8: |n: &u8| u64::from(*n), |n: u64| u8::try_from(n).ok();
    Level: |level: &Level| level.code().to_owned(), |code: String| Level::with_code(&code);
    Pattern: |pattern: &Pattern| pattern.id().to_owned(), |id: String| Pattern::parse(&id);
    &'static Format: |format: &&'static Format| format.name.to_owned(), |name: String| formats::format(&name);
    Arc<str>: <Arc<str>>::to_string, |text: String| Some(Arc::from(text));
    Box<str>: <Box<str>>::to_string, |text: String| Some(Box::from(text));
}

impl Keep for String {
    fn put(&self, to: &mut Writing) {
        self.len().put(to);
        to.bytes.extend_from_slice(self.as_bytes());
    }

    fn get(from: &mut Reading<'_>) -> Option<String> {
        let n = usize::get(from)?;
        String::from_utf8(from.take(n)?.to_vec()).ok()
    }
}

/// Collections: the number of their elements, and these, each in its parts.
macro_rules! kept_collections {
    ($($type:ty, [$($parameters:tt)*], $element:pat => $($part:ident),*;)*) => {
        $(impl<$($parameters)*> Keep for $type {
            fn put(&self, to: &mut Writing) {
                self.len().put(to);
                for $element in self.iter() {
                    $($part.put(to);)*
                }
            }
            fn get(from: &mut Reading<'_>) -> Option<Self> {
                let n = usize::get(from)?;
                (0..n).map(|_| Keep::get(from)).collect()
            }
        })*
    };
}

kept_collections! {
    Vec<T>, [T: Keep], element => element;
    VecDeque<T>, [T: Keep], element => element;
    Box<[T]>, [T: Keep], element => element;
    Arc<[T]>, [T: Keep], element => element;
    SmallVec<[T; 2]>, [T: Keep], element => element;
    FxHashSet<T>, [T: Keep + Hash + Eq], element => element;
    BTreeSet<T>, [T: Keep + Ord], element => element;
    FxHashMap<K, V>, [K: Keep + Hash + Eq, V: Keep], (key, value) => key, value;
    BTreeMap<K, V>, [K: Keep + Ord, V: Keep], (key, value) => key, value;
}

impl<T: Keep> Keep for Option<T> {
    fn put(&self, to: &mut Writing) {
        self.is_some().put(to);
        self.iter().for_each(|value| value.put(to));
    }

    fn get(from: &mut Reading<'_>) -> Option<Option<T>> {
        if bool::get(from)? {
            T::get(from).map(Some)
        } else {
            Some(None)
        }
    }
}

macro_rules! kept_tuples {
    ($(($($name:ident),*);)*) => {
        $(impl<$($name: Keep),*> Keep for ($($name,)*) {
            #[allow(non_snake_case)]
            fn put(&self, to: &mut Writing) {
                let ($($name,)*) = self;
                $($name.put(to);)*
            }
            fn get(from: &mut Reading<'_>) -> Option<Self> {
                Some(($($name::get(from)?,)*))
            }
        })*
    };
}

kept_tuples! {
    (A, B);
    (A, B, C);
}

kept!(Interval { start, end });
kept_enum!(OperationKind { 0 Read, 1 Write });
kept_enum!(Outcome { 0 Committed, 1 Aborted, 2 Unknown });
