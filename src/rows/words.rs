//! Where the state of a private-row cache stands in its words.
//!
//! In this order: the layer table (two layers a word); a few words for each sequence; the sequence of each token of the
//! declared step (two tokens a word).

use super::RowsInner;
use crate::bitset::{get, put};
use crate::sequence::LayerTable;

/// The words, which begin with the layer table of the model.
#[derive(Clone, Debug)]
#[repr(transparent)]
pub(crate) struct Words<W: ?Sized>(pub(super) W);

impl<W: ?Sized + AsRef<[u32]> + AsMut<[u32]>> LayerTable for Words<W> {
    fn group(&self, layer: usize) -> Option<u8> {
        let [group, _] = half(self.0.as_ref(), 0, layer).to_le_bytes();
        Some(group)
    }

    fn shares_with(&self, layer: usize) -> u8 {
        let [_, shares_with] = half(self.0.as_ref(), 0, layer).to_le_bytes();
        shares_with
    }

    fn set(&mut self, layer: usize, group: u8, shares_with: u8) -> Option<()> {
        set_half(self.0.as_mut(), 0, layer, u16::from_le_bytes([group, shares_with]));
        Some(())
    }
}

/// What is kept of a sequence, a word each, beside the first resident position in each layer group.
#[derive(Clone, Copy)]
pub(super) enum Known {
    /// How far steps went, at least to where a step loses nothing in any group: 1 or more; 0 for an id that is not in
    /// use.
    Reach,
    Length,
    /// Tokens that it has in the declared step; of no meaning where it has none there.
    Step,
    /// Tokens that a pass over the step has seen so far; 0 between calls.
    Seen,
}

impl Known {
    const WORDS: usize = 4;
}

/// How many of each there are, all that the places follow from.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) n_layers: u32,
    pub(super) n_groups: usize,
    pub(super) max_seqs: u32,
}

impl Shape {
    const fn sequence(self, seq: u32) -> usize {
        self.n_layers.div_ceil(2) as usize + seq as usize * (Known::WORDS + self.n_groups)
    }

    const fn tokens(self) -> usize {
        self.sequence(self.max_seqs)
    }

    /// Words in all, with steps of at most `max_tokens`, if so many can be counted.
    pub(super) fn words(self, max_tokens: u32) -> Option<usize> {
        self.tokens().checked_add(max_tokens.div_ceil(2) as usize)
    }
}

impl<W: ?Sized + AsRef<[u32]> + AsMut<[u32]>> RowsInner<W> {
    fn shape(&self) -> Shape {
        Shape { n_layers: self.model.n_layers, n_groups: self.model.n_groups(), max_seqs: self.max_seqs }
    }

    #[inline]
    fn words(&self) -> &[u32] {
        self.model.layers.0.as_ref()
    }

    #[inline]
    pub(super) fn words_mut(&mut self) -> &mut [u32] {
        self.model.layers.0.as_mut()
    }

    /// Where the words of a sequence begin.
    pub(super) fn place_of(&self, seq: u32) -> usize {
        self.shape().sequence(seq)
    }

    /// A number of the sequence whose words begin at `at`.
    pub(super) fn known(&self, at: usize, what: Known) -> u32 {
        get(self.words(), at + what as usize)
    }

    pub(super) fn note(&mut self, at: usize, what: Known, value: u32) {
        put(self.words_mut(), at + what as usize, value);
    }

    /// First resident ring position of a group at the sequence's last rewind.
    pub(super) fn lo(&self, at: usize, group: usize) -> u32 {
        get(self.words(), at + Known::WORDS + group)
    }

    pub(super) fn set_lo(&mut self, at: usize, group: usize, lo: u32) {
        put(self.words_mut(), at + Known::WORDS + group, lo);
    }

    /// The sequence of a token of the declared step.
    pub(super) fn token(&self, token: u32) -> u32 {
        half(self.words(), self.shape().tokens(), token as usize).into()
    }

    pub(super) fn set_token(&mut self, token: u32, seq: u32) {
        let base = self.shape().tokens();
        // An id is below MAX_SEQS, which fits.
        set_half(self.words_mut(), base, token as usize, seq as u16);
    }
}

/// The 16-bit number at `index` in the words from `base` on.
fn half(words: &[u32], base: usize, index: usize) -> u16 {
    (get(words, base + index / 2) >> (16 * (index % 2))) as u16
}

fn set_half(words: &mut [u32], base: usize, index: usize, value: u16) {
    let (at, shift) = (base + index / 2, 16 * (index % 2));
    let others = get(words, at) & !(0xFFFF << shift);
    put(words, at, others | u32::from(value) << shift);
}
