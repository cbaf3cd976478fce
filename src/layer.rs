//! One layer of a model, as the cache sees it.

use crate::error::Error;

/// All history, one row per position.
pub const LAYER_FLAT: u32 = 0;
/// A ring of rows for a sliding window, optionally beside sinks.
pub const LAYER_RING: u32 = 1;

/// Kind, window and shape of a layer. All zero is an ordinary flat layer.
///
/// Layers that are equal but for `shares_with` form one layer group: planned once, used by all.
///
/// ```
/// use kvcore::Layer;
/// let sliding = Layer::ring(512).with_heads(4, 256);
/// let full = Layer::flat().with_heads(4, 256);
/// let shared = full.sharing(1); // uses the rows of layer 1
/// assert_eq!(shared.shares_with, 2);
/// # let _ = sliding;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Layer {
    /// [`LAYER_FLAT`] or [`LAYER_RING`].
    pub kind: u32,
    /// Ring: positions that a query may attend to, itself included, 1 or more. Flat: 0.
    pub window: u32,
    /// Ring: first positions of the sequence, kept for good. Flat: 0.
    pub sinks: u32,
    /// Heads of K and V; only pool sizes depend on it.
    pub n_kv_heads: u32,
    /// Elements of a head; only pool sizes depend on it.
    pub head_dim: u32,
    /// Donor layer + 1 of a KV-shared layer, 0 for a layer with rows of its own.
    pub shares_with: u32,
}

impl Layer {
    /// A layer that keeps all history.
    ///
    /// ```
    /// assert_eq!(kvcore::Layer::flat(), kvcore::Layer::default());
    /// ```
    #[must_use]
    pub const fn flat() -> Self {
        Self { kind: LAYER_FLAT, window: 0, sinks: 0, n_kv_heads: 0, head_dim: 0, shares_with: 0 }
    }

    /// A layer with a sliding window.
    ///
    /// ```
    /// assert_eq!(kvcore::Layer::ring(128).window, 128);
    /// ```
    #[must_use]
    pub const fn ring(window: u32) -> Self {
        Self { kind: LAYER_RING, window, ..Self::flat() }
    }

    /// The same layer with the first `sinks` positions kept for good.
    ///
    /// ```
    /// assert_eq!(kvcore::Layer::ring(128).with_sinks(4).sinks, 4);
    /// ```
    #[must_use]
    pub const fn with_sinks(self, sinks: u32) -> Self {
        Self { sinks, ..self }
    }

    /// The same layer with the shape of its K and V.
    ///
    /// ```
    /// assert_eq!(kvcore::Layer::flat().with_heads(8, 128).head_dim, 128);
    /// ```
    #[must_use]
    pub const fn with_heads(self, n_kv_heads: u32, head_dim: u32) -> Self {
        Self { n_kv_heads, head_dim, ..self }
    }

    /// The same layer without rows of its own: it uses those of `donor`, an earlier layer.
    ///
    /// ```
    /// assert_eq!(kvcore::Layer::flat().sharing(0).shares_with, 1);
    /// ```
    #[must_use]
    pub const fn sharing(self, donor: u32) -> Self {
        Self { shares_with: donor.saturating_add(1), ..self }
    }

    /// The layers of one group are equal in this.
    pub(crate) fn same_group(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.window == other.window
            && self.sinks == other.sinks
            && self.n_kv_heads == other.n_kv_heads
            && self.head_dim == other.head_dim
    }

    /// Refuses an unknown kind, a ring without a window and a flat layer with one.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let sound = match self.kind {
            LAYER_FLAT => self.window == 0 && self.sinks == 0,
            LAYER_RING => self.window > 0,
            _ => false,
        };
        if sound { Ok(()) } else { Err(Error::InvalidConfig) }
    }
}

/// What a cache answers about one of its layers.
///
/// ```
/// use kvcore::{Config, Layer, SequenceCache};
/// let layers = [Layer::ring(4)];
/// let cache = SequenceCache::<1>::new(&Config { max_write: 2, ..Config::new(64, 1, &layers) })?;
/// assert_eq!(cache.layer(0)?.rows, 4 + 2 - 1);
/// # Ok::<(), kvcore::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct LayerInfo {
    /// The layer as configured.
    pub layer: Layer,
    /// Its group; where a cell cache has a pool for each group, also its pool.
    pub group: u32,
    /// Rows of its pool, at most.
    pub rows: u32,
    /// Most tokens that its own layout allows in one step.
    pub max_write: u32,
}
