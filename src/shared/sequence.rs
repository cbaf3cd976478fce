//! The one-sequence cache in caller's storage, behind a header.

use core::cell::UnsafeCell;
use core::ptr::{NonNull, slice_from_raw_parts_mut};

use super::header::{ALIGN, Header, Ops, Tag};
use crate::config::Config;
use crate::error::Error;
use crate::sequence::{LayerSlot, SequenceInner, SequenceView};

/// The family of caches that plan one sequence.
pub const KIND_SEQUENCE: u32 = 1;

/// A header, then the cache over its layer table. The lock of the header guards the cache.
#[repr(C)]
pub(crate) struct SharedSequence<L: ?Sized> {
    header: Header,
    cache: UnsafeCell<SequenceInner<L>>,
}

/// The part before the layer table.
type Prefix = SharedSequence<[LayerSlot; 0]>;

static OPS: Ops = Ops { capacity, clear, batch: None };

/// Bytes of a shared one-sequence cache of `n_layers` layers.
pub(crate) const fn bytes(n_layers: usize) -> usize {
    (size_of_prefix() + n_layers * size_of::<LayerSlot>()).next_multiple_of(ALIGN)
}

/// Up to the layer table, without the padding behind it.
const fn size_of_prefix() -> usize {
    size_of::<SharedSequence<[LayerSlot; 4]>>() - 4 * size_of::<LayerSlot>()
}

// What the C macro KVC_SEQUENCE_BYTES_FOR says, and what really stands in the storage.
#[cfg(not(loom))] // whose atomics and lock are larger
const _: () = {
    let prefix = 16 + 16 * size_of::<usize>() + 288;
    assert!(size_of_prefix() == prefix, "KVC_SEQUENCE_BYTES_FOR must follow the layout");
    assert!(size_of::<SharedSequence<[LayerSlot; 34]>>() == bytes(34));
    assert!(size_of::<SharedSequence<[LayerSlot; 255]>>() == bytes(255));
    assert!(align_of::<SharedSequence<[LayerSlot; 255]>>() == ALIGN);
};

/// Builds a cache in `size` bytes at `at`, in place.
///
/// # Safety
/// `at` is valid for writes of `size` bytes, and nobody else uses them until the cache ended.
pub(crate) unsafe fn init(
    at: NonNull<u8>,
    size: usize,
    config: &Config<'_>,
) -> Result<NonNull<Header>, Error> {
    config.check()?;
    let n_layers = config.n_layers as usize;
    let header = at.cast::<Header>();
    if !header.is_aligned() {
        return Err(Error::InvalidArgument);
    }
    if size < bytes(n_layers) {
        return Err(Error::BufferTooSmall);
    }
    // SAFETY: the storage has room for the prefix and the table, both are written before anything reads
    // them, and the cache is only visible to this call.
    unsafe {
        let cache = (&raw mut (*header.cast::<Prefix>().as_ptr()).cache).cast();
        write_blank(cache, n_layers);
        (*view(header, n_layers)).configure(config)?;
        Header::write(header, Tag::Sequence, KIND_SEQUENCE, &OPS);
    }
    Ok(header)
}

/// A blank cache with room for `n_layers` layers.
unsafe fn write_blank(cache: *mut SequenceInner<[LayerSlot; 0]>, n_layers: usize) {
    // SAFETY: by the contract of `init`.
    unsafe {
        cache.write(SequenceInner::BLANK);
        let table = (&raw mut (*cache).layers).cast::<LayerSlot>();
        for layer in 0..n_layers {
            table.add(layer).write(LayerSlot::default());
        }
    }
}

/// The cache with the length of its layer table, which C's thin pointers do not carry.
#[allow(clippy::cast_ptr_alignment)] // the address is the header's, which is aligned
fn view(header: NonNull<Header>, n_layers: usize) -> *mut SequenceView {
    let whole = slice_from_raw_parts_mut(header.as_ptr().cast::<LayerSlot>(), n_layers);
    // SAFETY: only the address of a field is computed.
    unsafe { UnsafeCell::raw_get(&raw const (*(whole as *const SharedSequence<[LayerSlot]>)).cache) }
}

/// Runs `f` on the cache behind its lock.
///
/// # Safety
/// A shared one-sequence cache stands at `header`, kept alive by the caller.
#[inline]
pub(crate) unsafe fn with_sequence<R>(
    header: NonNull<Header>,
    f: impl FnOnce(&mut SequenceView) -> R,
) -> Result<R, Error> {
    // SAFETY: alive by contract.
    unsafe { header.as_ref() }.lock().with(|()| {
        // SAFETY: the lock is held, so this is the only access; the prefix tells the table's length.
        unsafe {
            let prefix = UnsafeCell::raw_get(&raw const (*header.cast::<Prefix>().as_ptr()).cache);
            f(&mut *view(header, (*prefix).n_layers as usize))
        }
    })
}

unsafe fn capacity(header: NonNull<Header>) -> Result<u32, Error> {
    // SAFETY: in the table of this kind only.
    unsafe { with_sequence(header, |cache| cache.capacity()) }
}

unsafe fn clear(header: NonNull<Header>) -> Result<(), Error> {
    // SAFETY: in the table of this kind only.
    unsafe { with_sequence(header, SequenceView::clear) }
}
