//! Trees of drafts: several guesses for the next token, and for those behind them.

use crate::model::{Logits, Model};
use crate::sample::{guesses, sample};

/// Two guesses, three behind them, one more behind the likeliest. Parents stand before their children and less
/// deep nodes before deeper ones, so that a shallower tree is a beginning of this one.
const PARENTS: [i32; 7] = [-1, 0, 0, 1, 1, 2, 3];
const NODES: [usize; 4] = [1, 3, 6, 7];
pub(crate) const DEEPEST: usize = NODES.len() - 1;

/// Its root is the newest token of the text, which is no guess. The others continue their parents.
pub(crate) struct Tree {
    pub(crate) tokens: Vec<u8>,
    pub(crate) parents: &'static [i32],
}

/// What the model said along one path of a tree.
pub(crate) struct Said {
    /// The node after which it said something else.
    pub(crate) leaf: usize,
    pub(crate) tokens: Vec<u8>,
}

impl Tree {
    /// Guesses `depth` tokens ahead. The text goes on at `place`, after `last`.
    pub(crate) fn grow(model: &Model, last: u8, place: usize, attempt: u32, depth: usize) -> Self {
        let parents = &PARENTS[..NODES[depth]];
        let mut tree = Self { tokens: vec![last], parents };
        for node in 1..parents.len() {
            let parent = tree.parent(node).unwrap_or(0);
            let ahead = tree.path(parent).len() - 1;
            let elder = (parent + 1..node).filter(|other| tree.parent(*other) == Some(parent)).count();
            let logits = model.logits(&model.embed(tree.tokens[parent]));
            tree.tokens.push(guesses(&logits, place + ahead, attempt)[elder]);
        }
        tree
    }

    fn parent(&self, node: usize) -> Option<usize> {
        usize::try_from(self.parents[node]).ok()
    }

    /// The nodes from the root to `node`.
    pub(crate) fn path(&self, node: usize) -> Vec<usize> {
        let mut path: Vec<usize> = std::iter::successors(Some(node), |node| self.parent(*node)).collect();
        path.reverse();
        path
    }

    /// The path to each node that nothing continues: together they have every node.
    pub(crate) fn paths(&self) -> Vec<Vec<usize>> {
        let nodes = || 0..self.parents.len();
        let is_leaf = |node: &usize| nodes().all(|other| self.parent(other) != Some(*node));
        nodes().filter(is_leaf).map(|leaf| self.path(leaf)).collect()
    }

    pub(crate) fn tokens_of(&self, path: &[usize]) -> Vec<u8> {
        path.iter().map(|node| self.tokens[*node]).collect()
    }

    /// What the model says, given the logits of each node: it follows the guesses as long as they are right.
    pub(crate) fn follow<'l>(
        &self,
        logits: impl Fn(usize) -> &'l Logits,
        place: usize,
        attempt: u32,
    ) -> Said {
        let (mut leaf, mut tokens) = (0, Vec::new());
        loop {
            let token = sample(logits(leaf), place + tokens.len(), attempt);
            tokens.push(token);
            let right = |node: &usize| self.parent(*node) == Some(leaf) && self.tokens[*node] == token;
            match (leaf + 1..self.tokens.len()).find(right) {
                Some(node) => leaf = node,
                None => return Said { leaf, tokens },
            }
        }
    }
}
