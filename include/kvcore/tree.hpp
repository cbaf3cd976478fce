/// Token trees, for speculative decoding: a step whose tokens are nodes of a tree of drafts.
///
/// `parents[i]` is the parent of node i and stands before it (`parents[i] < i`), or -1 for a child of the committed
/// prefix. A tree has 1 to 256 nodes. No cache stores it: plan a step of as many tokens, give the positions below to
/// RoPE and the parents to the mask, move the rows of the accepted path, then commit what it accepts.
#ifndef KVCORE_TREE_HPP
#define KVCORE_TREE_HPP

#include "plan.hpp"

namespace kvc {

/// Writes the position of each node: `base`, the position of the step's first row, and the node's depth.
/// `InvalidArgument` for parents that are no tree or positions over 32 bits, `BufferTooSmall`. Any thread. O(nodes).
///
/// ```cpp
/// const std::int32_t parents[] = {-1, 0, 0, 2};     // a root with two children, of which the second has one
/// std::uint32_t positions[4];
/// assert(kvc::tree_positions(parents, 100, positions).ok());
/// assert(positions[0] == 100 && positions[1] == 101 && positions[2] == 101 && positions[3] == 102);
/// ```
inline Status tree_positions(span<const std::int32_t> parents, std::uint32_t base,
                             span<std::uint32_t> out) noexcept {
  if (out.size() < parents.size()) return Code::BufferTooSmall;
  return Status::from_raw(kvc_tree_positions(parents.data(), detail::clamp(parents.size()), base, out.data()));
}

/// Writes the interval of each node, for kernels that take intervals in place of a mask: node i sees node j of the step
/// if `pre[j] <= pre[i] && pre[i] < end[j]`. A window is not in it: one that is smaller than the tree is deep hides
/// more. `InvalidArgument`, `BufferTooSmall`. Any thread. O(nodes).
///
/// ```cpp
/// const std::int32_t parents[] = {-1, 0, 0, 2};
/// std::uint16_t pre[4], end[4];
/// assert(kvc::tree_intervals(parents, pre, end).ok());
/// assert(pre[0] <= pre[3] && pre[3] < end[0]);                 // node 3 sees the root
/// assert(!(pre[1] <= pre[3] && pre[3] < end[1]));              // and not its parent's sibling
/// ```
inline Status tree_intervals(span<const std::int32_t> parents, span<std::uint16_t> pre,
                             span<std::uint16_t> end) noexcept {
  if (pre.size() < parents.size() || end.size() < parents.size()) return Code::BufferTooSmall;
  return Status::from_raw(kvc_tree_intervals(parents.data(), detail::clamp(parents.size()), pre.data(), end.data()));
}

/// What an accepted path of a tree asks for.
struct TreeMoves {
  span<Move> moves;            ///< Safe in place in this order, in every pool, each with its own rows.
  std::uint32_t accepted = 0;  ///< Tokens to commit afterwards.
};

/// Lists the moves that bring the rows of the path to `leaf` into the first rows of the step: `rows` are the step's,
/// one a node, in the order in which they were written, and none of them twice. Source and target of a move may
/// overlap: copy ascending row by row, or with `memmove`. `leaf` -1: nothing was accepted. `InvalidArgument`,
/// `BufferTooSmall` (as many moves as nodes are always enough). Any thread. O(nodes).
///
/// ```cpp
/// kvc::FlatCache<1> cache;
/// assert(cache.init(64).ok());
/// kvc::SequencePlanner planner = cache.sequence_planner();
/// const std::int32_t parents[] = {-1, 0, 0, 2};
/// kvc::SeqPlan plan = planner.plan(0, 0, 4).value();
/// const std::uint32_t rows[] = {0, 1, 2, 3};                   // plan.writes(), row by row
/// kvc::Move moves[4];
/// kvc::TreeMoves path = kvc::tree_moves(rows, parents, 3, moves).value();      // nodes 0, 2 and 3
/// assert(path.accepted == 3 && path.moves[0].from == 2 && path.moves[0].to == 1);
/// assert(planner.commit(plan, path.accepted).ok());
/// assert(kvc::tree_moves(rows, parents, -1, moves).value().moves.empty());
/// ```
inline Result<TreeMoves> tree_moves(span<const std::uint32_t> rows, span<const std::int32_t> parents, std::int32_t leaf,
                                    span<Move> out) noexcept {
  if (rows.size() != parents.size()) return Code::InvalidArgument;
  std::uint32_t count = 0;
  std::uint32_t accepted = 0;
  const Status status =
      Status::from_raw(kvc_tree_moves(rows.data(), parents.data(), detail::clamp(parents.size()), leaf, out.data(),
                                      detail::clamp(out.size()), &count, &accepted));
  if (!status.ok()) return status;
  return TreeMoves{out.first(count), accepted};
}

}  // namespace kvc

#endif  // KVCORE_TREE_HPP
