/// The state of a cache of private rows, behind the faces of `BatchedSequenceCache`.
#ifndef KVCORE_COMPAT_CACHE_ROWS_CORE_H
#define KVCORE_COMPAT_CACHE_ROWS_CORE_H

#include <executorch/extension/llm/cache/detail/batch_core.h>
#include <executorch/extension/llm/cache/detail/seq_span.h>

#include <type_traits>
#include <utility>
#include <vector>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {
namespace detail {

/// kvcore's private-row cache, and the steps that it placed. Every call is atomic.
class RowsCore {
 public:
  /// As many as kvcore has: some 20 bytes each, which is less trouble than a table that grows.
  static constexpr std::uint32_t kMaxSeqs = 4096;

  explicit RowsCore(const CacheConfig& config)
      : core_({kvc_rows_size, kvc_rows_init, kMaxSeqs, 0, true}, config), steps_(core_.windows().layers().size()) {}

  BatchCore& core() { return core_; }
  const BatchCalls& calls() const { return core_.calls(); }

  void clear() {
    verb([&] { return calls().clear(); });
  }
  bool declare_step(const std::vector<std::int32_t>& seq_ids) {
    return verb([&] { return calls().declare_step(seq_ids); });
  }
  std::optional<std::int32_t> seq_new() {
    return verb([&] { return calls().seq_new(); });
  }
  std::optional<std::int32_t> seq_clone(std::int32_t src, std::optional<int> upto) {
    return verb([&] { return calls().seq_clone(src, upto); });
  }
  bool seq_rm(std::int32_t seq) {
    return verb([&] { return calls().seq_release(seq); });
  }
  bool rewind(std::int32_t seq, int new_len) {
    if (new_len < 0) return accepted(KVC_ERR_INVALID_ARGUMENT);
    return verb([&] { return calls().rewind(seq, static_cast<std::uint32_t>(new_len)); });
  }

  const std::vector<SeqSpan>* place_step(int layer, const std::int32_t* positions, int length) {
    return core_.alone([&]() -> const std::vector<SeqSpan>* {
      const std::optional<std::uint32_t> window = core_.windows().of(layer);
      const std::optional<std::vector<std::uint32_t>> wanted = BatchCalls::to_positions(positions, length);
      if (!window || !wanted) return nullptr;
      std::optional<std::vector<SeqSpan>>& step = steps_[*window];
      if (step && placed_ == *wanted) return &*step;
      std::optional<std::vector<SeqSpan>> made = place_spans(core_.cache(), *window, *wanted);
      if (!made) return nullptr;
      placed_ = *wanted;
      step = std::move(made);
      return &*step;
    });
  }

 private:
  /// What changes sequences ends the step when it succeeds.
  template <class Call>
  std::invoke_result_t<Call> verb(Call call) {
    return core_.alone([&] {
      std::invoke_result_t<Call> result = call();
      if (result) {
        for (std::optional<std::vector<SeqSpan>>& step : steps_) step.reset();
      }
      return result;
    });
  }

  BatchCore core_;
  std::vector<std::uint32_t> placed_;                      // positions of the placed step
  std::vector<std::optional<std::vector<SeqSpan>>> steps_;  // one for each window, once it was asked for
};

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_ROWS_CORE_H
