/// ExecuTorch's plan in kvcore's words.
#ifndef KVCORE_COMPAT_CACHE_C_PLAN_H
#define KVCORE_COMPAT_CACHE_C_PLAN_H

#include <executorch/extension/llm/cache/detail/step_plan.h>

#include <algorithm>
#include <cstdint>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {
namespace detail {

/// Writes the runs, of which the first holds `position` first. Answers the highest row + 1.
inline std::uint32_t to_c_runs(const Run (&from)[2], int n, int position, kvc_run_t* out) {
  std::uint32_t rows_needed = 0;
  auto first = static_cast<std::uint32_t>(position);
  for (int i = 0; i < n; ++i) {
    const auto start = static_cast<std::uint32_t>(from[i].start);
    const auto len = static_cast<std::uint32_t>(from[i].len);
    out[i] = {start, len, first};
    first += len;
    rows_needed = std::max(rows_needed, start + len);
  }
  return rows_needed;
}

/// The plan of the step of `n` tokens at `position`; `window` 0: every query sees all history. The epoch is 0. False
/// for a plan of something else.
inline bool to_c_plan(const SeqStepPlan& from, int position, int n, int window, int group, kvc_seq_plan_t& out) {
  const std::optional<Span> step = span_of(from);
  if (!step || step->begin != position || step->end - step->begin != n) return false;
  out = {};
  out.n_write = static_cast<std::uint32_t>(from.n_write);
  out.n_read = static_cast<std::uint32_t>(from.n_read);
  const std::uint32_t written = to_c_runs(from.write, from.n_write, position, out.write);
  const std::uint32_t read = to_c_runs(from.read, from.n_read, from.read_base_pos, out.read);
  out.rows_needed = std::max(written, read);
  out.position = static_cast<std::uint32_t>(position);
  out.n_tokens = static_cast<std::uint32_t>(n);
  out.read_len = static_cast<std::uint32_t>(step->end - from.read_base_pos);
  const bool all_seen = window == 0 || step->end <= window;
  out.mask = n == 1 ? KVC_MASK_NONE : all_seen ? KVC_MASK_CAUSAL : KVC_MASK_WINDOW;
  out.window = static_cast<std::uint32_t>(window);
  out.group = static_cast<std::uint32_t>(group);
  return true;
}

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_C_PLAN_H
