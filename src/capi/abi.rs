//! Sizes and offsets of what C sees, as numbers: a change of any is a new version of the interface. The C
//! side of the list is `tests/c/abi.h`.

use core::mem::offset_of;

use super::registry::RawSession;
use crate::batch::{CellStep, Move, Shift, Span};
use crate::layer::{Layer, LayerInfo};
use crate::plan::{Run, SeqPlan};
use crate::shared::external::ExternalTable;
use crate::shared::raw::RawConfig;

/// `layout!(Type, size, field at offset, …)`
macro_rules! layout {
    ($type:ty, $size:expr $(, $field:ident at $offset:expr)* $(,)?) => {
        const _: () = assert!(size_of::<$type>() == $size);
        $(const _: () = assert!(offset_of!($type, $field) == $offset);)*
    };
}

/// A pointer.
const P: usize = size_of::<usize>();
/// A 64-bit number is aligned to 4 bytes on some 32-bit machines.
const ID: usize = P.next_multiple_of(align_of::<u64>());

const _: () = assert!(size_of::<bool>() == 1);

layout!(Layer, 24, kind at 0, window at 4, sinks at 8, n_kv_heads at 12, head_dim at 16, shares_with at 20);
layout!(
    RawConfig, (56 + 2 * P).next_multiple_of(P),
    struct_size at 0, capacity at 4, n_layers at 8, n_layer_entries at 12, layers at 16,
    max_write at 16 + P, rollback at 20 + P, max_context at 24 + P, initial_capacity at 28 + P, kv_dtype at 32 + P,
    max_seqs at 36 + P, block_size at 40 + P, max_blocks_per_seq at 44 + P, watermark at 48 + P, flags at 52 + P,
    user at 56 + P,
);
layout!(LayerInfo, 36, layer at 0, group at 24, rows at 28, max_write at 32);
layout!(Run, 12, start at 0, len at 4, pos at 8);
layout!(
    SeqPlan, 104,
    write at 0, read at 24, n_write at 60, n_read at 64, position at 68, n_tokens at 72, read_len at 76,
    rows_needed at 80, mask at 84, window at 88, sinks at 92, group at 96, epoch at 100,
);
layout!(CellStep, 16, mask at 0, n_tokens at 4, read_len at 8, write_start at 12);
layout!(Shift, 12, row at 0, len at 4, delta at 8);
layout!(Move, 12, from at 0, to at 4, len at 8);
layout!(Span, 112, seq at 0, n_tokens at 4, plan at 8);
layout!(RawSession, ID + 72, registry at 0, id at ID, key at ID + 8);
layout!(
    ExternalTable, 8 + 29 * P,
    struct_size at 0, kind at 4,
    capacity at 8, clear at 8 + P, can_extend at 8 + 2 * P, length at 8 + 3 * P, rewind at 8 + 4 * P,
    rewind_floor at 8 + 5 * P, seq_plan at 8 + 6 * P, seq_plan_step at 8 + 7 * P, seq_commit at 8 + 8 * P,
    batch_declare_step at 8 + 9 * P, batch_can_admit at 8 + 10 * P, batch_seq_new at 8 + 11 * P,
    batch_seq_clone at 8 + 12 * P, batch_seq_remove at 8 + 13 * P, batch_seq_release at 8 + 14 * P,
    batch_seq_keep at 8 + 15 * P, batch_seq_shift at 8 + 16 * P, batch_rewind at 8 + 17 * P,
    batch_seq_len at 8 + 18 * P, batch_next_pos at 8 + 19 * P, batch_first_pos at 8 + 20 * P,
    batch_free_rows at 8 + 21 * P, cells_place_step at 8 + 22 * P, cells_mask_bytes at 8 + 23 * P,
    cells_mask_bits at 8 + 24 * P, cells_shifts at 8 + 25 * P, cells_shifts_done at 8 + 26 * P,
    cells_defrag at 8 + 27 * P, rows_place_step at 8 + 28 * P,
);
