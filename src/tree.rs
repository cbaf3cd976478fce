//! Token trees: a step of `n` rows whose node `i` continues node `parents[i] < i`, or the committed prefix
//! (-1). The cache stores none of it; these are pure functions of the parents.

use crate::error::Error;
use crate::limits::MAX_TREE;

/// Refuses parents that are no tree of `n` nodes.
pub(crate) fn check(parents: &[i32], n: u32) -> Result<(), Error> {
    let sound = |(node, &parent): (usize, &i32)| {
        parent == -1 || usize::try_from(parent).is_ok_and(|parent| parent < node)
    };
    if parents.len() == n as usize && parents.len() <= MAX_TREE && parents.iter().enumerate().all(sound) {
        Ok(())
    } else {
        Err(Error::InvalidArgument)
    }
}

/// The parent of a node, none for a child of the committed prefix.
pub(crate) fn parent(parents: &[i32], node: u32) -> Option<u32> {
    u32::try_from(*parents.get(node as usize)?).ok()
}

/// Nodes between `node` and the committed prefix. O(depth).
pub(crate) fn depth(parents: &[i32], node: u32) -> u32 {
    let (mut node, mut depth) = (node, 0);
    while let Some(up) = parent(parents, node) {
        node = up;
        depth += 1;
    }
    depth
}
