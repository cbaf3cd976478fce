//! The config as C has it.

use core::ffi::c_void;

use crate::config::Config;
use crate::error::Error;
use crate::layer::Layer;
use crate::limits::MAX_LAYERS;

/// `kvc_config_t`: one config for every kind of cache. Start from `kvc_config_default()`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RawConfig {
    /// `sizeof(kvc_config_t)`; must match exactly.
    pub struct_size: u32,
    /// Positions (sequence); cells; rows shared (rows); blocks times `block_size` (paged).
    /// `KVC_UNBOUNDED` where only windows bound a one-sequence cache.
    pub capacity: u32,
    /// Layers of the model, 1 to `KVC_MAX_LAYERS`.
    pub n_layers: u32,
    /// Entries at `layers`: 1 (the same for all) or `n_layers`.
    pub n_layer_entries: u32,
    /// The layers; read during the call only.
    pub layers: *const Layer,
    /// Most tokens of a step; 0: each ring layer's own window, no bound for flat layers (cells: as many as the capacity).
    pub max_write: u32,
    /// Extra ring rows (cells: positions kept beyond a window): rejected tokens that can be taken back.
    pub rollback: u32,
    /// Positions that a sequence may reach; 0: no bound of its own.
    pub max_context: u32,
    /// Rows that a growing pool starts with.
    pub initial_capacity: u32,
    /// Element type of the tensors, opaque here.
    pub kv_dtype: i32,
    /// Most sequences: 1 to `KVC_MAX_SEQS` (cells), 1 to 4096 (rows).
    pub max_seqs: u32,
    /// Rows of a block (paged).
    pub block_size: u32,
    /// Most blocks of a sequence (paged).
    pub max_blocks_per_seq: u32,
    /// Blocks kept free at admission (paged).
    pub watermark: u32,
    /// `KVC_SPLIT_POOLS`, `KVC_KEEP_CELLS`.
    pub flags: u32,
    /// Handed to a builder untouched.
    pub user: *const c_void,
}

impl RawConfig {
    /// The config at an address that came from C, with its pointers checked and its contents not.
    ///
    /// # Safety
    /// A pointer that is neither null nor misaligned points to a config whose `layers`, likewise, point to
    /// `n_layer_entries` layers, all unchanged during `'c`.
    pub(crate) unsafe fn read<'c>(at: *const Self) -> Result<Config<'c>, Error> {
        if at.is_null() || !at.is_aligned() {
            return Err(Error::InvalidArgument);
        }
        // SAFETY: by contract; a struct of another size is not looked at any further.
        if unsafe { (&raw const (*at).struct_size).read() } as usize != size_of::<Self>() {
            return Err(Error::InvalidArgument);
        }
        // SAFETY: by contract.
        let raw = unsafe { &*at };
        if raw.layers.is_null() || !raw.layers.is_aligned() {
            return Err(Error::InvalidArgument);
        }
        // One entry more than any config has is enough for a check to refuse it.
        let entries = (raw.n_layer_entries as usize).min(MAX_LAYERS + 1);
        // SAFETY: by contract.
        let layers = unsafe { core::slice::from_raw_parts(raw.layers, entries) };
        Ok(Config {
            max_write: raw.max_write,
            rollback: raw.rollback,
            max_context: raw.max_context,
            initial_capacity: raw.initial_capacity,
            kv_dtype: raw.kv_dtype,
            max_seqs: raw.max_seqs,
            block_size: raw.block_size,
            max_blocks_per_seq: raw.max_blocks_per_seq,
            watermark: raw.watermark,
            flags: raw.flags,
            user: raw.user,
            ..Config::new(raw.capacity, raw.n_layers, layers)
        })
    }
}

impl From<&Config<'_>> for RawConfig {
    fn from(config: &Config<'_>) -> Self {
        let layers = config.layers;
        Self {
            struct_size: size_of::<Self>() as u32,
            capacity: config.capacity,
            n_layers: config.n_layers,
            n_layer_entries: u32::try_from(layers.len()).unwrap_or(u32::MAX),
            layers: if layers.is_empty() { core::ptr::null() } else { layers.as_ptr() },
            max_write: config.max_write,
            rollback: config.rollback,
            max_context: config.max_context,
            initial_capacity: config.initial_capacity,
            kv_dtype: config.kv_dtype,
            max_seqs: config.max_seqs,
            block_size: config.block_size,
            max_blocks_per_seq: config.max_blocks_per_seq,
            watermark: config.watermark,
            flags: config.flags,
            user: config.user,
        }
    }
}
