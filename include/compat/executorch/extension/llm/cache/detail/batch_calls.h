/// kvcore's calls of many sequences with ExecuTorch's types.
#ifndef KVCORE_COMPAT_CACHE_BATCH_CALLS_H
#define KVCORE_COMPAT_CACHE_BATCH_CALLS_H

#include <executorch/extension/llm/cache/detail/refusal.h>

#include <climits>
#include <cstdint>
#include <optional>
#include <vector>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {
namespace detail {

/// The host's side of a cache of kvcore of many sequences, cells or private rows. Borrows the cache. Without one it
/// refuses everything. (A negative id becomes one that no sequence has.)
class BatchCalls {
 public:
  explicit BatchCalls(kvc_cache_t* cache) : cache_(cache) {}

  kvc_cache_t* cache() const { return cache_; }

  int capacity() const {
    return ask([&](std::uint32_t* out) { return kvc_capacity(cache_, out); });
  }
  bool clear() const {
    return try_call([&] { return kvc_clear(cache_); });
  }

  bool declare_step(const std::vector<std::int32_t>& seq_ids) const {
    const std::vector<std::uint32_t> ids(seq_ids.begin(), seq_ids.end());
    return try_call([&] { return kvc_batch_declare_step(cache_, ids.data(), static_cast<std::uint32_t>(ids.size())); });
  }
  /// No tokens fit into every sequence that there is.
  bool can_admit(std::int32_t seq, int n) const {
    if (n <= 0) return n == 0 && is_live(seq);
    const auto tokens = static_cast<std::uint32_t>(n);
    bool can = false;
    return try_call([&] { return kvc_batch_can_admit(cache_, id(seq), tokens, &can); }) && can;
  }

  std::optional<std::int32_t> seq_new() const {
    std::uint32_t made = 0;
    if (!try_call([&] { return kvc_batch_seq_new(cache_, &made); })) return std::nullopt;
    return static_cast<std::int32_t>(made);
  }
  std::optional<std::int32_t> seq_clone(std::int32_t src, std::optional<int> upto) const {
    if (upto && *upto < 0) {
      accepted(KVC_ERR_INVALID_ARGUMENT);
      return std::nullopt;
    }
    const std::uint32_t end = upto ? static_cast<std::uint32_t>(*upto) : KVC_UNBOUNDED;
    std::uint32_t made = 0;
    if (!try_call([&] { return kvc_batch_seq_clone(cache_, id(src), end, &made); })) return std::nullopt;
    return static_cast<std::int32_t>(made);
  }
  bool seq_release(std::int32_t seq) const {
    return try_call([&] { return kvc_batch_seq_release(cache_, id(seq)); });
  }
  bool rewind(std::int32_t seq, std::uint32_t new_len) const {
    return try_call([&] { return kvc_batch_rewind(cache_, id(seq), new_len); });
  }

  bool is_live(std::int32_t seq) const {
    std::uint32_t next = 0;
    return try_call([&] { return kvc_batch_next_pos(cache_, id(seq), &next); });
  }
  /// 0 for an unknown sequence; so the other one.
  int seq_len(std::int32_t seq) const {
    return ask([&](std::uint32_t* out) { return kvc_batch_seq_len(cache_, id(seq), out); });
  }
  int next_pos(std::int32_t seq) const {
    return ask([&](std::uint32_t* out) { return kvc_batch_next_pos(cache_, id(seq), out); });
  }
  int free_rows() const {
    return ask([&](std::uint32_t* out) { return kvc_batch_free_rows(cache_, out); });
  }

  /// The positions of a step for C; none when they cannot be such.
  static std::optional<std::vector<std::uint32_t>> to_positions(const std::int32_t* positions, int length) {
    if (positions == nullptr || length < 1) {
      accepted(KVC_ERR_INVALID_ARGUMENT);
      return std::nullopt;
    }
    std::vector<std::uint32_t> all;
    for (int i = 0; i < length; ++i) {
      if (positions[i] < 0) {
        accepted(KVC_ERR_BAD_POSITION);
        return std::nullopt;
      }
      all.push_back(static_cast<std::uint32_t>(positions[i]));
    }
    return all;
  }

 private:
  static std::uint32_t id(std::int32_t seq) { return static_cast<std::uint32_t>(seq); }

  template <class Call>
  static int ask(Call call) {
    std::uint32_t number = 0;
    try_call([&] { return call(&number); });
    return number < INT_MAX ? static_cast<int>(number) : INT_MAX;
  }

  kvc_cache_t* cache_;
};

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_BATCH_CALLS_H
