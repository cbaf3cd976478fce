//! The backend's side of a pool of cells: owns the bytes, and does what the cache answers. Any token may go to any
//! row here, and the mask tells whose it is.

use kvcore::{CellCache, CellStep, Error, Layer, LayerInfo, MASK_CAUSAL, MASK_NONE, Move, Shift};

use crate::Outcome;
use crate::bytes::{LayerSlot, Pool, lay_out};
use crate::model::{LAYERS, Logits, Model, State};
use crate::reference::sees;

/// What the byte layer asks of the cache. Tests put another in front of it, which gives one wrong answer.
pub(crate) trait Planner<'w> {
    fn cache(&mut self) -> &mut CellCache<'w>;

    fn place(&mut self, layer: usize, positions: &[u32], cells: &mut [u32]) -> Result<CellStep, Error> {
        self.cache().place_step(layer as u32, positions, cells)
    }

    fn mask(&mut self, layer: usize, out: &mut [u8], columns: usize) -> Result<(), Error> {
        self.cache().mask_bytes(layer as u32, out, columns)
    }

    fn shifts(&mut self, layer: usize) -> Result<Vec<Shift>, Error> {
        let mut shifts = vec![Shift::default(); self.cache().n_shifts(layer as u32)?];
        self.cache().shifts(layer as u32, &mut shifts)?;
        Ok(shifts)
    }

    /// At most so many moves that make a layer's pool compact.
    fn moves(&mut self, layer: usize, most: usize) -> Result<Vec<Move>, Error> {
        let mut moves = vec![Move::default(); most];
        let n = self.cache().defrag(layer as u32, &mut moves)?;
        moves.truncate(n);
        Ok(moves)
    }
}

impl<'w> Planner<'w> for CellCache<'w> {
    fn cache(&mut self) -> &mut Self {
        self
    }
}

/// The last tokens of a sequence's text are new.
pub(crate) struct Part {
    /// What the sequence consists of, from position 0 on. Only the demo's checks need more of it than is new.
    pub(crate) text: Vec<u8>,
    pub(crate) first: u32,
}

impl Part {
    fn tokens(&self) -> impl Iterator<Item = Token<'_>> {
        (self.first..self.text.len() as u32).map(|position| Token { text: &self.text, position })
    }
}

/// A token where it stands in its text.
#[derive(Clone, Copy)]
struct Token<'t> {
    text: &'t [u8],
    position: u32,
}

impl Token<'_> {
    fn token(&self) -> u8 {
        self.text[self.position as usize]
    }
}

pub(crate) struct CellBackend<'m> {
    model: &'m Model,
    layers: Vec<LayerSlot>,
    pools: Vec<Pool>,
    /// The newest step as each layer sees it, and its cells.
    placed: Vec<(CellStep, Vec<u32>)>,
    /// Rows whose keys were turned, in all layers together.
    pub(crate) turned: usize,
    /// Rows that a token saw and should not have, or the other way round, of all steps.
    pub(crate) strays: usize,
}

impl<'m> CellBackend<'m> {
    pub(crate) fn new(cache: &CellCache<'_>, model: &'m Model) -> Outcome<Self> {
        let infos = (0..LAYERS as u32).map(|layer| cache.layer(layer)).collect::<Result<Vec<_>, _>>()?;
        let (layers, pools) = lay_out(&infos, cache.config().initial_capacity);
        Ok(Self { model, layers, pools, placed: Vec::new(), turned: 0, strays: 0 })
    }

    /// The declared step, with these tokens. Answers the logits of each.
    pub(crate) fn forward(&mut self, cache: &mut dyn Planner<'_>, parts: &[Part]) -> Outcome<Vec<Logits>> {
        self.apply_shifts(cache)?;
        self.placed.clear();
        let tokens: Vec<Token<'_>> = parts.iter().flat_map(Part::tokens).collect();
        let mut states: Vec<State> = tokens.iter().map(|token| self.model.embed(token.token())).collect();
        for layer in 0..LAYERS {
            self.forward_layer(cache, layer, &tokens, &mut states)?;
        }
        Ok(states.iter().map(|state| self.model.logits(state)).collect())
    }

    /// After a context shift keys stand at other positions than they were turned to. Each row is turned once, however many
    /// shifts there were, and in every pool of bytes.
    fn apply_shifts(&mut self, cache: &mut dyn Planner<'_>) -> Outcome<()> {
        for (layer, slot) in self.layers.iter().enumerate().filter(|(_, slot)| slot.own) {
            for shift in cache.shifts(layer)? {
                for row in shift.row..shift.row + shift.len {
                    self.pools[slot.pool].turn(row as usize, shift.delta);
                    self.turned += 1;
                }
            }
        }
        cache.cache().shifts_done();
        Ok(())
    }

    fn forward_layer(
        &mut self,
        cache: &mut dyn Planner<'_>,
        layer: usize,
        tokens: &[Token<'_>],
        states: &mut [State],
    ) -> Outcome<()> {
        let positions: Vec<u32> = tokens.iter().map(|token| token.position).collect();
        let mut cells = vec![0; tokens.len()];
        let step = cache.place(layer, &positions, &mut cells)?;
        let pool = &mut self.pools[self.layers[layer].pool];
        pool.make_room(step.read_len)?;
        let mut queries = Vec::with_capacity(states.len());
        for ((state, token), &cell) in states.iter().zip(tokens).zip(&cells) {
            let projection = self.model.project(layer, state, token.position as usize);
            queries.push(projection.queries);
            if let Some(rows) = &projection.key_value {
                pool.write(cell as usize, token.position, token.token(), rows);
            }
        }
        for (index, seen) in seen(cache, layer, &step)?.into_iter().enumerate() {
            self.strays += strays(pool, &self.layers[layer].info.layer, &tokens[index], &seen);
            let gathered = pool.attend(&queries[index], &seen);
            self.model.finish(layer, &mut states[index], &gathered);
        }
        self.placed.push((step, cells));
        Ok(())
    }

    /// Makes the pools compact, `most` moves at a time. Answers how many rows moved, of all pools of cells.
    pub(crate) fn defrag(&mut self, cache: &mut dyn Planner<'_>, most: usize) -> Outcome<usize> {
        let mut rows = 0;
        for layer in self.first_layers(cache.cache()) {
            loop {
                let moves = cache.moves(layer, most)?;
                if moves.is_empty() {
                    break;
                }
                rows += moves.iter().map(|run| run.len as usize).sum::<usize>();
                self.carry_out(cache.cache(), layer, &moves);
            }
        }
        Ok(rows)
    }

    /// In every layer that uses the same cells as `layer`.
    fn carry_out(&mut self, cache: &CellCache<'_>, layer: usize, moves: &[Move]) {
        let split = is_split(cache);
        let group = self.layers[layer].info.group;
        let alike = |slot: &&LayerSlot| slot.own && (!split || slot.info.group == group);
        for slot in self.layers.iter().filter(alike) {
            let pool = &mut self.pools[slot.pool];
            for rows in moves {
                pool.move_rows(rows);
            }
        }
    }

    /// A layer for each pool of cells.
    pub(crate) fn first_layers(&self, cache: &CellCache<'_>) -> Vec<usize> {
        let pools = if is_split(cache) { cache.n_groups() as u32 } else { 1 };
        let first = |pool| self.layers.iter().position(|slot| slot.info.group == pool);
        (0..pools).filter_map(first).collect()
    }

    /// The newest step as a layer sees it, and the cells of its tokens.
    pub(crate) fn placed(&self, layer: usize) -> (&CellStep, &[u32]) {
        let (step, cells) = &self.placed[layer];
        (step, cells)
    }

    pub(crate) fn layer(&self, layer: usize) -> &LayerInfo {
        &self.layers[layer].info
    }
}

/// The promise of the library: a token sees the rows of its sequence that the layer's rule lets it see, all of them and no
/// others. Answers how many are wrong.
fn strays(pool: &Pool, rule: &Layer, token: &Token<'_>, seen: &[usize]) -> usize {
    let at = |position: u32| (position, token.text[position as usize]);
    let mut wanted: Vec<Option<(u32, u8)>> = (0..=token.position)
        .filter(|position| sees(rule, token.position as usize, *position as usize))
        .map(|position| Some(at(position)))
        .collect();
    let mut strays = 0;
    for &row in seen {
        match wanted.iter().position(|wanted| *wanted == pool.held(row)) {
            Some(index) => drop(wanted.swap_remove(index)),
            None => strays += 1,
        }
    }
    strays + wanted.len()
}

/// Whether each layer group has cells of its own.
fn is_split(cache: &CellCache<'_>) -> bool {
    cache.config().flags & kvcore::config::SPLIT_POOLS != 0
}

/// The rows that each token of a placed step sees. Only an explicit mask has to be asked for.
fn seen(cache: &mut dyn Planner<'_>, layer: usize, step: &CellStep) -> Outcome<Vec<Vec<usize>>> {
    let (n, columns) = (step.n_tokens as usize, step.read_len as usize);
    if matches!(step.mask, MASK_NONE | MASK_CAUSAL) {
        // The last token sees every row.
        return Ok((columns - n + 1..=columns).map(|end| (0..end).collect()).collect());
    }
    let mut mask = vec![0; n * columns];
    cache.mask(layer, &mut mask, columns)?;
    let on = |row: &[u8]| row.iter().enumerate().filter(|(_, on)| **on == 1).map(|(row, _)| row).collect();
    Ok(mask.chunks_exact(columns).map(on).collect())
}
