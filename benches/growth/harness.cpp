// How the operations of a cell pool grow with it, for each number of cells in turn:
//
//   growth agree cells …    compares the sides in every state that is measured
//   growth time cells …     times them
//   growth count cells …    runs each operation a known number of times, for an instruction counter
//
// `measure.hpp` tells what the last two print.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "ops.hpp"

namespace bench {

namespace {

constexpr uint32_t kRounds = 41;

bool agree(uint32_t cells) { return states_agree(States(cells)); }

bool time(uint32_t cells) {
  const States states(cells);
  time_ops(growth_ops(states), kRounds);
  return true;
}

bool count(uint32_t cells) {
  const States states(cells);
  count_ops(growth_ops(states));
  return true;
}

int run(int argc, char** argv) {
  const auto is = [=](const char* mode) { return argc > 2 && std::strcmp(argv[1], mode) == 0; };
  const auto work = is("agree") ? agree : is("time") ? time : is("count") ? count : nullptr;
  if (work == nullptr) {
    std::fprintf(stderr, "usage: growth agree|time|count cells ...\n");
    return 2;
  }
  if (work == agree && !histories_agree()) return 1;
  for (int at = 2; at < argc; ++at) {
    if (!work(static_cast<uint32_t>(std::strtoul(argv[at], nullptr, 10)))) return 1;
  }
  return 0;
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) { return bench::run(argc, argv); }
