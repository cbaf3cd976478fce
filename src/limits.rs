//! The limits. Those that shape anything in the C header are constants of the ABI version;
//! the two table sizes of a registry come from the environment of the build.
//!
//! ```
//! assert_eq!(kvcore::limits::MAX_NAME, 63);
//! assert!(kvcore::limits::MAX_CACHES >= 1);
//! ```

mod build_time {
    include!(concat!(env!("OUT_DIR"), "/limits.rs"));
}

/// Entries of a registry, from `KVC_MAX_CACHES` (16 by default, at most 1024).
pub const MAX_CACHES: usize = build_time::MAX_CACHES;
/// Builders of a registry, from `KVC_MAX_BUILDERS` (16 by default, at most 1024).
pub const MAX_BUILDERS: usize = build_time::MAX_BUILDERS;
/// Most bytes of a key, a backend id, a kind or a face name, without the closing NUL.
pub const MAX_NAME: usize = 63;
/// Most layer groups of a model.
pub const MAX_GROUPS: usize = 8;
/// Most open faces attached to one cache.
pub const MAX_FACES: usize = 4;
/// Most layers of a model.
pub const MAX_LAYERS: usize = 255;
/// Most sequences of a cell cache.
pub const MAX_SEQS: usize = 64;
/// Most nodes of a token tree.
pub const MAX_TREE: usize = 256;
/// A capacity that only windows bound.
pub const UNBOUNDED: u32 = u32::MAX;
