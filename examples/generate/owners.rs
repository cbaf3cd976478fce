//! Whose each cell was, from step to step: for the picture.

use kvcore::{CellCache, LayerInfo};

use crate::Outcome;
use crate::cell_backend::CellBackend;
use crate::trace::{Event, Kind};

/// The system prompt and the conversations, in their order.
pub(crate) const LETTERS: [char; 4] = ['S', 'A', 'B', 'C'];

/// A bit for each conversation that owns a cell, and one more for drafts that were wrong.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Owner(pub(crate) u8);

const WRONG: u8 = 1 << LETTERS.len();

impl Owner {
    pub(crate) fn is_free(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn is_wrong(self) -> bool {
        self.0 & WRONG != 0
    }

    /// Numbers of the conversations.
    pub(crate) fn talks(self) -> impl Iterator<Item = usize> {
        (0..LETTERS.len()).filter(move |talk| self.0 & 1 << talk != 0)
    }

    pub(crate) fn letters(self) -> String {
        self.talks().map(|talk| LETTERS[talk]).collect()
    }
}

/// A pool of cells, by the first layer that uses it.
pub(crate) struct OwnerPanel {
    pub(crate) layer: usize,
    pub(crate) info: LayerInfo,
}

pub(crate) struct OwnerStep {
    pub(crate) kind: Kind,
    /// For each panel, whose each cell is, and which cells were written.
    pub(crate) cells: Vec<Vec<Owner>>,
    pub(crate) written: Vec<Vec<u32>>,
}

#[derive(Default)]
pub(crate) struct Owners {
    pub(crate) panels: Vec<OwnerPanel>,
    pub(crate) steps: Vec<OwnerStep>,
    /// Each with the number of steps before it.
    pub(crate) events: Vec<(usize, Event)>,
}

impl Owners {
    pub(crate) fn new(cache: &CellCache<'_>, backend: &CellBackend<'_>) -> Self {
        let panel = |layer| OwnerPanel { layer, info: *backend.layer(layer) };
        let panels = backend.first_layers(cache).into_iter().map(panel).collect();
        Self { panels, ..Self::default() }
    }

    pub(crate) fn act(&mut self, name: &'static str) {
        self.events.push((self.steps.len(), Event::Act(name)));
    }

    pub(crate) fn note(&mut self, text: String) {
        self.events.push((self.steps.len(), Event::Note(text)));
    }

    /// `talks`: sequences, each with the conversation that it belongs to.
    pub(crate) fn step(
        &mut self,
        kind: Kind,
        cache: &CellCache<'_>,
        backend: &CellBackend<'_>,
        talks: &[(u32, usize)],
    ) -> Outcome<()> {
        let (mut cells, mut written) = (Vec::new(), Vec::new());
        for panel in &self.panels {
            let owner = |cell| owner(cache, panel, cell, talks);
            cells.push((0..panel.info.rows).map(owner).collect::<Outcome<_>>()?);
            written.push(backend.placed(panel.layer).1.to_vec());
        }
        self.steps.push(OwnerStep { kind, cells, written });
        Ok(())
    }

    /// After a choice between drafts: what was let go of had been wrong.
    pub(crate) fn verdict(&mut self, cache: &CellCache<'_>) -> Outcome<()> {
        let Some(step) = self.steps.last_mut() else { return Ok(()) };
        for ((panel, cells), written) in self.panels.iter().zip(&mut step.cells).zip(&step.written) {
            for &cell in written {
                let (_, owners) = cache.owners(panel.layer as u32, cell)?;
                cells[cell as usize].0 |= if owners == 0 { WRONG } else { 0 };
            }
        }
        Ok(())
    }

    /// Cells of several conversations, at the most.
    pub(crate) fn most_shared(&self) -> usize {
        let shared = |cells: &Vec<Owner>| cells.iter().filter(|owner| owner.talks().count() > 1).count();
        self.steps.iter().flat_map(|step| &step.cells).map(shared).max().unwrap_or(0)
    }
}

fn owner(cache: &CellCache<'_>, panel: &OwnerPanel, cell: u32, talks: &[(u32, usize)]) -> Outcome<Owner> {
    let (_, owners) = cache.owners(panel.layer as u32, cell)?;
    let owning = talks.iter().filter(|(seq, _)| owners & 1_u64.checked_shl(*seq).unwrap_or(0) != 0);
    Ok(Owner(owning.fold(0, |bits, (_, talk)| bits | 1 << talk)))
}
