// Both sides must place the same cells, tell the same numbers and make the same masks, before anything is timed.

#include <algorithm>
#include <cstdio>
#include <random>
#include <utility>

#include "ops.hpp"

namespace bench {

namespace {

using Seqs = std::vector<uint32_t>;

// One side and the other, wherever they come from.
struct Sides {
  OurCells& ours;
  TheirCells& theirs;
  Shape shape;
  Seqs live;
  uint64_t masks = 0;  // that were compared
};

bool numbers_agree(const Sides& sides) {
  const uint32_t room = sides.ours.free_rows();
  if (sides.theirs.free_rows() != room) return false;
  for (const uint32_t seq : sides.live) {
    if (sides.ours.length(seq) != sides.theirs.length(seq)) return false;
    for (const uint32_t n : {1u, room + 1, room + 8}) {
      if (sides.ours.can_admit(seq, n) != sides.theirs.can_admit(seq, n)) return false;
    }
  }
  return true;
}

// A token of each of some sequences: the same rows, the same masks; or refused by both.
bool steps_agree(Sides& sides, const Seqs& seqs) {
  const auto n = static_cast<uint32_t>(seqs.size());
  const bool placed = sides.ours.step(seqs);
  if (sides.theirs.step(seqs) != placed) return false;
  if (!placed) return true;
  const auto end = [n](const std::vector<uint32_t>& rows) { return rows.begin() + n; };
  const auto& rows = sides.ours.rows;
  if (!std::equal(rows.begin(), end(rows), sides.theirs.rows.begin())) return false;
  if (sides.ours.read_len != sides.theirs.read_len) return false;
  const uint32_t words = (sides.shape.cells + 31) / 32;
  std::vector<uint32_t> our_mask(size_t{words} * n, ~0u);
  std::vector<uint32_t> their_mask(our_mask);
  ++sides.masks;
  return sides.ours.mask(our_mask.data(), words, n) && sides.theirs.mask(their_mask.data(), words, n) &&
         our_mask == their_mask;
}

// After a verb: where sequences go on, what they hold, and what a next step sees.
bool all_agrees(Sides& sides) {
  for (const uint32_t seq : sides.live) {
    const uint32_t end = sides.ours.end(seq);
    if (sides.theirs.end(seq) != end) return false;
    sides.ours.next[seq] = sides.theirs.next[seq] = end;
  }
  return numbers_agree(sides) && (sides.live.empty() || steps_agree(sides, sides.live)) && numbers_agree(sides);
}

// The peer refuses for one reason only, and a refused verb changes nothing.
template <class F>
bool verbs_agree(Sides& sides, F f) {
  const kvc_status_t ours = f(sides.ours);
  if (ours != KVC_OK && ours != KVC_ERR_SHARED) return ours == KVC_ERR_EVICTED || ours == KVC_ERR_BAD_POSITION;
  return f(sides.theirs) == ours;
}

bool add(Sides& sides) {
  const uint32_t seq = sides.ours.add();
  sides.live.push_back(seq);
  return sides.theirs.add() == seq;
}

bool clone(Sides& sides, uint32_t src) {
  uint32_t ours = 0;
  uint32_t theirs = 0;
  const bool done = sides.ours.clone(src, &ours) == KVC_OK && sides.theirs.clone(src, &theirs) == KVC_OK;
  sides.live.push_back(ours);
  return done && ours == theirs;
}

bool release(Sides& sides, uint32_t seq) {
  sides.live.erase(std::find(sides.live.begin(), sides.live.end(), seq));
  return sides.ours.release(seq) == KVC_OK && sides.theirs.release(seq) == KVC_OK;
}

bool defrag(Sides& sides, uint32_t cap) {
  const auto words = [](const scan::Move& move) { return std::vector<uint32_t>{move.from, move.to, move.len}; };
  std::vector<scan::Move> ours(cap);
  std::vector<scan::Move> theirs(cap);
  const uint32_t n = sides.ours.defrag(ours);
  if (sides.theirs.defrag(theirs) != n) return false;
  const auto same = [&words](const scan::Move& a, const scan::Move& b) { return words(a) == words(b); };
  return std::equal(ours.begin(), ours.begin() + n, theirs.begin(), same);
}

// Every verb that is measured, from a filled pool on.
bool state_agrees(const Pair& pair) {
  Sides sides{*pair.ours, *pair.theirs, pair.shape, pair.all};
  const uint32_t last = pair.shape.seqs - 1;
  const auto middle = [](const auto& cells, uint32_t seq) { return cells.next[seq] - cells.length(seq) / 2; };
  const bool agrees =
      all_agrees(sides) && release(sides, 1) && all_agrees(sides) &&
      verbs_agree(sides, [&](auto& cells) { return cells.remove(2, middle(cells, 2), middle(cells, 2) + 2); }) &&
      all_agrees(sides) &&
      verbs_agree(sides,
                  [&](auto& cells) { return cells.shift(2, middle(cells, 2) + 2, KVC_UNBOUNDED, -2); }) &&
      all_agrees(sides) &&
      verbs_agree(sides, [&](auto& cells) { return cells.rewind(last, cells.next[last] - 4); }) && all_agrees(sides) &&
      defrag(sides, 16) && all_agrees(sides) && clone(sides, last) && all_agrees(sides) && release(sides, last) &&
      all_agrees(sides);
  pair.ours->restore();
  pair.theirs->restore();
  if (sides.masks >= 2 && agrees) return true;
  std::fprintf(stderr, "the sides disagree: %u cells, %u sequences, window %u, %s\n", pair.shape.cells,
               pair.shape.seqs, pair.shape.window, pair.shape.holes ? "with holes" : "without holes");
  return false;
}

// A verb at random, on some sequence.
bool verb_agrees(Sides& sides, std::minstd_rand& random) {
  const auto dice = [&random](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  if (sides.live.size() < 3) return add(sides);
  const uint32_t seq = sides.live[dice(static_cast<uint32_t>(sides.live.size()))];
  const uint32_t length = sides.ours.length(seq);
  const uint32_t end = sides.ours.end(seq);
  const uint32_t which = dice(12);
  if (which < 2 && sides.live.size() < sides.shape.max_seqs) return which == 0 ? add(sides) : clone(sides, seq);
  if (which == 2) return release(sides, seq);
  if (which == 3) return defrag(sides, 1 + dice(8));
  if (length < 4) return true;
  // The highest position stays: kvcore alone remembers it when a window dropped the others.
  const uint32_t from = end - length + dice(length / 2);
  const uint32_t to = std::min(from + dice(length), end - 1);
  const auto down = -static_cast<int32_t>(dice(8));
  if (which < 6) return verbs_agree(sides, [=](auto& cells) { return cells.remove(seq, from, std::max(from, to)); });
  if (which < 8) return verbs_agree(sides, [=](auto& cells) { return cells.rewind(seq, end - 1); });
  if (which < 10) return verbs_agree(sides, [=](auto& cells) { return cells.shift(seq, from, KVC_UNBOUNDED, down); });
  return true;
}

bool history_agrees(const Shape& shape) {
  OurCells ours(shape);
  TheirCells theirs(shape);
  Sides sides{ours, theirs, shape, {}};
  std::minstd_rand random(5);
  for (uint32_t at = 0; at < 3000; ++at) {
    if (verb_agrees(sides, random) && all_agrees(sides)) continue;
    std::fprintf(stderr, "the sides disagree after %u verbs, window %u\n", at, shape.window);
    return false;
  }
  return sides.masks > 1000;
}

}  // namespace

bool histories_agree() {
  return history_agrees({150, 0, 6, 0, 0, false}) && history_agrees({150, 0, 6, 20, 0, false});
}

bool states_agree(const States& states) { return states.all_of(state_agrees); }

}  // namespace bench
