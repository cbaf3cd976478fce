//! Whether the comparison with the reference would notice: each test gives the byte layer one kind of wrong answer, or has it
//! forget something, and wants a difference that is too large.

use kvcore::{
    CellCache, CellStep, Error, MASK_CAUSAL, MASK_EXPLICIT, Move, Registry, SequenceStorage, Session, Shift,
    cell_words,
};

use crate::Outcome;
use crate::backend::Backend;
use crate::cell_backend::Planner;
use crate::check::{BOUND, Checker};
use crate::model::{LAYERS, Logits, Model};
use crate::modes::Mode;
use crate::pool_record::PoolRecord;
use crate::talks::Talks;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    /// Of one query in a step, the first row that it does not see is let through, or the first that it sees is hidden.
    RowTooMany,
    RowTooFew,
    /// The sliding layer gets the mask of the full one.
    OtherLayersMask,
    /// A scattered mask is taken for a causal one.
    CausalInstead,
    /// Two tokens of a step change places.
    CellsSwapped,
    /// One layer does not hear of a context shift, or hears of it twice.
    ShiftForgotten,
    ShiftTwice,
    /// The last of some moves is not carried out.
    MoveForgotten,
}

/// A cache whose answers are spoiled on their way to the byte layer.
struct Spoiled<'w> {
    cache: CellCache<'w>,
    fault: Fault,
    /// Answers that were changed.
    changed: usize,
}

/// A sliding layer in the middle of the model, and the full one.
const SLIDING: usize = 3;
const FULL: usize = 5;

impl Spoiled<'_> {
    /// Whether this is the place for the fault, which then counts.
    fn strikes(&mut self, fault: Fault, here: bool) -> bool {
        let strikes = self.fault == fault && here;
        self.changed += usize::from(strikes);
        strikes
    }

    /// Whether there are two conversations, beside the system prompt.
    fn both(&self) -> bool {
        self.cache.next_pos(2).is_ok()
    }
}

impl<'w> Planner<'w> for Spoiled<'w> {
    fn cache(&mut self) -> &mut CellCache<'w> {
        &mut self.cache
    }

    fn place(&mut self, layer: usize, positions: &[u32], cells: &mut [u32]) -> Result<CellStep, Error> {
        let mut step = self.cache.place_step(layer as u32, positions, cells)?;
        if self.strikes(Fault::CellsSwapped, layer == SLIDING && cells.len() == 2) {
            cells.swap(0, 1);
        }
        let here = layer == FULL && step.mask == MASK_EXPLICIT && self.both();
        if self.strikes(Fault::CausalInstead, here) {
            step.mask = MASK_CAUSAL;
        }
        Ok(step)
    }

    fn mask(&mut self, layer: usize, out: &mut [u8], columns: usize) -> Result<(), Error> {
        let spoil = self.strikes(Fault::OtherLayersMask, layer == SLIDING);
        self.cache.mask_bytes(if spoil { FULL } else { layer } as u32, out, columns)?;
        let here = layer == SLIDING && self.changed == 0 && self.both();
        for (fault, was) in [(Fault::RowTooMany, 0), (Fault::RowTooFew, 1)] {
            // The last row of the pool's used part holds something, whose ever it is.
            let found = out[..columns].iter().rposition(|on| *on == was);
            if let Some(column) = found
                && self.strikes(fault, here)
            {
                out[column] = 1 - was;
            }
        }
        Ok(())
    }

    fn shifts(&mut self, layer: usize) -> Result<Vec<Shift>, Error> {
        let mut shifts = vec![Shift::default(); self.cache.n_shifts(layer as u32)?];
        self.cache.shifts(layer as u32, &mut shifts)?;
        let here = layer == SLIDING && !shifts.is_empty();
        if self.strikes(Fault::ShiftForgotten, here) {
            shifts.clear();
        }
        if self.strikes(Fault::ShiftTwice, here) {
            shifts.extend_from_within(..);
        }
        Ok(shifts)
    }

    fn moves(&mut self, layer: usize, most: usize) -> Result<Vec<Move>, Error> {
        let mut moves = vec![Move::default(); most];
        let n = self.cache.defrag(layer as u32, &mut moves)?;
        moves.truncate(n);
        if self.strikes(Fault::MoveForgotten, n > 1) {
            moves.pop();
        }
        Ok(moves)
    }
}

/// What is left of a short story, and how many answers were spoiled.
fn told(fault: Fault, split: bool) -> (PoolRecord, usize) {
    let (model, layers) = (Model::new(), Mode::Mixed.layers());
    let config = Mode::pool_config(&layers, split);
    let mut words = vec![0; cell_words(&config).unwrap()];
    let cache = CellCache::new(&mut words, &config).unwrap();
    let mut spoiled = Spoiled { cache, fault, changed: 0 };
    let mut talks = Talks::new(&model, &mut spoiled, Checker::new("test", &model, &layers)).unwrap();
    talks.run(b"Hi", 6).unwrap();
    let record = talks.finish();
    (record, spoiled.changed)
}

#[test]
fn an_honest_cache_passes() {
    for split in [false, true] {
        let (record, _) = told(Fault::None, split);
        assert!(record.largest <= BOUND, "{}", record.largest);
        assert_eq!(record.strays, 0);
        assert_eq!(record.missed(Mode::Mixed), Vec::<&str>::new());
    }
}

/// The difference of the logits tells; where a token saw a wrong row, the check of the rows does too.
fn is_noticed(fault: Fault, strays: bool) {
    let (record, changed) = told(fault, false);
    assert!(changed > 0, "{fault:?} found no place");
    assert!(record.largest > BOUND, "{fault:?}: {}", record.largest);
    assert_eq!(record.strays > 0, strays, "{fault:?}");
}

#[test]
fn a_wrong_mask_is_noticed() {
    is_noticed(Fault::RowTooMany, true);
    is_noticed(Fault::RowTooFew, true);
    is_noticed(Fault::OtherLayersMask, true);
    is_noticed(Fault::CausalInstead, true);
}

#[test]
fn a_wrong_row_is_noticed() {
    is_noticed(Fault::CellsSwapped, true);
    is_noticed(Fault::MoveForgotten, true);
}

#[test]
fn a_key_at_the_wrong_position_is_noticed() {
    is_noticed(Fault::ShiftForgotten, true);
    is_noticed(Fault::ShiftTwice, true);
}

const TEXT: &[u8] =
    b"A text that is longer than a window, and longer than a ring, so that rows are used again and again.";

/// The token before the drafts, and drafts.
const NODES: &[u8] = b"?abcdef";
const PARENTS: [i32; 7] = [-1, 0, 0, 1, 1, 2, 3];
/// On the path 0, 2, 5, whose rows are not in a row.
const LEAF: i32 = 5;

/// Reads the text, then a tree of drafts under these parents; closes the step and reads on. Answers the logits of the tree's
/// nodes and those of a token behind the path to the leaf.
fn tree(
    model: &Model,
    parents: &[i32],
    close: fn(&mut Backend<'_, '_>) -> Outcome<usize>,
) -> Outcome<Vec<Logits>> {
    let (storage, registry, layers) =
        (SequenceStorage::<LAYERS>::new(), Registry::new(), Mode::Mixed.layers());
    let cache = storage.init(&Mode::config(&layers))?;
    let session = Session::open(&registry, Some("tree"), &cache)?;
    let mut backend = Backend::attach(&registry, "tree", model)?;
    for end in 1..=TEXT.len() {
        backend.forward(&TEXT[..end], 1, None)?;
        backend.commit(1)?;
    }
    let mut logits = backend.forward(&[TEXT, NODES].concat(), NODES.len(), Some(parents))?;
    assert_eq!(close(&mut backend)?, 3);
    logits.extend(backend.forward(&[TEXT, b"?be!"].concat(), 1, None)?);
    drop(session);
    Ok(logits)
}

fn accept(backend: &mut Backend<'_, '_>) -> Outcome<usize> {
    backend.accept(&PARENTS, LEAF)
}

/// The largest difference of the tree's logits, and that behind the path.
fn differences(model: &Model, logits: &[Logits]) -> (f32, f32) {
    let layers = Mode::Mixed.layers();
    let largest = |text: &[u8], logits: &Logits| {
        let mut checker = Checker::new("test", model, &layers);
        checker.take(vec![*logits]);
        checker.compare(text);
        checker.finish(&[]).1
    };
    let mut of_tree = 0.0_f32;
    for node in 0..NODES.len() {
        let mut path = vec![NODES[node]];
        let mut at = node;
        while let Ok(parent) = usize::try_from(PARENTS[at]) {
            path.insert(0, NODES[parent]);
            at = parent;
        }
        of_tree = of_tree.max(largest(&[TEXT, &path].concat(), &logits[node]));
    }
    (of_tree, largest(&[TEXT, b"?be!"].concat(), &logits[NODES.len()]))
}

#[test]
fn a_tree_is_verified_in_one_step() {
    let model = Model::new();
    let (of_tree, behind) = differences(&model, &tree(&model, &PARENTS, accept).unwrap());
    assert!(of_tree <= BOUND && behind <= BOUND, "{of_tree} {behind}");
}

#[test]
fn a_node_under_another_parent_is_noticed() {
    let (model, mut parents) = (Model::new(), PARENTS);
    // The sibling's child.
    parents[5] = 1;
    let (of_tree, _) = differences(&model, &tree(&model, &parents, accept).unwrap());
    assert!(of_tree > BOUND, "{of_tree}");
}

#[test]
fn rows_of_a_path_that_stay_where_they_are_are_noticed() {
    let without_moves = |backend: &mut Backend<'_, '_>| backend.commit(3).map(|()| 3);
    let error = tree(&Model::new(), &PARENTS, without_moves).unwrap_err().to_string();
    assert!(error.contains("the plan reads"), "{error}");
}
