// What is measured, and how: each operation twice, on kvcore through its C interface and on a peer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

// Runs the operation `count` times.
using Batch = std::function<void(uint32_t count)>;

struct Side {
  Batch run;
  Batch prepare;  // before each batch, outside the measurement; may be empty
};

struct Op {
  std::string id;
  std::string title;
  Side ours;
  Side theirs;
  double least_ratio;   // what the peer must take, as a multiple of ours; 0: no target
  double most_ns;       // the design's ceiling on a PC; 0: none
  uint32_t most_count;  // longest batch; 0: any
  uint32_t counted;     // operations of a counted batch; 0: as many as the longest batch allows
};

// Times all operations, a batch of each side in every round, and prints one line an operation: id, title, min and
// median ns of kvcore, of the peer, median of the paired ratios, least ratio, most ns, separated by tabs.
void time_ops(const std::vector<Op>& ops, uint32_t rounds);

// For an instruction counter: calls `counted_batch` four times for each operation (ours with n operations and 2n, then
// the peer's), and prints a line for it: id, title, n.
void count_ops(const std::vector<Op>& ops);

// Tells the compiler that the value is used and that memory may have changed.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

// A result that must not be is the end of the run: numbers of calls that fail are worth nothing.
inline void expect(bool good) {
  if (!good) __builtin_trap();
}

}  // namespace bench
