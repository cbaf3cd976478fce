// The operations on one sequence, and on a registry.
#pragma once

#include <vector>

#include "measure.hpp"

namespace bench {

// The operations that plan; no call among them comes from more than one thread.
std::vector<Op> planning_ops();
// The registry, in a process that has one thread or several: the C++ library leaves its atomics out in the first case.
std::vector<Op> registry_ops(bool threads);

// Whether both sides name the same rows for the same positions, and find the same caches; says where not.
bool sides_agree();

}  // namespace bench
