/// The spans of a step with private rows, and their conversion from kvcore's.
#ifndef KVCORE_COMPAT_CACHE_SEQ_SPAN_H
#define KVCORE_COMPAT_CACHE_SEQ_SPAN_H

#include <executorch/extension/llm/cache/detail/batch_calls.h>
#include <executorch/extension/llm/cache/detail/step_plan.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {

/// Consecutive tokens of one sequence in a step.
struct SeqSpan {
  std::int32_t seq_id = 0;
  int q_len = 0;       ///< Tokens.
  SeqStepPlan plan{};  ///< Over the rows of this sequence's own pool.
};

/// The backend's side of a cache of many sequences with private rows.
class SeqSpanStepper {
 public:
  static constexpr const char* kFaceName = "et.cache.SeqSpanStepper";

  virtual ~SeqSpanStepper() = default;

  /// Places the declared step and plans it for one layer: the declared ids, run-length encoded, each span planned
  /// against its sequence's own history. The spans are the cache's, and good until its next verb. Null when nothing is
  /// declared, for another number of tokens than declared, for positions that do not continue each sequence without a
  /// gap, and for a bad layer.
  virtual const std::vector<SeqSpan>* place_step(int layer, const std::int32_t* positions, int length) = 0;
};

namespace detail {

/// Places the declared step in a layer of a cache of kvcore.
inline std::optional<std::vector<SeqSpan>> place_spans(kvc_cache_t* cache, std::uint32_t layer,
                                                       const std::vector<std::uint32_t>& positions) {
  const auto n = static_cast<std::uint32_t>(positions.size());
  std::vector<kvc_span_t> parts(n);
  std::uint32_t count = 0;
  if (!try_call([&] { return kvc_rows_place_step(cache, layer, positions.data(), n, parts.data(), n, &count); })) {
    return std::nullopt;
  }
  std::vector<SeqSpan> spans;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::optional<SeqStepPlan> plan = to_step_plan(parts[i].plan);
    if (!plan) {
      accepted(KVC_ERR_UNSUPPORTED);
      return std::nullopt;
    }
    spans.push_back({static_cast<std::int32_t>(parts[i].seq), static_cast<int>(parts[i].n_tokens), *plan});
  }
  return spans;
}

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_SEQ_SPAN_H
