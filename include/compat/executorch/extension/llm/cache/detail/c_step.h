/// The protocol of kvcore's C interface over a planner that has none: one newest step, with an epoch.
#ifndef KVCORE_COMPAT_CACHE_C_STEP_H
#define KVCORE_COMPAT_CACHE_C_STEP_H

#include <cstdint>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {
namespace detail {

/// The newest step that C planned.
struct CStep {
  static constexpr std::uint32_t kPending = UINT32_MAX;

  std::uint32_t position = 0;
  std::uint32_t n_tokens = 0;         ///< 0: there is none.
  std::uint32_t accepted = kPending;  ///< Tokens that were kept, once committed.
  std::uint32_t epoch = 0;            ///< 0 stays free for plans that no cache made.
  std::uint32_t rewinds = 0;          ///< Of the cache, when the step began.
  int layer = 0;                      ///< The layer that it was planned for first.

  /// Planning it again is the same step: it is open, or was kept whole.
  bool is_same(std::uint32_t at, std::uint32_t n, std::uint32_t rewinds_now) const {
    return n == n_tokens && at == position && rewinds_now == rewinds &&
           (accepted == kPending || accepted == n_tokens);
  }

  /// A step after this one.
  CStep next(std::uint32_t at, std::uint32_t n, std::uint32_t rewinds_now, int for_layer) const {
    const std::uint32_t next_epoch = epoch == UINT32_MAX ? 1 : epoch + 1;
    return {at, n, kPending, next_epoch, rewinds_now, for_layer};
  }
};

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_C_STEP_H
