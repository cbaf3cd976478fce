//! Token trees through caches: every row remembers its token, the nodes see what they should, and after the moves and
//! the commit every row in a window holds the accepted path.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // small caches

use kvcore::{Columns, Config, Layer, Move, RowsCache, SeqPlan, SequenceCache, Span, tree};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config as Runs, RngAlgorithm, TestRng, TestRunner};

#[path = "support/naive.rs"]
mod naive;
#[path = "support/trees.rs"]
mod trees;

use naive::Naive;
use trees::{carry_out, path};

/// What a row holds: a position, and which of all drafts stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Token {
    position: u32,
    draft: u32,
}

/// A cache of up to three layer groups, each with a pool in which every row remembers what was written last.
#[derive(Clone)]
struct Shadow {
    cache: SequenceCache<3>,
    layouts: Vec<Naive>,
    pools: Vec<Vec<Option<Token>>>,
    /// The accepted tokens.
    tokens: Vec<Token>,
    n_drafts: u32,
}

/// A step that is written and not committed.
struct Drafts {
    plans: Vec<SeqPlan>,
    parents: Vec<i32>,
    nodes: Vec<Token>,
}

impl Shadow {
    fn new(layers: &[Layer], max_write: u32, rollback: u32, capacity: u32) -> Self {
        let config = Config { max_write, rollback, ..Config::new(capacity, layers.len() as u32, layers) };
        let cache = SequenceCache::new(&config).expect("a sound config");
        assert_eq!(cache.n_groups(), layers.len(), "a group for each layer");
        let naive = |layer| Naive::new(layer, max_write, rollback, capacity);
        let layouts: Vec<Naive> = layers.iter().map(naive).collect();
        let pools = layouts.iter().map(|layout| vec![None; layout.rows as usize]).collect();
        Self { cache, layouts, pools, tokens: Vec::new(), n_drafts: 0 }
    }

    /// A forward: every group writes the nodes and attends.
    fn draft(&mut self, parents: &[i32]) -> Drafts {
        let (base, n) = (self.cache.length(), parents.len());
        let mut plans = vec![SeqPlan::EMPTY; self.layouts.len()];
        self.cache.plan_step(base, n as u32, &mut plans).expect("the step fits");
        let mut positions = vec![0; n];
        tree::positions(parents, base, &mut positions).expect("small positions");
        let drafts = self.n_drafts..;
        let nodes: Vec<Token> =
            positions.iter().zip(drafts).map(|(&position, draft)| Token { position, draft }).collect();
        self.n_drafts += n as u32;
        for (group, plan) in plans.iter().enumerate() {
            for (row, node) in rows_of(plan).into_iter().zip(&nodes) {
                self.pools[group][row as usize] = Some(*node);
            }
            for columns in [Columns::Read, Columns::Pool] {
                self.check_masks(group, plan, parents, &nodes, columns);
            }
        }
        Drafts { plans, parents: parents.to_vec(), nodes }
    }

    /// Each node sees the prefix in its window and its branch in its window, wherever their rows are.
    fn check_masks(&self, group: usize, plan: &SeqPlan, parents: &[i32], nodes: &[Token], columns: Columns) {
        let (layout, pool) = (&self.layouts[group], &self.pools[group]);
        let rows: Vec<u64> = match columns {
            Columns::Read => naive::expand(plan.reads()).map(|(row, _)| row).collect(),
            Columns::Pool => (0..pool.len() as u64).collect(),
        };
        let words = rows.len().div_ceil(32);
        let (mut bytes, mut bits) = (vec![9; nodes.len() * rows.len()], vec![9; nodes.len() * words]);
        plan.mask_bytes(Some(parents), columns, &mut bytes, rows.len()).expect("room for the mask");
        plan.mask_bits(Some(parents), columns, &mut bits, words).expect("room for the mask");
        for (node, query) in nodes.iter().enumerate() {
            let is_seen = |key: &&Token| layout.sees(query.position.into(), key.position.into());
            let branch = path(parents, node as i32).into_iter().map(|node| &nodes[node]);
            let expected: Vec<Token> = self.tokens.iter().chain(branch).filter(is_seen).copied().collect();
            let bytes = &bytes[node * rows.len()..][..rows.len()];
            let bits = &bits[node * words..][..words];
            for (column, &byte) in bytes.iter().enumerate() {
                assert_eq!(
                    u32::from(byte),
                    bits[column / 32] >> (column % 32) & 1,
                    "node {node} of {parents:?}"
                );
            }
            let attended = rows.iter().zip(bytes).filter(|(_, byte)| **byte == 1);
            let attended = attended.map(|(row, _)| pool[*row as usize].expect("a row that was written"));
            let mut attended: Vec<Token> = attended.collect();
            attended.sort_by_key(|token| token.position);
            assert_eq!(attended, expected, "node {node} of {parents:?}, {plan:?}");
        }
    }

    /// The path to `leaf` is accepted: moves in every pool, then the commit.
    fn accept(&mut self, drafts: &Drafts, leaf: i32) {
        let path = path(&drafts.parents, leaf);
        for (plan, pool) in drafts.plans.iter().zip(&mut self.pools) {
            let mut moves = [Move::default(); 256];
            let listed = tree::moves(&rows_of(plan), &drafts.parents, leaf, &mut moves);
            let (n, accepted) = listed.expect("room for the moves");
            assert_eq!(accepted as usize, path.len());
            carry_out(&moves[..n], pool);
        }
        self.cache.commit(&drafts.plans[0], path.len() as u32).expect("the newest step");
        self.tokens.extend(path.into_iter().map(|node| drafts.nodes[node]));
        self.audit();
    }

    fn step(&mut self, parents: &[i32], leaf: i32) {
        let drafts = self.draft(parents);
        self.accept(&drafts, leaf);
    }

    /// Accepts plain tokens, in steps of at most `n`.
    fn prefill(&mut self, tokens: u32, n: u32) {
        for at in (0..tokens).step_by(n as usize) {
            let n = n.min(tokens - at) as i32;
            self.step(&trees::chain(n), n - 1);
        }
    }

    fn rewind(&mut self, length: u32) {
        self.cache.rewind(length).expect("a length that windows allow");
        self.tokens.truncate(length as usize);
        self.audit();
    }

    /// For every length that a rewind may go to, the rows hold what the next token sees: the accepted tokens.
    fn audit(&self) {
        let length = self.cache.length();
        assert_eq!(length as usize, self.tokens.len());
        let in_order = (0..).zip(&self.tokens).all(|(position, token)| token.position == position);
        assert!(in_order, "the accepted tokens have the positions of the sequence");
        for (layout, pool) in self.layouts.iter().zip(&self.pools) {
            for length in (self.cache.rewind_floor()..=length).map(u64::from) {
                for position in layout.reads(length, 1).filter(|position| *position < length) {
                    let row = layout.row(position) as usize;
                    assert_eq!(pool[row], Some(self.tokens[position as usize]), "{layout:?} at {length}");
                }
            }
        }
    }
}

/// The rows that a plan writes, in order.
fn rows_of(plan: &SeqPlan) -> Vec<u32> {
    naive::expand(plan.writes()).map(|(row, _)| row as u32).collect()
}

/// A flat layer, a ring, and a ring with sinks.
fn layers(window: u32, sinks: u32) -> [Layer; 3] {
    [Layer::flat(), Layer::ring(window), Layer::ring(window + 1).with_sinks(sinks)]
}

#[test]
fn t1_moves_then_commit() {
    let mut shadow = Shadow::new(&layers(4, 2), 4, 0, 64);
    shadow.prefill(9, 3);
    shadow.step(&[-1, 0, 0, 1], 3);
    assert_eq!(shadow.cache.length(), 12);
    assert_eq!(shadow.tokens[9..].iter().map(|token| token.draft - 9).collect::<Vec<_>>(), [0, 1, 3]);
}

#[test]
fn t2_a_step_of_which_nothing_is_accepted() {
    let mut shadow = Shadow::new(&layers(4, 2), 4, 0, 64);
    for length in [0, 7] {
        shadow.prefill(length, 4);
        shadow.step(&[-1, 0, 0, 1], -1);
        assert_eq!(shadow.cache.length(), length);
        shadow.step(&[-1, -1], 1);
        shadow.rewind(length);
    }
}

#[test]
fn t3_two_roots_see_the_prefix_and_themselves() {
    let mut shadow = Shadow::new(&layers(9, 1), 4, 0, 64);
    shadow.prefill(3, 1);
    let plan = shadow.draft(&[-1, -1]).plans[1];
    let mut bytes = [9; 10];
    plan.mask_bytes(Some(&[-1, -1]), Columns::Read, &mut bytes, 5).expect("room for the mask");
    assert_eq!(bytes, [1, 1, 1, 1, 0, 1, 1, 1, 0, 1]);
}

/// A tree for one sequence and a chain for another, in one forward.
#[test]
fn t5_a_tree_and_a_chain_committed_in_either_order() {
    let parents = [-1, 0, 0, 2, 1, 4];
    let mut ends = Vec::new();
    for tree_first in [true, false] {
        let mut sequences = [(); 2].map(|()| Shadow::new(&layers(4, 2), 6, 0, 64));
        sequences[0].prefill(10, 5);
        sequences[1].prefill(17, 6);
        let drafts = [sequences[0].draft(&parents), sequences[1].draft(&trees::chain(5))];
        let leaves = [5, 2];
        for at in if tree_first { [0, 1] } else { [1, 0] } {
            sequences[at].accept(&drafts[at], leaves[at]);
        }
        assert_eq!(sequences.each_ref().map(|shadow| shadow.cache.length()), [14, 20]);
        ends.push(sequences.map(|shadow| (shadow.tokens, shadow.pools)));
    }
    assert_eq!(ends[0], ends[1]);
}

/// The same in a cache of private rows: one declared step of both. There is no commit; a rewind drops what was rejected.
#[test]
fn t5_a_tree_and_a_chain_over_private_rows() {
    let ring = [Layer::ring(4)];
    let config = Config { max_write: 6, max_seqs: 2, ..Config::new(64, 1, &ring) };
    let naive = Naive::new(&ring[0], 6, 0, kvcore::UNBOUNDED);
    let trees = [vec![-1, 0, 0, 2, 1, 4], trees::chain(5)];
    let (starts, leaves) = ([10, 17], [5, 2]);
    for tree_first in [true, false] {
        let mut words = vec![0; kvcore::rows_words(&config).expect("a sound config")];
        let mut cache = RowsCache::new(&mut words, &config).expect("room for the cache");
        let seqs = [(); 2].map(|()| cache.seq_new().expect("room for two"));
        let mut pools = [(); 2].map(|()| vec![None; naive.rows as usize]);
        for (at, seq) in seqs.into_iter().enumerate() {
            for position in 0..starts[at] {
                cache.declare_step(&[seq]).expect("room");
                cache.place_step(0, &[position], &mut [Span::default()]).expect("the next position");
                pools[at][naive.row(position.into()) as usize] = Some(Token { position, draft: 0 });
            }
        }
        let order = if tree_first { [0, 1] } else { [1, 0] };
        let ids: Vec<u32> = order.iter().flat_map(|&at| vec![seqs[at]; trees[at].len()]).collect();
        let rows = order.iter().flat_map(|&at| starts[at]..starts[at] + trees[at].len() as u32);
        let mut spans = [Span::default(); 2];
        cache.declare_step(&ids).expect("room");
        assert_eq!(cache.place_step(0, &rows.collect::<Vec<_>>(), &mut spans), Ok(2));
        for (span, at) in spans.iter().zip(order) {
            let (parents, start) = (&trees[at], starts[at]);
            assert_eq!((span.seq, span.plan.position), (seqs[at], start));
            let mut positions = vec![0; parents.len()];
            tree::positions(parents, start, &mut positions).expect("small positions");
            for (node, row) in rows_of(&span.plan).into_iter().enumerate() {
                pools[at][row as usize] = Some(Token { position: positions[node], draft: node as u32 });
            }
            let mut moves = [Move::default(); 6];
            let listed = tree::moves(&rows_of(&span.plan), parents, leaves[at], &mut moves);
            let (n, accepted) = listed.expect("room for the moves");
            carry_out(&moves[..n], &mut pools[at]);
            cache.rewind(span.seq, start + accepted).expect("the step's own rows");
            let length = start + accepted;
            assert_eq!(cache.next_pos(span.seq), Ok(length));
            let path = path(parents, leaves[at]);
            for position in length - 3..length {
                let draft = position.checked_sub(start).map_or(0, |depth| path[depth as usize] as u32);
                let held = pools[at][naive.row(position.into()) as usize];
                assert_eq!(held, Some(Token { position, draft }));
            }
        }
        assert_eq!(seqs.map(|seq| cache.seq_len(seq)), [Ok(14), Ok(20)]);
    }
}

/// A ring of 4 + 4 - 1 = 7 rows; the step at 5 is in rows 5, 6, 0, 1.
#[test]
fn t6_moves_follow_the_rows_round_the_ring() {
    let ring = [Layer::ring(4)];
    let mut shadow = Shadow::new(&ring, 4, 0, kvcore::UNBOUNDED);
    shadow.prefill(5, 4);
    let drafts = shadow.draft(&[-1, 0, 0, 1]);
    let rows = rows_of(&drafts.plans[0]);
    assert_eq!(rows, [5, 6, 0, 1]);
    let mut moves = [Move::default(); 4];
    assert_eq!(tree::moves(&rows, &drafts.parents, 3, &mut moves), Ok((1, 3)));
    assert_eq!(moves[0], Move { from: 1, to: 0, len: 1 });
    shadow.accept(&drafts, 3);
    // From every place of the ring, every tree of 4 nodes and every leaf.
    for start in 0..14 {
        let mut before = Shadow::new(&ring, 4, 0, kvcore::UNBOUNDED);
        before.prefill(start, 1);
        for parents in trees::every(4) {
            for leaf in -1..4 {
                let mut shadow = before.clone();
                shadow.step(&parents, leaf);
                // What comes next reads no row of a rejected draft.
                shadow.step(&trees::chain(4), 3);
            }
        }
    }
}

/// Sizes that are in use and the largest tree, over pools that wrap again and again.
#[test]
fn known_trees_over_wrapping_rings() {
    for parents in trees::known() {
        let n = parents.len() as u32;
        let mut shadow = Shadow::new(&layers(n / 3 + 5, 3), n, 2, 4 * n + 64);
        shadow.prefill(n + 7, n);
        for leaf in [n as i32 - 1, n as i32 / 2, -1, n as i32 / 3] {
            if shadow.cache.can_extend(n) == Ok(true) {
                shadow.step(&parents, leaf);
            }
        }
    }
}

/// Something that happens to a sequence.
#[derive(Clone, Debug)]
enum Op {
    /// A tree, and which of its leaves is accepted.
    Tree(Vec<i32>, prop::sample::Index),
    Plain(u32),
    /// Back by as many tokens, as far as windows allow.
    Back(u32),
}

fn op(max_write: usize) -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (trees::random(1..=max_write), any::<prop::sample::Index>())
            .prop_map(|(tree, leaf)| Op::Tree(tree, leaf)),
        2 => (1..=max_write as u32).prop_map(Op::Plain),
        1 => (0..=6_u32).prop_map(Op::Back),
    ]
}

fn run(shadow: &mut Shadow, ops: &[Op]) {
    for op in ops {
        let length = shadow.cache.length();
        match op {
            Op::Back(by) => shadow.rewind(length.saturating_sub(*by).max(shadow.cache.rewind_floor())),
            Op::Plain(n) if shadow.cache.can_extend(*n) == Ok(true) => shadow.prefill(*n, *n),
            Op::Tree(tree, leaf) if shadow.cache.can_extend(tree.len() as u32) == Ok(true) => {
                shadow.step(tree, leaf.index(tree.len() + 1) as i32 - 1);
            }
            Op::Plain(_) | Op::Tree(..) => shadow.rewind(0),
        }
    }
}

/// The same cases every time; `KVC_CASES` asks for more.
fn runner(cases: u32) -> TestRunner {
    let cases = std::env::var("KVC_CASES").map_or(cases, |cases| cases.parse().expect("a number"));
    let runs = Runs { cases, failure_persistence: None, ..Runs::default() };
    TestRunner::new_with_rng(runs, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// Window, sinks and rollback.
type Shape = (u32, u32, u32);

fn shape() -> impl Strategy<Value = Shape> {
    (1..=12_u32, 1..=4_u32, 0..=3_u32)
}

#[test]
fn rows_hold_the_accepted_paths() {
    let cases = (shape(), vec(op(9), 1..=20));
    let run = |((window, sinks, rollback), ops): (Shape, Vec<Op>)| {
        run(&mut Shadow::new(&layers(window, sinks), 9, rollback, 70), &ops);
        Ok(())
    };
    runner(300).run(&cases, run).unwrap_or_else(|error| panic!("{error}"));
}

/// The same tree with its rows in another order ends in the same tokens. (What the rows hold is in `audit`.)
#[test]
fn the_order_of_siblings_does_not_matter() {
    let tree = (trees::random(1..=16), any::<prop::sample::Index>());
    let cases = (shape(), 0..40_u32, tree, vec(any::<u32>(), 16));
    let run = |(shape, start, tree, keys): (Shape, u32, (Vec<i32>, prop::sample::Index), Vec<u32>)| {
        let ((window, sinks, rollback), (parents, leaf)) = (shape, tree);
        let leaf = leaf.index(parents.len() + 1) as i32 - 1;
        let (reordered, node_of) = trees::reorder(&parents, &keys);
        let row_of = |node: usize| node_of.iter().position(|other| *other == node).expect("a row") as i32;
        let mut one = Shadow::new(&layers(window, sinks), 16, rollback, 70);
        one.prefill(start, 7);
        let mut other = one.clone();
        one.step(&parents, leaf);
        other.step(&reordered, usize::try_from(leaf).map_or(-1, row_of));
        let tokens = other.tokens.iter().map(|token| match token.draft.checked_sub(start) {
            Some(row) => Token { draft: start + node_of[row as usize] as u32, ..*token },
            None => *token,
        });
        assert!(tokens.eq(one.tokens.iter().copied()), "{parents:?} {leaf} and {reordered:?}");
        Ok(())
    };
    runner(300).run(&cases, run).unwrap_or_else(|error| panic!("{error}"));
}
