//! A many-sequence cache in caller's storage: a header, the cache, its words.

use core::cell::UnsafeCell;
use core::mem::{MaybeUninit, offset_of};
use core::ptr::{NonNull, slice_from_raw_parts_mut};

use super::batch::{BatchOps, Call};
use super::header::{ALIGN, Header, Ops, Tag};
use crate::config::Config;
use crate::error::Error;
use crate::layer::LayerInfo;

/// What is particular to a kind of cache that ends with a slice of words.
///
/// # Safety
/// The tag is this type's alone; `Blank` is this type with no words, of the same layout up to where the words begin, which
/// is its size; `view` only changes the type of the pointer.
pub(crate) unsafe trait InWords {
    /// The cache in front of words that are still to be written.
    type Blank;
    const BLANK: Self::Blank;
    const TAG: Tag;
    /// The family that it plays.
    const KIND: u32;

    fn words_for(config: &Config<'_>) -> Result<usize, Error>;
    /// Words in use.
    fn n_words(blank: &Self::Blank) -> usize;
    /// A cache at `at`, with as many words as the slice has.
    fn view(at: *mut [u32]) -> *mut Self;
    /// Builds the cache from a blank one and words of 0, for a config that `words_for` has seen.
    fn build(&mut self, config: &Config<'_>, n_words: usize) -> Result<(), Error>;

    fn capacity(&self) -> u32;
    fn clear(&mut self);
    fn config(&self) -> Config<'static>;
    fn layer(&self, layer: u32) -> Result<LayerInfo, Error>;
    /// Tells whether windows dropped positions.
    fn declare(&mut self, seq_ids: &[u32]) -> Result<bool, Error>;
    fn answer(&mut self, call: Call) -> Result<u32, Error>;
}

/// What stands in the storage, but for the words. The lock of the header guards the cache.
#[repr(C)]
struct Shared<B> {
    header: Header,
    cache: UnsafeCell<B>,
}

/// The function tables of a kind.
struct Table<K: ?Sized>(core::marker::PhantomData<K>);

impl<K: ?Sized + InWords> Table<K> {
    const OPS: &'static Ops = &Ops {
        capacity: capacity::<K>,
        clear: clear::<K>,
        batch: Some(&BatchOps {
            declare: declare::<K>,
            answer: answer::<K>,
            config: config::<K>,
            layer: layer::<K>,
        }),
    };
}

/// Bytes of a shared cache of `n_words` words; `InvalidConfig` where no memory holds them.
pub(crate) const fn bytes<K: ?Sized + InWords>(n_words: usize) -> Result<usize, Error> {
    let prefix = offset_of!(Shared<K::Blank>, cache) + size_of::<K::Blank>();
    match n_words.checked_mul(size_of::<u32>()) {
        Some(words) if words <= isize::MAX as usize - prefix - ALIGN => {
            Ok((prefix + words).next_multiple_of(ALIGN))
        }
        _ => Err(Error::InvalidConfig),
    }
}

/// Bytes of a shared cache of this config.
pub(crate) fn size<K: ?Sized + InWords>(config: &Config<'_>) -> Result<usize, Error> {
    bytes::<K>(K::words_for(config)?)
}

/// Builds a cache in `size` bytes at `at`, in place.
///
/// # Safety
/// `at` is valid for writes of `size` bytes, and nobody else uses them until the cache ended.
pub(crate) unsafe fn init<K: ?Sized + InWords>(
    at: NonNull<u8>,
    size: usize,
    config: &Config<'_>,
) -> Result<NonNull<Header>, Error> {
    let n_words = K::words_for(config)?;
    let needed = bytes::<K>(n_words)?;
    let header = at.cast::<Header>();
    if !header.is_aligned() {
        return Err(Error::InvalidArgument);
    }
    if size < needed {
        return Err(Error::BufferTooSmall);
    }
    // SAFETY: the storage has room.
    unsafe {
        configure::<K>(header, n_words, config)?;
        Header::write(header, K::TAG, K::KIND, Table::<K>::OPS);
    }
    Ok(header)
}

/// Builds the part behind the header. Apart from `init`, so that only one of the two looks at the config at a time: that
/// takes room on the stack.
///
/// # Safety
/// As `init`, with room for `n_words` words.
#[inline(never)]
unsafe fn configure<K: ?Sized + InWords>(
    header: NonNull<Header>,
    n_words: usize,
    config: &Config<'_>,
) -> Result<(), Error> {
    // SAFETY: cache and words are both written before anything reads them, and the cache is only visible to this call.
    unsafe {
        let cache = blank::<K>(header);
        cache.write(K::BLANK);
        cache.add(1).cast::<u32>().write_bytes(0, n_words);
        (*view::<K>(header, n_words)).build(config, n_words)
    }
}

/// The cache up to its words.
///
/// # Safety
/// `header` is at storage of such a cache.
unsafe fn blank<K: ?Sized + InWords>(header: NonNull<Header>) -> *mut K::Blank {
    // SAFETY: only the address of a field is computed.
    unsafe { UnsafeCell::raw_get(&raw const (*header.cast::<Shared<K::Blank>>().as_ptr()).cache) }
}

/// The cache with the number of its words, which C's thin pointers do not carry.
///
/// # Safety
/// As `blank`.
unsafe fn view<K: ?Sized + InWords>(header: NonNull<Header>, n_words: usize) -> *mut K {
    // SAFETY: by contract.
    K::view(slice_from_raw_parts_mut(unsafe { blank::<K>(header) }.cast(), n_words))
}

/// Runs `f` on the cache behind its lock.
///
/// # Safety
/// A shared cache of this kind stands at `header`, kept alive by the caller.
pub(crate) unsafe fn with<K: ?Sized + InWords, R>(
    header: NonNull<Header>,
    f: impl FnOnce(&mut K) -> R,
) -> Result<R, Error> {
    // SAFETY: alive by contract.
    unsafe { header.as_ref() }.lock().with(|()| {
        // SAFETY: the lock is held, so this is the only access; the cache tells how many words there are.
        unsafe { f(&mut *view::<K>(header, K::n_words(&*blank::<K>(header)))) }
    })
}

unsafe fn capacity<K: ?Sized + InWords>(header: NonNull<Header>) -> Result<u32, Error> {
    // SAFETY: in the table of this kind only.
    unsafe { with(header, |cache: &mut K| cache.capacity()) }
}

unsafe fn clear<K: ?Sized + InWords>(header: NonNull<Header>) -> Result<(), Error> {
    // SAFETY: in the table of this kind only.
    unsafe { with(header, K::clear) }
}

unsafe fn config<K: ?Sized + InWords>(
    header: NonNull<Header>,
    out: &mut MaybeUninit<Config<'static>>,
) -> Result<(), Error> {
    // SAFETY: in the table of this kind only.
    unsafe {
        with(header, |cache: &mut K| {
            out.write(cache.config());
        })
    }
}

unsafe fn layer<K: ?Sized + InWords>(
    header: NonNull<Header>,
    layer: u32,
    out: &mut MaybeUninit<LayerInfo>,
) -> Result<(), Error> {
    // SAFETY: in the table of this kind only.
    unsafe {
        with(header, |cache: &mut K| {
            out.write(cache.layer(layer)?);
            Ok(())
        })
    }?
}

unsafe fn declare<K: ?Sized + InWords>(header: NonNull<Header>, seq_ids: &[u32]) -> Result<bool, Error> {
    // SAFETY: in the table of this kind only.
    unsafe { with(header, |cache: &mut K| cache.declare(seq_ids)) }?
}

unsafe fn answer<K: ?Sized + InWords>(header: NonNull<Header>, call: Call) -> Result<u32, Error> {
    // SAFETY: in the table of this kind only.
    unsafe { with(header, |cache: &mut K| cache.answer(call)) }?
}

/// What really stands in the storage.
#[cfg(not(loom))] // whose atomics and lock are larger
pub(crate) const fn stands_as_counted<K: ?Sized + InWords, const N: usize, C>() -> bool {
    let aligned = align_of::<Shared<C>>() == ALIGN;
    aligned && matches!(bytes::<K>(N), Ok(size) if size == size_of::<Shared<C>>())
}
