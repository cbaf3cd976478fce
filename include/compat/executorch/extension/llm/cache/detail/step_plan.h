/// What one step of one layer writes and reads, and its conversion from kvcore's plan.
#ifndef KVCORE_COMPAT_CACHE_STEP_PLAN_H
#define KVCORE_COMPAT_CACHE_STEP_PLAN_H

#include <kvcore.h>

#include <climits>
#include <cstdint>
#include <optional>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {

/// Consecutive rows of a pool that hold consecutive positions.
struct Run {
  int start = 0;
  int len = 0;
};

/// One step of one layer: where the rows of the new tokens go, and which rows attention reads, oldest first, the
/// new ones included.
struct SeqStepPlan {
  Run write[2]{};
  int n_write = 0;
  Run read[2]{};
  int n_read = 0;
  int read_base_pos = 0;  ///< Position of the first row read.
};

namespace detail {

/// Rows of the first `n` runs; -1 if those are not 1 or 2 runs of some rows each. Plans come from anybody.
inline std::int64_t rows_of(const Run (&runs)[2], int n) {
  if (n < 1 || n > 2) return -1;
  std::int64_t rows = 0;
  for (int i = 0; i < n; ++i) {
    if (runs[i].start < 0 || runs[i].len < 1) return -1;
    rows += runs[i].len;
  }
  return rows;
}

/// The positions `[begin, end)` of a step.
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Which positions a plan writes: the last ones of those that it reads. None for a plan that contradicts itself.
inline std::optional<Span> span_of(const SeqStepPlan& plan) {
  const std::int64_t written = rows_of(plan.write, plan.n_write);
  const std::int64_t read = rows_of(plan.read, plan.n_read);
  if (written < 1 || read < written || plan.read_base_pos < 0) return std::nullopt;
  const std::int64_t end = plan.read_base_pos + read;
  if (end > INT_MAX) return std::nullopt;
  return Span{end - written, end};
}

/// kvcore's plan in ExecuTorch's words. None if it cannot be said: with sinks there may be three read runs.
inline std::optional<SeqStepPlan> to_step_plan(const kvc_seq_plan_t& from) {
  if (from.n_write > 2 || from.n_read > 2 || from.rows_needed > INT_MAX) return std::nullopt;
  SeqStepPlan plan;
  plan.n_write = static_cast<int>(from.n_write);
  plan.n_read = static_cast<int>(from.n_read);
  std::uint32_t position = from.read[0].pos;
  plan.read_base_pos = static_cast<int>(position);
  for (std::uint32_t i = 0; i < from.n_write; ++i) {
    plan.write[i] = {static_cast<int>(from.write[i].start), static_cast<int>(from.write[i].len)};
  }
  for (std::uint32_t i = 0; i < from.n_read; ++i) {
    // One base position stands for all runs, so they must follow each other: sinks and a window need not.
    if (from.read[i].pos != position) return std::nullopt;
    position += from.read[i].len;
    plan.read[i] = {static_cast<int>(from.read[i].start), static_cast<int>(from.read[i].len)};
  }
  return plan;
}

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_STEP_PLAN_H
