/// The state of a one-sequence cache, behind the faces of `SequenceCache`.
#ifndef KVCORE_COMPAT_CACHE_SEQUENCE_CORE_H
#define KVCORE_COMPAT_CACHE_SEQUENCE_CORE_H

#include <executorch/extension/llm/cache/detail/c_step.h>
#include <executorch/extension/llm/cache/detail/guarded.h>
#include <executorch/extension/llm/cache/detail/residency.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {
namespace detail {

/// Plans, commits and rewinds of one sequence. Every call is atomic.
///
/// It is also a face, for the C interface: that asks for more than ExecuTorch's faces tell.
class SequenceCore {
 public:
  static constexpr const char* kFaceName = "kvcore.cache.SequenceCore";

  explicit SequenceCore(const CacheConfig& config) {
    // A cache of nothing: it refuses every step.
    if (!valid(config)) return;
    capacity_ = config.capacity;
    bound_ = std::min(capacity_, config.max_context.value_or(capacity_));
    n_layers_ = config.n_layers;
    for (const LayerConfig& layer : config.layers) group_of_.push_back(group_for(layer, config.max_write));
    std::vector<RingResidency> rings;
    for (const Group& group : groups_) {
      const auto same = [&group](const RingResidency& ring) { return ring.layout().window() == group.layout.window(); };
      if (group.layout.is_ring() && std::none_of(rings.begin(), rings.end(), same)) rings.emplace_back(group.layout);
    }
    state_ = Guarded<State>({0, 0, std::move(rings)});
  }

  int capacity() const { return capacity_; }
  /// Positions that it may reach.
  int bound() const { return bound_; }
  int n_layers() const { return n_layers_; }
  int length() const {
    return state_.with([](const State& state) { return state.length; });
  }
  /// Changes with every rewind and clear.
  std::uint32_t rewinds() const {
    return state_.with([](const State& state) { return state.rewinds; });
  }

  /// Layers alike in policy, heads and head size form a group, as in kvcore.
  int n_groups() const { return static_cast<int>(groups_.size()); }
  int group_of(int layer) const {
    return group_of_.size() == 1 ? group_of_[0] : group_of_[static_cast<std::size_t>(layer)];
  }
  int first_layer(int group) const {
    const auto at = std::find(group_of_.begin(), group_of_.end(), group);
    return static_cast<int>(at - group_of_.begin());
  }
  int window(int layer) const { return layout(layer).window(); }
  /// Most tokens of a step of the whole model.
  int step_limit() const {
    int limit = INT_MAX;
    for (const Group& group : groups_) limit = std::min(limit, group.layout.step_limit());
    return limit;
  }

  bool can_extend(int n) const {
    return n >= 0 && n <= bound_ - length();
  }

  std::optional<SeqStepPlan> plan(int layer, int position, int n) const {
    if (layer < 0 || layer >= n_layers_ || position < 0 || n < 1 || n > bound_ - position) return std::nullopt;
    std::optional<SeqStepPlan> plan = layout(layer).plan(position, n);
    if (plan) {
      const Span step = {position, static_cast<std::int64_t>(position) + n};
      // In the rings of the other layers too: a step is one of the whole model.
      state_.with([step](State& state) {
        for (RingResidency& ring : state.rings) ring.plan(step);
      });
    }
    return plan;
  }

  void commit(const SeqStepPlan& plan) {
    const std::optional<Span> step = span_of(plan);
    if (!step || step->end > bound_) return;
    state_.with([&step](State& state) {
      for (RingResidency& ring : state.rings) ring.commit(*step);
      state.length = std::max(state.length, static_cast<int>(step->end));
    });
  }

  bool rewind(int length) {
    return state_.with([length](State& state) {
      const auto allows = [length](const RingResidency& ring) { return ring.allows(length); };
      if (length < 0 || length > state.length) return false;
      if (!std::all_of(state.rings.begin(), state.rings.end(), allows)) return false;
      for (RingResidency& ring : state.rings) ring.rewind(length);
      state.length = length;
      ++state.rewinds;
      return true;
    });
  }

  /// The smallest length such that every one from there to the present one is allowed; beyond it if none is.
  int rewind_floor() const {
    return state_.with([](const State& state) {
      std::int64_t floor = 0;
      for (const RingResidency& ring : state.rings) floor = std::max(floor, ring.floor(state.length));
      return static_cast<int>(floor);
    });
  }

  /// The newest step that C began.
  const Guarded<CStep>& c_step() const { return c_step_; }

 private:
  struct Group {
    Layout layout;
    int n_kv_heads = 0;
    int head_dim = 0;
  };

  struct State {
    int length = 0;
    std::uint32_t rewinds = 0;
    std::vector<RingResidency> rings;  // one for each layout
  };

  int group_for(const LayerConfig& layer, std::optional<int> max_write) {
    const Group wanted = {Layout(layer.policy, max_write), layer.n_kv_heads, layer.head_dim};
    const auto same = [&wanted](const Group& group) {
      return group.layout.window() == wanted.layout.window() && group.n_kv_heads == wanted.n_kv_heads &&
             group.head_dim == wanted.head_dim;
    };
    const auto at = std::find_if(groups_.begin(), groups_.end(), same);
    const auto index = static_cast<int>(at - groups_.begin());
    if (at == groups_.end()) groups_.push_back(wanted);
    return index;
  }

  const Layout& layout(int layer) const { return groups_[static_cast<std::size_t>(group_of(layer))].layout; }

  int capacity_ = 0;
  int bound_ = 0;
  int n_layers_ = 0;
  std::vector<int> group_of_;  // one entry for all layers, or one for each
  std::vector<Group> groups_;
  Guarded<State> state_;
  Guarded<CStep> c_step_;
};

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_SEQUENCE_CORE_H
