/// A cache of kvcore as C++ sees it.
#ifndef KVCORE_COMPAT_CACHE_NATIVE_CACHE_H
#define KVCORE_COMPAT_CACHE_NATIVE_CACHE_H

#include <executorch/extension/llm/cache/detail/patience.h>
#include <executorch/extension/llm/cache/sequence_cache.h>

#include <climits>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {
namespace detail {

/// ExecuTorch's faces over a cache that C installed. It keeps one reference.
///
/// A cache of the one-sequence family offers `SequenceControl` and `SequencePlanner`, one of another family no face.
/// kvcore's rules hold: a step begins at the length, and is refused for all layers when one would refuse it. A layer
/// with sinks has no plan once its window has moved on, since a plan here has one base position.
class NativeCache final : public Cache, public SequenceControl, public SequencePlanner {
 public:
  /// Takes over the caller's reference.
  explicit NativeCache(kvc_cache_t* cache) : cache_(cache) {}
  NativeCache(const NativeCache&) = delete;
  NativeCache& operator=(const NativeCache&) = delete;
  ~NativeCache() override { kvc_cache_release(cache_); }

  int capacity() const override {
    std::uint32_t capacity = 0;
    patiently([&] { return kvc_capacity(cache_, &capacity); });
    return capacity < INT_MAX ? static_cast<int>(capacity) : INT_MAX;
  }

  void clear() override {
    patiently([&] { return kvc_clear(cache_); });
  }

  bool can_extend(int n = 1) const override {
    if (n < 1) return n == 0;
    bool can = false;
    patiently([&] { return kvc_can_extend(cache_, static_cast<std::uint32_t>(n), &can); });
    return can;
  }

  bool rewind(int new_len) override {
    return new_len >= 0 && patiently([&] { return kvc_rewind(cache_, static_cast<std::uint32_t>(new_len)); }) == KVC_OK;
  }

  std::optional<SeqStepPlan> plan(int layer, int position, int T) const override {
    kvc_seq_plan_t plan;
    return native_plan(layer, position, T, plan) ? to_step_plan(plan) : std::nullopt;
  }

  void commit(const SeqStepPlan& plan) override {
    const std::optional<Span> step = span_of(plan);
    if (!step) return;
    // The plan names no step of kvcore; planning the step again does. An older one is refused, and needs no commit:
    // the length is beyond it.
    kvc_seq_plan_t native;
    const auto n = static_cast<int>(step->end - step->begin);
    if (!native_plan(0, static_cast<int>(step->begin), n, native)) return;
    patiently([&] { return kvc_seq_commit(cache_, &native, native.n_tokens); });
  }

 protected:
  void* face(FaceId id) override {
    std::uint32_t kind = 0;
    if (kvc_cache_kind(cache_, &kind) != KVC_OK || kind != KVC_KIND_SEQUENCE) return nullptr;
    return expose<SequenceControl, SequencePlanner>(this, id);
  }

 private:
  bool native_plan(int layer, int position, int n, kvc_seq_plan_t& plan) const {
    if (layer < 0 || position < 0 || n < 1) return false;
    return patiently([&] {
             return kvc_seq_plan(cache_, static_cast<std::uint32_t>(layer), static_cast<std::uint32_t>(position),
                                 static_cast<std::uint32_t>(n), &plan);
           }) == KVC_OK;
  }

  kvc_cache_t* const cache_;
};

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_NATIVE_CACHE_H
