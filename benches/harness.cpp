// Times kvcore against the peer (`harness time`), or runs each operation a known number of times for an instruction
// counter (`harness count`). `measure.hpp` tells what is printed.

#include <cstdio>
#include <cstring>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "ops.hpp"

namespace bench {

namespace {

constexpr uint32_t kRounds = 401;

// A process of several threads, for as long as this lives: the other thread only waits.
class OtherThread {
 public:
  OtherThread() : thread_([done = done_.get_future()] { done.wait(); }) {}
  OtherThread(const OtherThread&) = delete;
  OtherThread& operator=(const OtherThread&) = delete;
  ~OtherThread() {
    done_.set_value();
    thread_.join();
  }

 private:
  std::promise<void> done_;
  std::thread thread_;
};

int run(const char* mode) {
  const bool counts = std::strcmp(mode, "count") == 0;
  if (!counts && std::strcmp(mode, "time") != 0) {
    std::fprintf(stderr, "usage: harness time|count\n");
    return 2;
  }
  const auto measure = [counts](const std::vector<Op>& ops) { counts ? count_ops(ops) : time_ops(ops, kRounds); };
  if (!sides_agree()) return 1;
  std::vector<Op> ops = planning_ops();
  for (Op& op : registry_ops(false)) ops.push_back(std::move(op));
  measure(ops);
  const OtherThread other;
  measure(registry_ops(true));
  return 0;
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) { return bench::run(argc == 2 ? argv[1] : ""); }
