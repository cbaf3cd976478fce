#include "ops.hpp"

#include <string>
#include <utility>

namespace bench {

namespace {

constexpr uint32_t kFew = 8;
constexpr uint32_t kMany = 64;
// Sequences beside the few, for clones.
constexpr uint32_t kClones = 8;

// Positions that a middle range has.
constexpr uint32_t kRange = 16;
// Tokens that are taken back.
constexpr uint32_t kBack = 4;
constexpr uint32_t kMoves = 16;

Shape flat(uint32_t cells, uint32_t seqs, uint32_t room, bool holes) {
  const uint32_t max_seqs = seqs == kFew ? kFew + kClones : kMany;
  return {cells, seqs, max_seqs, 0, room, holes};
}

// Sequences that each fill their window; so many cells are free before a step.
Shape window(uint32_t cells, uint32_t seqs, uint32_t room) {
  const uint32_t max_seqs = seqs == kFew ? kFew + kClones : kMany;
  return {cells, seqs, max_seqs, (cells - room) / seqs, cells / 2, false};
}

// `f(cells, at)` does the operation for the `at`-th time since the state was restored; `set_up(cells)` comes before.
template <class Cells, class F, class G>
Side side(const std::shared_ptr<Cells>& cells, F f, G set_up) {
  Side side;
  side.run = [cells, f](uint32_t count) {
    for (uint32_t at = 0; at < count; ++at) f(*cells, at);
  };
  side.prepare = [cells, set_up](uint32_t) {
    cells->restore();
    set_up(*cells);
  };
  return side;
}

// `counted`: operations of the shorter counted batch; the longer one is twice that. No batch is longer where each
// operation changes the state for the next.
template <class F, class G>
Op both(const char* id, const char* title, const Pair& pair, uint32_t counted, bool changes, F f, G set_up) {
  Op op{};
  op.id = id + ("@" + std::to_string(pair.shape.cells));
  op.title = title;
  op.ours = side(pair.ours, f, set_up);
  op.theirs = side(pair.theirs, f, set_up);
  op.most_count = changes ? 2 * counted : 0;
  op.counted = counted;
  return op;
}

constexpr auto kNothing = [](auto&) {};

template <class F>
Op verb(const char* id, const char* title, const Pair& pair, uint32_t counted, F f) {
  return both(id, title, pair, counted, true, f, kNothing);
}

template <class F>
Op query(const char* id, const char* title, const Pair& pair, F f) {
  return both(id, title, pair, 4, false, f, kNothing);
}

Op decode(const char* id, const char* title, const Pair& pair, uint32_t counted) {
  return verb(id, title, pair, counted, [all = pair.all](auto& cells, uint32_t) { expect(cells.step(all)); });
}

Op prefill(const Pair& pair) {
  const std::vector<uint32_t> tokens(kMaxWrite, 0);
  return verb("prefill", "prefill, 128 tokens", pair, 1,
              [tokens](auto& cells, uint32_t) { expect(cells.step(tokens)); });
}

Op clone(const char* id, const char* title, const Pair& pair) {
  return verb(id, title, pair, kClones / 2, [](auto& cells, uint32_t at) {
    uint32_t seq = 0;
    expect(cells.clone(at, &seq) == KVC_OK);
    keep(seq);
  });
}

Op release(const char* id, const char* title, const Pair& pair) {
  return verb(id, title, pair, kFew / 2, [](auto& cells, uint32_t at) { expect(cells.release(at) == KVC_OK); });
}

Op rewind(const Pair& pair) {
  const uint32_t longest = pair.shape.seqs - 1;
  const uint32_t end = pair.ours->next[longest];
  return verb("rewind", "rewind of 4 tokens of the longest sequence", pair, kFew / 2,
              [longest, end](auto& cells, uint32_t at) {
                expect(cells.rewind(longest, end - (at + 1) * kBack) == KVC_OK);
              });
}

// The middle of each sequence in turn.
Op remove(const Pair& pair) {
  return verb("remove", "seq_remove of 16 in the middle", pair, kFew / 2, [](auto& cells, uint32_t at) {
    const uint32_t middle = cells.next[at] / 2;
    expect(cells.remove(at, middle, middle + kRange) == KVC_OK);
  });
}

// What stands behind such a range moves into it.
Op shift(const Pair& pair) {
  const auto f = [](auto& cells, uint32_t at) {
    const uint32_t tail = cells.next[at] / 2 + kRange;
    expect(cells.shift(at, tail, KVC_UNBOUNDED, -static_cast<int32_t>(kRange)) == KVC_OK);
  };
  const auto set_up = [all = pair.all](auto& cells) {
    for (const uint32_t seq : all) {
      const uint32_t middle = cells.next[seq] / 2;
      expect(cells.remove(seq, middle, middle + kRange) == KVC_OK);
    }
  };
  return both("shift", "seq_shift of the second half", pair, kFew / 2, true, f, set_up);
}

Op defrag(const Pair& pair) {
  const auto moves = std::make_shared<std::vector<scan::Move>>(kMoves);
  return verb("defrag", "defrag, 16 moves", pair, 1,
              [moves](auto& cells, uint32_t) { expect(cells.defrag(*moves) == kMoves); });
}

Op free_rows(const Pair& pair) {
  return query("free_rows", "free_rows", pair, [](auto& cells, uint32_t) {
    const uint32_t rows = cells.free_rows();
    keep(rows);
  });
}

Op length(const Pair& pair) {
  return query("seq_len", "seq_len", pair, [](auto& cells, uint32_t at) {
    const uint32_t length = cells.length(at % kFew);
    keep(length);
  });
}

Op admit(const char* id, const char* title, const Pair& pair, uint32_t n) {
  return query(id, title, pair, [n](auto& cells, uint32_t at) { expect(cells.can_admit(at % kFew, n)); });
}

// The mask of a step of one token of the longest sequence.
Op mask(const char* id, const char* title, const Pair& pair) {
  const uint32_t words = (pair.shape.cells + 31) / 32;
  const auto out = std::make_shared<std::vector<uint32_t>>(words);
  const auto f = [words, out](auto& cells, uint32_t) { expect(cells.mask(out->data(), words, 1)); };
  const std::vector<uint32_t> token{pair.shape.seqs - 1};
  return both(id, title, pair, 2, false, f, [token](auto& cells) { expect(cells.step(token)); });
}

}  // namespace

States::States(uint32_t cells)
    : flat(bench::flat(cells, kFew, 64, false)),
      flat_many(bench::flat(cells, kMany, 128, false)),
      flat_half(bench::flat(cells, kFew, 2 * kMaxWrite, false)),
      holes(bench::flat(cells, kFew, 64, true)),
      holes_many(bench::flat(cells, kMany - 1, 128, true)),
      window(bench::window(cells, kFew, kFew)),
      window_many(bench::window(cells, kMany, kMany)),
      window_full(bench::window(cells, kFew, 0)) {}

std::vector<Op> growth_ops(const States& states) {
  std::vector<Op> ops;
  ops.push_back(decode("decode_flat", "decode step of 8, flat", states.flat, 4));
  ops.push_back(decode("decode_holes", "decode step of 8, flat, holes", states.holes, 4));
  ops.push_back(decode("decode_window", "decode step of 8, windowed", states.window, 4));
  ops.push_back(decode("decode_full", "decode step of 8, windowed, full", states.window_full, 4));
  ops.push_back(decode("decode_flat_many", "decode step of 64, flat", states.flat_many, 1));
  ops.push_back(decode("decode_holes_many", "decode step of 63, flat, holes", states.holes_many, 1));
  ops.push_back(decode("decode_window_many", "decode step of 64, windowed", states.window_many, 2));
  ops.push_back(prefill(states.flat_half));
  ops.push_back(clone("clone", "seq_clone, 8 sequences", states.flat));
  ops.push_back(release("release", "seq_release, 8 sequences", states.flat));
  ops.push_back(release("release_many", "seq_release, 64 sequences", states.flat_many));
  ops.push_back(rewind(states.flat));
  ops.push_back(remove(states.flat));
  ops.push_back(shift(states.flat));
  ops.push_back(defrag(states.holes));
  ops.push_back(free_rows(states.flat));
  ops.push_back(length(states.flat));
  ops.push_back(admit("can_admit", "can_admit", states.flat, 1));
  ops.push_back(admit("can_admit_full", "can_admit, windowed, full", states.window_full, kFew));
  ops.push_back(admit("can_admit_many", "can_admit, windowed, full, 64", states.window_many, kMany + 1));
  ops.push_back(mask("mask_flat", "mask row in bits, flat", states.flat));
  ops.push_back(mask("mask_window", "mask row in bits, windowed", states.window));
  return ops;
}

}  // namespace bench
