//! The constants of the header. Literals, since the generator copies them as they stand; a test compares
//! them with what the rest of the crate uses.

use super::kvc_status_t;

/// Success.
pub const KVC_OK: kvc_status_t = 0;
/// Null or misaligned pointer, zero tokens, number outside its range, wrong `struct_size`.
pub const KVC_ERR_INVALID_ARGUMENT: kvc_status_t = 1;
/// A config that contradicts itself or passes a limit; nothing is built.
pub const KVC_ERR_INVALID_CONFIG: kvc_status_t = 2;
/// No room now; room may come (rewind, removal, release).
pub const KVC_ERR_OUT_OF_CAPACITY: kvc_status_t = 3;
/// Would not fit into the same cache even when empty.
pub const KVC_ERR_NEVER_FITS: kvc_status_t = 4;
/// More tokens than `max_write` allows.
pub const KVC_ERR_STEP_TOO_LARGE: kvc_status_t = 5;
/// No such layer.
pub const KVC_ERR_BAD_LAYER: kvc_status_t = 6;
/// A gap, or a position already held: a step continues its sequence.
pub const KVC_ERR_BAD_POSITION: kvc_status_t = 7;
/// The target needs rows that a window has already dropped.
pub const KVC_ERR_EVICTED: kvc_status_t = 8;
/// Rewind beyond the length.
pub const KVC_ERR_CANNOT_GROW: kvc_status_t = 9;
/// The cache was rewound, cleared or stepped since this plan was made.
pub const KVC_ERR_STALE_PLAN: kvc_status_t = 10;
/// Nothing stands under that name or index.
pub const KVC_ERR_NOT_FOUND: kvc_status_t = 11;
/// The name or the slot is taken.
pub const KVC_ERR_ALREADY_EXISTS: kvc_status_t = 12;
/// A fixed table has no free entry.
pub const KVC_ERR_TABLE_FULL: kvc_status_t = 13;
/// Key, backend id, kind or face name over its limit, or empty.
pub const KVC_ERR_NAME_TOO_LONG: kvc_status_t = 14;
/// This cache does not offer that face.
pub const KVC_ERR_WRONG_KIND: kvc_status_t = 15;
/// The caller's buffer is too small.
pub const KVC_ERR_BUFFER_TOO_SMALL: kvc_status_t = 16;
/// The lock is held and the caller may not wait.
pub const KVC_ERR_BUSY: kvc_status_t = 17;
/// The object was released.
pub const KVC_ERR_STALE: kvc_status_t = 18;
/// Damaged storage or snapshot, or no such object there.
pub const KVC_ERR_CORRUPT: kvc_status_t = 19;
/// Not supported by this object.
pub const KVC_ERR_UNSUPPORTED: kvc_status_t = 20;
/// Unknown sequence id.
pub const KVC_ERR_BAD_SEQUENCE: kvc_status_t = 21;
/// A placement or commit without a declared step.
pub const KVC_ERR_NO_STEP: kvc_status_t = 22;
/// Would change rows that another sequence also owns.
pub const KVC_ERR_SHARED: kvc_status_t = 23;

/// Version of this header; see `kvc_check_header`.
pub const KVC_ABI_VERSION: u32 = 1;
/// Alignment of every storage.
pub const KVC_ALIGN: usize = 8;
/// A capacity that only windows bound; also "none" for a row or position.
pub const KVC_UNBOUNDED: u32 = 0xFFFF_FFFF;
/// Most bytes of a key or name, without the NUL.
pub const KVC_MAX_NAME: usize = 63;
/// Bytes of a key with its NUL.
pub const KVC_KEY_BYTES: usize = 64;
/// Most layer groups of a model.
pub const KVC_MAX_GROUPS: u32 = 8;
/// Most open faces of a cache.
pub const KVC_MAX_FACES: u32 = 4;
/// Most layers of a model.
pub const KVC_MAX_LAYERS: u32 = 255;
/// Most sequences of a cell cache.
pub const KVC_MAX_SEQS: u32 = 64;
/// A layer that keeps all history.
pub const KVC_LAYER_FLAT: u32 = 0;
/// A layer with a sliding window, optionally with sinks.
pub const KVC_LAYER_RING: u32 = 1;
/// Plans one sequence.
pub const KVC_KIND_SEQUENCE: u32 = 1;
/// A pool of cells shared by many sequences.
pub const KVC_KIND_CELLS: u32 = 2;
/// Many sequences with private rows.
pub const KVC_KIND_ROWS: u32 = 3;
/// Blocks, tables, prefix reuse.
pub const KVC_KIND_PAGED: u32 = 4;
/// No mask: one query, and it sees every read row.
pub const KVC_MASK_NONE: u32 = 0;
/// Lower-right aligned causal mask.
pub const KVC_MASK_CAUSAL: u32 = 1;
/// A band of `window` positions for each query, plus the sinks.
pub const KVC_MASK_WINDOW: u32 = 2;
/// Only the bytes or bits describe it.
pub const KVC_MASK_EXPLICIT: u32 = 3;
/// Column j of a mask: the j-th read row.
pub const KVC_COLUMNS_READ: u32 = 0;
/// Column j of a mask: pool row j.
pub const KVC_COLUMNS_POOL: u32 = 1;
/// Bytes of storage of an external cache.
pub const KVC_EXTERNAL_BYTES: usize = 256;
/// Flag of cell caches: each layer group has a pool of its own.
pub const KVC_SPLIT_POOLS: u32 = 1;
/// Flag of cell caches: windows do not free cells.
pub const KVC_KEEP_CELLS: u32 = 2;
/// A cache went into a registry, under the key.
pub const KVC_EVENT_INSTALLED: u32 = 1;
/// An entry left its registry.
pub const KVC_EVENT_ERASED: u32 = 2;
/// A step made a window drop positions.
pub const KVC_EVENT_EVICTED: u32 = 3;
/// A call failed with the status.
pub const KVC_EVENT_REFUSED: u32 = 4;
/// A call gave up waiting for a lock.
pub const KVC_EVENT_BUSY: u32 = 5;
/// A session guard could not erase its entry, which stays.
pub const KVC_EVENT_LEAKED: u32 = 6;
/// The last reference of a cache went.
pub const KVC_EVENT_ENDED: u32 = 7;

// What the generator copies is what the crate uses.
const _: () = {
    use crate::{config, event::Event, layer, limits, plan, shared};
    assert!(KVC_ALIGN == shared::header::ALIGN);
    assert!(KVC_UNBOUNDED == limits::UNBOUNDED);
    assert!(KVC_MAX_NAME == limits::MAX_NAME);
    assert!(KVC_MAX_GROUPS as usize == limits::MAX_GROUPS);
    assert!(KVC_MAX_FACES as usize == limits::MAX_FACES);
    assert!(KVC_MAX_LAYERS as usize == limits::MAX_LAYERS);
    assert!(KVC_MAX_SEQS as usize == limits::MAX_SEQS);
    assert!(KVC_SPLIT_POOLS == config::SPLIT_POOLS && KVC_KEEP_CELLS == config::KEEP_CELLS);
    assert!(KVC_LAYER_FLAT == layer::LAYER_FLAT && KVC_LAYER_RING == layer::LAYER_RING);
    assert!(KVC_KIND_SEQUENCE == shared::sequence::KIND_SEQUENCE);
    assert!(KVC_KIND_CELLS == shared::cells::KIND_CELLS && KVC_KIND_ROWS == shared::rows::KIND_ROWS);
    assert!(KVC_MASK_NONE == plan::MASK_NONE && KVC_MASK_CAUSAL == plan::MASK_CAUSAL);
    assert!(KVC_MASK_WINDOW == plan::MASK_WINDOW && KVC_MASK_EXPLICIT == plan::MASK_EXPLICIT);
    assert!(KVC_EXTERNAL_BYTES == shared::external::EXTERNAL_BYTES);
    assert!(KVC_EVENT_INSTALLED == Event::Installed as u32 && KVC_EVENT_ENDED == Event::Ended as u32);
};

#[cfg(test)]
mod tests {
    use crate::error::Error;

    #[test]
    fn statuses_are_the_errors() {
        let all = [
            (super::KVC_ERR_INVALID_ARGUMENT, "KVC_ERR_INVALID_ARGUMENT"),
            (super::KVC_ERR_INVALID_CONFIG, "KVC_ERR_INVALID_CONFIG"),
            (super::KVC_ERR_OUT_OF_CAPACITY, "KVC_ERR_OUT_OF_CAPACITY"),
            (super::KVC_ERR_NEVER_FITS, "KVC_ERR_NEVER_FITS"),
            (super::KVC_ERR_STEP_TOO_LARGE, "KVC_ERR_STEP_TOO_LARGE"),
            (super::KVC_ERR_BAD_LAYER, "KVC_ERR_BAD_LAYER"),
            (super::KVC_ERR_BAD_POSITION, "KVC_ERR_BAD_POSITION"),
            (super::KVC_ERR_EVICTED, "KVC_ERR_EVICTED"),
            (super::KVC_ERR_CANNOT_GROW, "KVC_ERR_CANNOT_GROW"),
            (super::KVC_ERR_STALE_PLAN, "KVC_ERR_STALE_PLAN"),
            (super::KVC_ERR_NOT_FOUND, "KVC_ERR_NOT_FOUND"),
            (super::KVC_ERR_ALREADY_EXISTS, "KVC_ERR_ALREADY_EXISTS"),
            (super::KVC_ERR_TABLE_FULL, "KVC_ERR_TABLE_FULL"),
            (super::KVC_ERR_NAME_TOO_LONG, "KVC_ERR_NAME_TOO_LONG"),
            (super::KVC_ERR_WRONG_KIND, "KVC_ERR_WRONG_KIND"),
            (super::KVC_ERR_BUFFER_TOO_SMALL, "KVC_ERR_BUFFER_TOO_SMALL"),
            (super::KVC_ERR_BUSY, "KVC_ERR_BUSY"),
            (super::KVC_ERR_STALE, "KVC_ERR_STALE"),
            (super::KVC_ERR_CORRUPT, "KVC_ERR_CORRUPT"),
            (super::KVC_ERR_UNSUPPORTED, "KVC_ERR_UNSUPPORTED"),
            (super::KVC_ERR_BAD_SEQUENCE, "KVC_ERR_BAD_SEQUENCE"),
            (super::KVC_ERR_NO_STEP, "KVC_ERR_NO_STEP"),
            (super::KVC_ERR_SHARED, "KVC_ERR_SHARED"),
        ];
        for (code, name) in all {
            assert_eq!(Error::from_code(code).map(Error::name), Some(name));
        }
    }
}
