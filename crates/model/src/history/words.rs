//! Enumerations whose values have words.

/// An enumeration, a word for each value, by which it is read and written, and perhaps other words that are read, too.
/// Capitals do not matter. After `of`, what an unknown word is said to be.
#[macro_export]
macro_rules! words {
    ($(#[$doc:meta])* $name:ident by $word:ident $(of $what:literal)? {
        $($(#[$value_doc:meta])* $value:ident = $text:literal $(| $other:literal)*,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$value_doc])* $value,)* }

        impl $name {
            /// All of them; the default one, if there is one, is the first.
            pub const ALL: [$name; [$($text),*].len()] = [$($name::$value),*];

            /// The word for it on the command line and in reports.
            pub fn $word(self) -> &'static str {
                match self { $($name::$value => $text,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.$word())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<$name, String> {
                let is_called = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(text.trim()));
                $(if is_called(&[$text $(, $other)*]) {
                    return Ok($name::$value);
                })*
                let unknown: &[String] = &[$(format!("unknown {} `{text}`, ", $what))?];
                Err(format!("{}expected one of {}", unknown.concat(), [$($text),*].join(", ")))
            }
        }
    };
}
