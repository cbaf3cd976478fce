#![doc = include_str!("model.md")]
#![no_std]
#![deny(unsafe_code)]
// Layers, rows and positions are 32 bits by design: what is cast was checked or is bounded by a table.
#![allow(clippy::cast_possible_truncation)]

#[cfg(test)]
#[macro_use]
extern crate std;

#[cfg(all(feature = "panic-handler", not(feature = "capi")))]
compile_error!("feature `panic-handler` is for an archive with the C symbols: add feature `capi`");
#[cfg(all(feature = "panic-handler", feature = "defmt"))]
compile_error!(
    "feature `defmt` needs a Rust firmware that brings a logger; an archive with `panic-handler` is the only Rust \
     in its image. C firmware uses kvc_set_event_hook"
);
#[cfg(all(not(target_has_atomic = "ptr"), not(feature = "critical-section")))]
compile_error!("this core has no compare-and-swap: add feature `critical-section`");

pub mod batch;
mod bitset;
pub mod builders;
#[cfg(feature = "capi")]
pub mod capi;
pub mod cells;
pub mod config;
pub mod error;
pub mod event;
pub mod layer;
pub mod layout;
pub mod limits;
pub mod mask;
pub mod name;
pub mod plan;
pub mod pool;
#[cfg(doc)]
#[doc = include_str!("porting.md")]
pub mod porting {}
pub mod registry;
mod residency;
pub mod rows;
pub mod sequence;
pub mod session;
mod shared;
pub mod tree;

pub use batch::{CellStep, Move, Shift, Span};
pub use builders::{BUILT_IN, CELLS, CellsBuilder, ROWS, RowsBuilder, SEQUENCE, SequenceBuilder};
pub use cells::{CellCache, CellInner, cell_words};
pub use config::Config;
pub use error::Error;
pub use event::{Event, Hook, set_event_hook};
pub use layer::{LAYER_FLAT, LAYER_RING, Layer, LayerInfo};
pub use limits::UNBOUNDED;
pub use mask::Columns;
pub use name::Key;
pub use plan::{MASK_CAUSAL, MASK_EXPLICIT, MASK_NONE, MASK_WINDOW, Run, SeqPlan};
pub use registry::{Registry, unique_key};
pub use rows::{RowsCache, RowsInner, rows_words};
pub use sequence::{SequenceCache, SequenceInner, SequenceView};
pub use session::Session;
pub use shared::builder::BuildCache;
pub use shared::cells::KIND_CELLS;
pub use shared::face::Face;
pub use shared::foreign::{ExternalCache, ExternalStorage};
pub use shared::handle::CacheRef;
pub use shared::header::Header;
pub use shared::rows::KIND_ROWS;
pub use shared::sequence::KIND_SEQUENCE;
pub use shared::storage::batch::{cells_in, cells_size, rows_in, rows_size};
pub use shared::storage::{SequenceStorage, sequence_in, sequence_size};
#[doc(hidden)]
pub use shared::{external::ExternalTable, raw::RawConfig};

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The one Rust in its image needs a panic handler. None of the code can panic, so nothing ever calls it.
#[cfg(all(feature = "panic-handler", not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
