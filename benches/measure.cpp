#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace bench {

namespace {

constexpr double kBatchNs = 20'000;
// A multiple of the keys of the registries.
constexpr uint32_t kCounted = 3200;

double now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// What reading the clock twice takes.
double clock_ns() {
  std::vector<double> times;
  for (int round = 0; round < 1001; ++round) {
    const double start = now_ns();
    times.push_back(now_ns() - start);
  }
  return median(times);
}

// Nanoseconds for each of `count` operations.
double time_batch(const Side& side, uint32_t count, double clock) {
  if (side.prepare) side.prepare(count);
  const double start = now_ns();
  side.run(count);
  return std::max(now_ns() - start - clock, 0.0) / count;
}

// A batch long enough for the clock, short enough for both sides to meet the same machine.
uint32_t batch_length(const Side& side, uint32_t most) {
  uint32_t count = 16;
  if (most > 0) return most;
  while (time_batch(side, count, 0) * count < kBatchNs) count *= 2;
  return count;
}

struct Timing {
  uint32_t our_count;
  uint32_t their_count;
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> ratios;
};

// One batch of each side, close together; who is first changes with the round.
void time_round(const Op& op, Timing& timing, bool ours_first, double clock) {
  double ours = 0;
  if (ours_first) ours = time_batch(op.ours, timing.our_count, clock);
  const double theirs = time_batch(op.theirs, timing.their_count, clock);
  if (!ours_first) ours = time_batch(op.ours, timing.our_count, clock);
  timing.ours.push_back(ours);
  timing.theirs.push_back(theirs);
  timing.ratios.push_back(theirs / ours);
}

void print(const Op& op, const Timing& timing) {
  const double our_min = *std::min_element(timing.ours.begin(), timing.ours.end());
  const double their_min = *std::min_element(timing.theirs.begin(), timing.theirs.end());
  std::printf("%s\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.3f\t%g\t%g\n", op.id.c_str(), op.title.c_str(), our_min,
              median(timing.ours), their_min, median(timing.theirs), median(timing.ratios), op.least_ratio, op.most_ns);
}

}  // namespace

// All operations in turn in every round, so that what the machine does meanwhile falls on all of them.
void time_ops(const std::vector<Op>& ops, uint32_t rounds) {
  const double clock = clock_ns();
  std::vector<Timing> timings;
  for (const Op& op : ops) {
    timings.push_back({batch_length(op.ours, op.most_count), batch_length(op.theirs, op.most_count), {}, {}, {}});
  }
  for (uint32_t round = 0; round < rounds; ++round) {
    for (size_t at = 0; at < ops.size(); ++at) time_round(ops[at], timings[at], round % 2 == 0, clock);
  }
  for (size_t at = 0; at < ops.size(); ++at) print(ops[at], timings[at]);
}

// The instruction counter counts in here, and writes its sum down at the end of every call.
extern "C" __attribute__((noinline)) void counted_batch(const Batch* run, uint32_t count) {
  (*run)(count);
  keep(*run);
}

namespace {

// A batch, and one of twice the length: the difference is without what a batch costs once.
void count_side(const Side& side, uint32_t count) {
  for (const uint32_t times : {count, 2 * count}) {
    if (side.prepare) side.prepare(times);
    counted_batch(&side.run, times);
  }
}

}  // namespace

void count_ops(const std::vector<Op>& ops) {
  for (const Op& op : ops) {
    const uint32_t count = op.counted != 0 ? op.counted : op.most_count == 0 ? kCounted : op.most_count / 2;
    count_side(op.ours, count);
    count_side(op.theirs, count);
    std::printf("%s\t%s\t%u\n", op.id.c_str(), op.title.c_str(), count);
  }
}

}  // namespace bench
