/// How one layer lays positions out in rows: kvcore's arithmetic with ExecuTorch's types.
#ifndef KVCORE_COMPAT_CACHE_LAYOUT_H
#define KVCORE_COMPAT_CACHE_LAYOUT_H

#include <executorch/extension/llm/cache/cache.h>
#include <executorch/extension/llm/cache/detail/step_plan.h>

#include <algorithm>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {
namespace detail {

/// Flat, or a ring of `window + max_write - 1` rows.
class Layout {
 public:
  Layout() = default;  // flat
  Layout(int window, int max_write) : ring_(true), window_(window), max_write_(max_write) {}
  Layout(const LayerPolicy& policy, std::optional<int> max_write) {
    if (policy.kind == LayerPolicy::Kind::Ring) *this = Layout(policy.window, max_write.value_or(policy.window));
  }

  bool is_ring() const { return ring_; }
  /// 0 when flat.
  int window() const { return window_; }
  /// Most tokens of a step.
  int step_limit() const { return is_ring() ? max_write_ : INT_MAX; }
  /// Rows of the ring.
  std::int64_t ring_rows() const { return static_cast<std::int64_t>(window_) + max_write_ - 1; }

  /// The step of `n` tokens at `position`. None for no tokens, a negative position, more tokens than a step may
  /// have, positions that an int does not hold, and in a ring without a window.
  std::optional<SeqStepPlan> plan(int position, int n) const {
    if (position < 0 || n < 1 || n > step_limit() || position > INT_MAX - n || window_ < 0) return std::nullopt;
    kvc_layer_t layer = {};
    layer.kind = is_ring() ? KVC_LAYER_RING : KVC_LAYER_FLAT;
    layer.window = static_cast<std::uint32_t>(window_);
    kvc_seq_plan_t plan;
    const kvc_status_t status = kvc_layout_plan(&layer, static_cast<std::uint32_t>(max_write_), 0,
                                                static_cast<std::uint32_t>(position),
                                                static_cast<std::uint32_t>(n), &plan);
    return status == KVC_OK ? to_step_plan(plan) : std::nullopt;
  }

  /// First position that is still in its row when `length` positions were written in order.
  int retained_from(int length) const {
    return is_ring() ? static_cast<int>(std::max<std::int64_t>(0, length - ring_rows())) : 0;
  }

 private:
  bool ring_ = false;
  int window_ = 0;
  int max_write_ = 0;
};

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_LAYOUT_H
