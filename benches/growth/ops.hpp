// The operations whose growth is of interest.
#pragma once

#include <cstdint>
#include <vector>

#include "../measure.hpp"
#include "sides.hpp"

namespace bench {

// All states of a pool of so many cells that an operation is measured in.
struct States {
  explicit States(uint32_t cells);

  // Each calls `f` with every state.
  template <class F>
  bool all_of(F f) const {
    for (const Pair* pair : {&flat, &flat_many, &flat_half, &holes, &holes_many, &window, &window_many, &window_full}) {
      if (!f(*pair)) return false;
    }
    return true;
  }

  Pair flat;
  Pair flat_many;
  Pair flat_half;
  Pair holes;
  Pair holes_many;
  Pair window;
  Pair window_many;
  Pair window_full;  // only an eviction makes room for a step
};

// Operations whose id ends in `@cells`.
std::vector<Op> growth_ops(const States& states);

// Whether both sides place the same cells, count alike and make the same masks, in every state and from it on through
// every operation; says where not.
bool states_agree(const States& states);
// The same from an empty pool on, through verbs at random.
bool histories_agree();

}  // namespace bench
