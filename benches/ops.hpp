// What is measured: each operation twice, on kvcore through its C interface and on the peer.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace bench {

// Runs the operation `count` times.
using Batch = std::function<void(uint32_t count)>;

struct Side {
  Batch run;
  Batch prepare;  // before each batch, outside the measurement; may be empty
};

struct Op {
  const char* id;
  const char* title;
  Side ours;
  Side theirs;
  double least_ratio;   // what the peer must take, as a multiple of ours; 0: no target
  double most_ns;       // the design's ceiling on a PC; 0: none
  uint32_t most_count;  // longest batch; 0: any
};

// The operations that plan; no call among them comes from more than one thread.
std::vector<Op> planning_ops();
// The registry, in a process that has one thread or several: the C++ library leaves its atomics out in the first case.
std::vector<Op> registry_ops(bool threads);

// Whether both sides name the same rows for the same positions, and find the same caches; says where not.
bool sides_agree();

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
