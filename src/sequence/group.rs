//! The layer groups of a model, and which one each layer is in.

use crate::layer::{LAYER_FLAT, LAYER_RING, Layer};
use crate::layout::Layout;
use crate::residency::Residency;

/// Layers that are planned alike: their layout and what their pools hold.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Group {
    pub(super) layout: Layout,
    pub(super) residency: Residency,
    n_kv_heads: u32,
    head_dim: u32,
}

impl Group {
    pub(super) fn new(layout: Layout, layer: &Layer) -> Self {
        let residency = Residency::new(&layout);
        Self { layout, residency, n_kv_heads: layer.n_kv_heads, head_dim: layer.head_dim }
    }

    pub(super) fn layer(&self) -> Layer {
        let Layout { window, sinks, .. } = self.layout;
        let kind = if self.layout.is_flat() { LAYER_FLAT } else { LAYER_RING };
        Layer { kind, window, sinks, n_kv_heads: self.n_kv_heads, head_dim: self.head_dim, shares_with: 0 }
    }
}

/// Which group a layer belongs to, and whose rows it uses.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct LayerSlot {
    pub(super) group: u8,
    pub(super) shares_with: u8,
}

mod sealed {
    pub trait Sealed {}
    impl<const N: usize> Sealed for [super::LayerSlot; N] {}
    impl Sealed for [super::LayerSlot] {}
}

/// The layer table of a [`super::SequenceInner`]: an array, or a slice of one.
pub trait LayerTable: sealed::Sealed {
    #[doc(hidden)]
    fn slots(&self) -> &[LayerSlot];
    #[doc(hidden)]
    fn slots_mut(&mut self) -> &mut [LayerSlot];
}

impl<const N: usize> LayerTable for [LayerSlot; N] {
    fn slots(&self) -> &[LayerSlot] {
        self
    }

    fn slots_mut(&mut self) -> &mut [LayerSlot] {
        self
    }
}

impl LayerTable for [LayerSlot] {
    fn slots(&self) -> &[LayerSlot] {
        self
    }

    fn slots_mut(&mut self) -> &mut [LayerSlot] {
        self
    }
}
