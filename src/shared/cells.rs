//! The cell cache in caller's storage, behind a header.

use core::cell::UnsafeCell;
use core::mem::{MaybeUninit, offset_of};
use core::ptr::{NonNull, slice_from_raw_parts_mut};

use super::batch::{BatchOps, Call};
use super::header::{ALIGN, Header, Ops, Tag};
use crate::cells::{CellInner, cell_words};
use crate::config::Config;
use crate::error::Error;
use crate::layer::LayerInfo;

/// The family of caches whose sequences share a pool of cells.
pub const KIND_CELLS: u32 = 2;

/// A header, then the cache over its words. The lock of the header guards the cache.
#[repr(C)]
pub(crate) struct SharedCells<W: ?Sized> {
    header: Header,
    cache: UnsafeCell<CellInner<W>>,
}

/// The cache as it stands behind a header.
pub(crate) type CellView = CellInner<[u32]>;

/// The part before the words.
type Prefix = SharedCells<[u32; 0]>;

static OPS: Ops = Ops { capacity, clear, batch: Some(&BATCH) };
static BATCH: BatchOps = BatchOps { declare, answer, config, layer };

/// Bytes before the words.
const PREFIX: usize = offset_of!(Prefix, cache) + offset_of!(CellInner<[u32; 0]>, words);

/// Bytes of a shared cell cache of `n_words` words; `InvalidConfig` where no memory holds them.
const fn bytes(n_words: usize) -> Result<usize, Error> {
    match n_words.checked_mul(size_of::<u32>()) {
        Some(words) if words <= isize::MAX as usize - PREFIX - ALIGN => {
            Ok((PREFIX + words).next_multiple_of(ALIGN))
        }
        _ => Err(Error::InvalidConfig),
    }
}

// What really stands in the storage.
#[cfg(not(loom))] // whose atomics and lock are larger
const _: () = {
    assert!(matches!(bytes(0), Ok(size) if size == size_of::<Prefix>()));
    assert!(matches!(bytes(33), Ok(size) if size == size_of::<SharedCells<[u32; 33]>>()));
    assert!(matches!(bytes(1000), Ok(size) if size == size_of::<SharedCells<[u32; 1000]>>()));
    assert!(align_of::<SharedCells<[u32; 33]>>() == ALIGN);
};

/// Bytes of a shared cell cache of this config.
pub(crate) fn size(config: &Config<'_>) -> Result<usize, Error> {
    bytes(cell_words(config)?)
}

/// Builds a cache in `size` bytes at `at`, in place.
///
/// # Safety
/// `at` is valid for writes of `size` bytes, and nobody else uses them until the cache ended.
pub(crate) unsafe fn init(
    at: NonNull<u8>,
    size: usize,
    config: &Config<'_>,
) -> Result<NonNull<Header>, Error> {
    let n_words = cell_words(config)?;
    let needed = bytes(n_words)?;
    let header = at.cast::<Header>();
    if !header.is_aligned() {
        return Err(Error::InvalidArgument);
    }
    if size < needed {
        return Err(Error::BufferTooSmall);
    }
    // SAFETY: the storage has room.
    unsafe {
        configure(header, n_words, config)?;
        Header::write(header, Tag::Cells, KIND_CELLS, &OPS);
    }
    Ok(header)
}

/// Builds the part behind the header. Apart from `init`, so that only one of the two looks at the config at a time: that
/// takes room on the stack.
///
/// # Safety
/// As `init`, with room for `n_words` words.
#[inline(never)]
unsafe fn configure(header: NonNull<Header>, n_words: usize, config: &Config<'_>) -> Result<(), Error> {
    // SAFETY: prefix and words are both written before anything reads them, and the cache is only visible to this call.
    unsafe {
        let cache = (&raw mut (*header.cast::<Prefix>().as_ptr()).cache).cast::<CellInner<[u32; 0]>>();
        cache.write(CellInner::BLANK);
        (&raw mut (*cache).words).cast::<u32>().write_bytes(0, n_words);
        (*view(header, n_words)).build(config)
    }
}

/// The cache with the number of its words, which C's thin pointers do not carry.
#[allow(clippy::cast_ptr_alignment)] // the address is the header's, which is aligned
fn view(header: NonNull<Header>, n_words: usize) -> *mut CellView {
    let whole = slice_from_raw_parts_mut(header.as_ptr().cast::<u32>(), n_words);
    // SAFETY: only the address of a field is computed.
    unsafe { UnsafeCell::raw_get(&raw const (*(whole as *const SharedCells<[u32]>)).cache) }
}

/// Runs `f` on the cache behind its lock.
///
/// # Safety
/// A shared cell cache stands at `header`, kept alive by the caller.
pub(crate) unsafe fn with_cells<R>(
    header: NonNull<Header>,
    f: impl FnOnce(&mut CellView) -> R,
) -> Result<R, Error> {
    // SAFETY: alive by contract.
    unsafe { header.as_ref() }.lock().with(|()| {
        // SAFETY: the lock is held, so this is the only access; the prefix tells how many words there are.
        unsafe {
            let prefix = UnsafeCell::raw_get(&raw const (*header.cast::<Prefix>().as_ptr()).cache);
            f(&mut *view(header, (*prefix).n_words))
        }
    })
}

unsafe fn capacity(header: NonNull<Header>) -> Result<u32, Error> {
    // SAFETY: in the table of this kind only.
    unsafe { with_cells(header, |cache| cache.capacity()) }
}

unsafe fn clear(header: NonNull<Header>) -> Result<(), Error> {
    // SAFETY: in the table of this kind only.
    unsafe { with_cells(header, CellView::clear) }
}

unsafe fn config(header: NonNull<Header>, out: &mut MaybeUninit<Config<'static>>) -> Result<(), Error> {
    // SAFETY: in the table of this kind only.
    unsafe {
        with_cells(header, |cache| {
            out.write(cache.config());
        })
    }
}

unsafe fn layer(header: NonNull<Header>, layer: u32, out: &mut MaybeUninit<LayerInfo>) -> Result<(), Error> {
    // SAFETY: in the table of this kind only.
    unsafe {
        with_cells(header, |cache| {
            out.write(cache.layer(layer)?);
            Ok(())
        })
    }?
}

unsafe fn declare(header: NonNull<Header>, seq_ids: &[u32]) -> Result<bool, Error> {
    // SAFETY: in the table of this kind only.
    unsafe { with_cells(header, |cache| cache.declare(seq_ids)) }?
}

unsafe fn answer(header: NonNull<Header>, call: Call) -> Result<u32, Error> {
    let answer = |cache: &mut CellView| match call {
        Call::CanAdmit { seq, n } => cache.can_admit(seq, n).map(u32::from),
        Call::SeqNew => cache.seq_new(),
        Call::SeqClone { src, upto } => cache.seq_clone(src, upto),
        Call::SeqRemove { seq, from, to } => cache.seq_remove(seq, from, to).map(|()| 0),
        Call::SeqRelease { seq } => cache.seq_release(seq).map(|()| 0),
        Call::SeqKeep { seq } => cache.seq_keep(seq).map(|()| 0),
        Call::SeqShift { seq, from, to, delta } => cache.seq_shift(seq, from, to, delta).map(|()| 0),
        Call::Rewind { seq, new_len } => cache.rewind(seq, new_len).map(|()| 0),
        Call::SeqLen { seq } => cache.seq_len(seq),
        Call::NextPos { seq } => cache.next_pos(seq),
        Call::FirstPos { seq } => cache.first_pos(seq),
        Call::FreeRows => Ok(cache.free_rows()),
    };
    // SAFETY: in the table of this kind only.
    unsafe { with_cells(header, answer) }?
}
