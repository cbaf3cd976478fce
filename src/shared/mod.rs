//! Objects that several parties own and call at once: the lock, the counts, the caches in caller's storage
//! with their faces, and foreign code behind function tables. Beside the C layer the only place with
//! `unsafe`; what it hands to the rest of the crate is safe to use.
#![allow(unsafe_code)]

pub(crate) mod batch;
pub(crate) mod builder;
pub(crate) mod cells;
pub(crate) mod count;
pub(crate) mod critical;
pub(crate) mod external;
pub(crate) mod face;
pub(crate) mod foreign;
pub(crate) mod handle;
pub(crate) mod header;
pub(crate) mod hook;
pub(crate) mod lock;
pub(crate) mod object;
pub(crate) mod place;
pub(crate) mod raw;
pub(crate) mod rows;
pub(crate) mod sequence;
pub(crate) mod storage;
pub(crate) mod sync;
pub(crate) mod words;
