// A host and a backend on one cache of many sequences, from two threads.
#include "batch_support.h"

#include <atomic>
#include <thread>

namespace {

// The host declares and rewinds sequence 0, while the backend places whatever is declared. What the backend took for the next
// position may be too high by the time it places: with cells a gap, which is legal there.
template <class Target>
void share(Target& target, bool gaps) {
  REQUIRE(target.seq_new() == 0);
  constexpr int kRounds = 2000;
  std::atomic<bool> done{false};
  std::atomic<int> served{0};
  std::thread backend([&] {
    do {
      const int next = target.next_pos(0);
      if (place(target, 0, {next, next + 1}) != nullptr) ++served;
      std::this_thread::yield();
    } while (!done);
  });
  int declared = 0;
  for (int round = 0; round < kRounds; ++round) {
    if (target.declare_step({0, 0})) ++declared;
    std::this_thread::yield();
    if (target.next_pos(0) >= 6) CHECK(target.rewind(0, 0));
  }
  done = true;
  backend.join();
  CHECK(declared > 0);
  const int length = target.seq_len(0);
  CHECK(length % 2 == 0);
  CHECK((gaps ? length <= target.next_pos(0) : length == target.next_pos(0)));
  CHECK(served <= kRounds);
}

}  // namespace

TEST_CASE("cells: a host and a backend may use a cache from two threads") {
  cache::CellCache target(config(64, {0}));
  share(target, true);
  CHECK(target.used_end() == target.seq_len(0));
  CHECK(target.free_cells() == 64 - target.seq_len(0));
}

TEST_CASE("batched: a host and a backend may use a cache from two threads") {
  cache::BatchedSequenceCache target(config(64, {0}));
  share(target, false);
}
