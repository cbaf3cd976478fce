//! What happened, step by step, for the picture.

use kvcore::{LAYER_RING, LayerInfo, SeqPlan};

use crate::backend::Backend;
use crate::model::LAYERS;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Prefill,
    Decode,
    Draft,
}

pub(crate) struct Step {
    pub(crate) kind: Kind,
    /// The step as each panel's layer sees it.
    pub(crate) plans: Vec<SeqPlan>,
    pub(crate) rejected: usize,
}

pub(crate) enum Event {
    /// A part of the story begins.
    Act(&'static str),
    Rewind(usize),
    /// A rewind was refused: cleared, to be read again.
    Clear(usize),
    /// Something else that changes what rows hold.
    Note(String),
}

/// A layer that the picture shows.
#[derive(Clone, Copy)]
pub(crate) struct Panel {
    pub(crate) index: usize,
    pub(crate) info: LayerInfo,
}

#[derive(Default)]
pub(crate) struct Trace {
    pub(crate) panels: Vec<Panel>,
    pub(crate) steps: Vec<Step>,
    /// Each with the number of steps before it.
    pub(crate) events: Vec<(usize, Event)>,
}

impl Trace {
    pub(crate) fn act(&mut self, name: &'static str) {
        self.events.push((self.steps.len(), Event::Act(name)));
    }

    pub(crate) fn rewind(&mut self, length: usize) {
        self.events.push((self.steps.len(), Event::Rewind(length)));
    }

    pub(crate) fn clear(&mut self, target: usize) {
        self.events.push((self.steps.len(), Event::Clear(target)));
    }

    pub(crate) fn step(&mut self, kind: Kind, backend: &Backend<'_, '_>) {
        if self.panels.is_empty() {
            self.panels = panels(backend);
        }
        let plans = self.panels.iter().map(|panel| *backend.plan_of(panel.index)).collect();
        self.steps.push(Step { kind, plans, rejected: 0 });
    }

    pub(crate) fn commit(&mut self, rejected: usize) {
        if let Some(step) = self.steps.last_mut() {
            step.rejected = rejected;
        }
    }
}

/// The first ring layer and the first flat one, as far as the model has them.
fn panels(backend: &Backend<'_, '_>) -> Vec<Panel> {
    let layers = || (0..LAYERS).map(|index| Panel { index, info: *backend.layer(index) });
    let ring = layers().find(|panel| panel.info.layer.kind == LAYER_RING);
    let flat = layers().find(|panel| panel.info.layer.kind != LAYER_RING);
    ring.into_iter().chain(flat).collect()
}
