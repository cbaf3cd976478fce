//! The private-row cache in caller's storage, behind a header.

use core::cell::UnsafeCell;
use core::mem::{MaybeUninit, offset_of};
use core::ptr::{NonNull, slice_from_raw_parts_mut};

use super::batch::{BatchOps, Call};
use super::header::{ALIGN, Header, Ops, Tag};
use crate::config::Config;
use crate::error::Error;
use crate::layer::LayerInfo;
use crate::rows::{RowsInner, rows_words};

/// The family of caches whose sequences have rows of their own.
pub const KIND_ROWS: u32 = 3;

/// A header, then the cache over its words. The lock of the header guards the cache.
#[repr(C)]
pub(crate) struct SharedRows<W: ?Sized> {
    header: Header,
    cache: UnsafeCell<RowsInner<W>>,
}

/// The cache as it stands behind a header.
pub(crate) type RowsView = RowsInner<[u32]>;

/// The part before the words.
type Prefix = SharedRows<[u32; 0]>;

static OPS: Ops = Ops { capacity, clear, batch: Some(&BATCH) };
static BATCH: BatchOps = BatchOps { declare, answer, config, layer };

/// Bytes before the words.
const PREFIX: usize = offset_of!(Prefix, cache) + size_of::<RowsInner<[u32; 0]>>();

/// Bytes of a shared private-row cache of `n_words` words; `InvalidConfig` where no memory holds them.
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
    assert!(matches!(bytes(33), Ok(size) if size == size_of::<SharedRows<[u32; 33]>>()));
    assert!(matches!(bytes(1000), Ok(size) if size == size_of::<SharedRows<[u32; 1000]>>()));
    assert!(align_of::<SharedRows<[u32; 33]>>() == ALIGN);
};

/// Bytes of a shared private-row cache of this config.
pub(crate) fn size(config: &Config<'_>) -> Result<usize, Error> {
    bytes(rows_words(config)?)
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
    let n_words = rows_words(config)?;
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
        Header::write(header, Tag::Rows, KIND_ROWS, &OPS);
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
        let cache = (&raw mut (*header.cast::<Prefix>().as_ptr()).cache).cast::<RowsInner<[u32; 0]>>();
        cache.write(RowsInner::BLANK);
        cache.add(1).cast::<u32>().write_bytes(0, n_words);
        (*view(header, n_words)).build(config, n_words)
    }
}

/// The cache with the number of its words, which C's thin pointers do not carry.
#[allow(clippy::cast_ptr_alignment)] // the address is the header's, which is aligned
fn view(header: NonNull<Header>, n_words: usize) -> *mut RowsView {
    let whole = slice_from_raw_parts_mut(header.as_ptr().cast::<u32>(), n_words);
    // SAFETY: only the address of a field is computed.
    unsafe { UnsafeCell::raw_get(&raw const (*(whole as *const SharedRows<[u32]>)).cache) }
}

/// Runs `f` on the cache behind its lock.
///
/// # Safety
/// A shared private-row cache stands at `header`, kept alive by the caller.
pub(crate) unsafe fn with_rows<R>(
    header: NonNull<Header>,
    f: impl FnOnce(&mut RowsView) -> R,
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
    unsafe { with_rows(header, |cache| cache.capacity()) }
}

unsafe fn clear(header: NonNull<Header>) -> Result<(), Error> {
    // SAFETY: in the table of this kind only.
    unsafe { with_rows(header, RowsView::clear) }
}

unsafe fn config(header: NonNull<Header>, out: &mut MaybeUninit<Config<'static>>) -> Result<(), Error> {
    // SAFETY: in the table of this kind only.
    unsafe {
        with_rows(header, |cache| {
            out.write(cache.config());
        })
    }
}

unsafe fn layer(header: NonNull<Header>, layer: u32, out: &mut MaybeUninit<LayerInfo>) -> Result<(), Error> {
    // SAFETY: in the table of this kind only.
    unsafe {
        with_rows(header, |cache| {
            out.write(cache.layer(layer)?);
            Ok(())
        })
    }?
}

/// Windows drop positions when the step is placed.
unsafe fn declare(header: NonNull<Header>, seq_ids: &[u32]) -> Result<bool, Error> {
    // SAFETY: in the table of this kind only.
    unsafe { with_rows(header, |cache| cache.declare_step(seq_ids).map(|()| false)) }?
}

unsafe fn answer(header: NonNull<Header>, call: Call) -> Result<u32, Error> {
    let answer = |cache: &mut RowsView| match call {
        Call::CanAdmit { seq, n } => cache.can_admit(seq, n).map(u32::from),
        Call::SeqNew => cache.seq_new(),
        Call::SeqClone { src, upto } => cache.seq_clone(src, upto),
        Call::SeqRelease { seq } => cache.seq_release(seq).map(|()| 0),
        Call::SeqKeep { seq } => cache.seq_keep(seq).map(|()| 0),
        Call::Rewind { seq, new_len } => cache.rewind(seq, new_len).map(|()| 0),
        Call::SeqLen { seq } => cache.seq_len(seq),
        Call::NextPos { seq } => cache.next_pos(seq),
        Call::FirstPos { seq } => cache.first_pos(seq),
        Call::FreeRows => Ok(cache.free_rows()),
        Call::SeqRemove { .. } | Call::SeqShift { .. } => Err(Error::WrongKind),
    };
    // SAFETY: in the table of this kind only.
    unsafe { with_rows(header, answer) }?
}
