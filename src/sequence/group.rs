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
    impl<W: ?Sized> Sealed for crate::rows::Words<W> {}
}

/// The layer table of a [`super::SequenceInner`]: an array, or a slice of one.
pub trait LayerTable: sealed::Sealed {
    /// None behind the end of the table.
    #[doc(hidden)]
    fn group(&self, layer: usize) -> Option<u8>;
    #[doc(hidden)]
    fn shares_with(&self, layer: usize) -> u8;
    #[doc(hidden)]
    fn set(&mut self, layer: usize, group: u8, shares_with: u8) -> Option<()>;
}

impl<const N: usize> LayerTable for [LayerSlot; N] {
    fn group(&self, layer: usize) -> Option<u8> {
        self.get(layer).map(|slot| slot.group)
    }

    fn shares_with(&self, layer: usize) -> u8 {
        self.get(layer).map_or(0, |slot| slot.shares_with)
    }

    fn set(&mut self, layer: usize, group: u8, shares_with: u8) -> Option<()> {
        self.get_mut(layer).map(|slot| *slot = LayerSlot { group, shares_with })
    }
}

impl LayerTable for [LayerSlot] {
    fn group(&self, layer: usize) -> Option<u8> {
        self.get(layer).map(|slot| slot.group)
    }

    fn shares_with(&self, layer: usize) -> u8 {
        self.get(layer).map_or(0, |slot| slot.shares_with)
    }

    fn set(&mut self, layer: usize, group: u8, shares_with: u8) -> Option<()> {
        self.get_mut(layer).map(|slot| *slot = LayerSlot { group, shares_with })
    }
}
