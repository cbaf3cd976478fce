/// Caches of kvcore of many sequences as C++ sees them.
#ifndef KVCORE_COMPAT_CACHE_NATIVE_BATCH_H
#define KVCORE_COMPAT_CACHE_NATIVE_BATCH_H

#include <executorch/extension/llm/cache/cache.h>
#include <executorch/extension/llm/cache/detail/batch_calls.h>
#include <executorch/extension/llm/cache/detail/cell_step.h>
#include <executorch/extension/llm/cache/detail/seq_span.h>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {
namespace detail {

/// `BatchControl` over a cache that C installed, by kvcore's rules. It keeps one reference.
///
/// C may end a step without this hearing of it, so that a step is worked out anew for each layer that asks. It is good
/// until the next one that is placed for that layer, too.
template <class Stepper, class Step>
class NativeBatch : public Cache, public BatchControl, public Stepper {
 public:
  NativeBatch(const NativeBatch&) = delete;
  NativeBatch& operator=(const NativeBatch&) = delete;
  ~NativeBatch() override { kvc_cache_release(calls_.cache()); }

  int capacity() const override { return calls_.capacity(); }
  void clear() override { calls_.clear(); }

  bool declare_step(const std::vector<int32_t>& seq_ids) override { return calls_.declare_step(seq_ids); }
  bool can_admit(int32_t seq, int n = 1) const override { return calls_.can_admit(seq, n); }
  /// As the config says; an external cache does not tell.
  std::optional<int> max_seqs() const override {
    kvc_config_t config;
    const bool known = try_call([&] { return kvc_cache_config(calls_.cache(), &config); });
    return known ? std::optional<int>(static_cast<int>(config.max_seqs)) : std::nullopt;
  }
  std::optional<int32_t> seq_new() override { return calls_.seq_new(); }
  std::optional<int32_t> seq_clone(int32_t src, std::optional<int> upto) override {
    return calls_.seq_clone(src, upto);
  }
  bool seq_rm(int32_t seq) override { return calls_.seq_release(seq); }
  bool rewind(int32_t seq, int new_len) override {
    return new_len >= 0 && calls_.rewind(seq, static_cast<std::uint32_t>(new_len));
  }
  int seq_len(int32_t seq) const override { return calls_.seq_len(seq); }
  int next_pos(int32_t seq) const override { return calls_.next_pos(seq); }

 protected:
  /// Takes over the caller's reference.
  explicit NativeBatch(kvc_cache_t* cache) : calls_(cache) {}

  void* face(FaceId id) override { return expose<BatchControl, Stepper>(this, id); }

  /// What `place(cache, layer, positions)` makes, kept for its layer.
  template <class Place>
  const Step* keep(int layer, const std::int32_t* positions, int length, Place place) {
    const std::optional<std::vector<std::uint32_t>> wanted = BatchCalls::to_positions(positions, length);
    if (!wanted) return nullptr;
    std::optional<Step> made = place(calls_.cache(), static_cast<std::uint32_t>(layer), *wanted);
    if (!made) return nullptr;
    const std::lock_guard<std::mutex> lock(mutex_);
    Step& kept = steps_[layer];
    kept = std::move(*made);
    return &kept;
  }

 private:
  BatchCalls calls_;
  std::mutex mutex_;
  std::map<int, Step> steps_;
};

/// Over a cell cache. Pending shifts are the business of whoever shifts: ExecuTorch's faces do not.
class NativeCells final : public NativeBatch<CellStepper, CellStep> {
 public:
  explicit NativeCells(kvc_cache_t* cache) : NativeBatch(cache) {}
  const CellStep* place_step(int layer, const std::int32_t* positions, int length) override {
    return keep(layer, positions, length, place_cells);
  }
};

/// Over a private-row cache. A layer with sinks has no plan once its window has moved on (see `NativeCache`).
class NativeRows final : public NativeBatch<SeqSpanStepper, std::vector<SeqSpan>> {
 public:
  explicit NativeRows(kvc_cache_t* cache) : NativeBatch(cache) {}
  const std::vector<SeqSpan>* place_step(int layer, const std::int32_t* positions, int length) override {
    return keep(layer, positions, length, place_spans);
  }
};

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_NATIVE_BATCH_H
