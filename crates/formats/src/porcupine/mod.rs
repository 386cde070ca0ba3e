//! Histories for Porcupine (anishathalye/porcupine: porcupine_test.go, test_data): logs of single operations whose
//! order is real time, to be checked for linearizability. Each operation becomes a separate transaction.

mod kv;
mod operations;
mod twins;

pub use kv::FORMAT as KV;
pub use operations::FORMAT as OPERATIONS;
pub(crate) use operations::has_typed_input;
