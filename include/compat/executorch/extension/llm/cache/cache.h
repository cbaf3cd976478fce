/// ExecuTorch's off-graph cache interface, source compatible: caches and their faces, and the config of a cache.
///
/// Needs the C++17 standard library only, no exceptions and no RTTI. `sequence_cache.h` beside it has the cache
/// itself, on kvcore.
#ifndef EXECUTORCH_EXTENSION_LLM_CACHE_CACHE_H
#define EXECUTORCH_EXTENSION_LLM_CACHE_CACHE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

// Code written against ExecuTorch may mark its own classes with this. Without the runtime's headers it says nothing.
#if __has_include(<executorch/runtime/platform/compiler.h>)
#include <executorch/runtime/platform/compiler.h>
#endif
#ifndef ET_EXPERIMENTAL
#define ET_EXPERIMENTAL
#endif

namespace executorch {
namespace extension {
namespace llm {
namespace cache {

// Faces.

/// Name of a face: an interface that a cache offers.
using FaceId = const char*;

/// Whether two ids name the same face. Null names none.
inline bool same_face(FaceId a, FaceId b) {
  return a != nullptr && b != nullptr && (a == b || std::strcmp(a, b) == 0);
}

/// The one of the faces `Fs` of `self` that `id` names, as the pointer that `Cache::face` answers; null if it names
/// none of them.
template <class... Fs, class Self>
void* expose([[maybe_unused]] Self* self, [[maybe_unused]] FaceId id) {
  void* found = nullptr;
  static_cast<void>(((same_face(id, Fs::kFaceName) && (found = static_cast<Fs*>(self), true)) || ...));
  return found;
}

/// A cache of any kind: something that offers faces.
class Cache {
 public:
  virtual ~Cache() = default;

  /// The face `T`, borrowed from the cache; null when it does not offer it.
  template <class T>
  T* as() {
    return static_cast<T*>(face(T::kFaceName));
  }

 protected:
  Cache() = default;
  Cache(const Cache&) = default;
  Cache& operator=(const Cache&) = default;

  /// Must answer a `T*` for the name of `T` (`expose` does), and null for a face that is not offered.
  virtual void* face(FaceId id) = 0;
};

/// What every host may ask of a cache.
class CacheControl {
 public:
  virtual ~CacheControl() = default;

  /// Positions or cells that it can hold.
  virtual int capacity() const = 0;
  /// Forgets everything.
  virtual void clear() = 0;
};

/// The host's side of a cache of one sequence.
class SequenceControl : public CacheControl {
 public:
  static constexpr const char* kFaceName = "et.cache.SequenceControl";

  /// Whether `n` more tokens fit.
  virtual bool can_extend(int n = 1) const = 0;
  /// Takes the length back to `new_len`; false, and nothing has changed, when that cannot be.
  virtual bool rewind(int new_len) = 0;
};

/// The host's side of a cache of many sequences.
class BatchControl : public CacheControl {
 public:
  static constexpr const char* kFaceName = "et.cache.BatchControl";

  /// Says which sequence each token of the next step belongs to; false when there is no room for it.
  virtual bool declare_step(const std::vector<int32_t>& seq_ids) = 0;
  /// Whether `n` more tokens of a sequence fit.
  virtual bool can_admit(int32_t seq, int n = 1) const = 0;
  /// Most sequences, if there is a bound.
  virtual std::optional<int> max_seqs() const = 0;
  /// A new, empty sequence.
  virtual std::optional<int32_t> seq_new() = 0;
  /// A new sequence that begins with the positions of `src` below `upto` (all of them without it).
  virtual std::optional<int32_t> seq_clone(int32_t src, std::optional<int> upto) = 0;
  /// Gives up a sequence and its id.
  virtual bool seq_rm(int32_t seq) = 0;
  /// Drops the positions of a sequence from `new_len` on.
  virtual bool rewind(int32_t seq, int new_len) = 0;
  /// Tokens that a sequence holds.
  virtual int seq_len(int32_t seq) const = 0;
  /// Its highest position + 1.
  virtual int next_pos(int32_t seq) const = 0;
};

// Config.

/// How long a layer keeps its history.
struct LayerPolicy {
  enum class Kind : int {
    Flat = 0,  ///< For good.
    Ring = 1,  ///< As long as a sliding window sees it.
  };
  Kind kind = Kind::Flat;
  int window = 0;  ///< Ring: positions that a query may attend to, itself included. Flat: 0.
};

/// One layer.
struct LayerConfig {
  LayerPolicy policy{};
  int n_kv_heads = 0;
  int head_dim = 0;
};

/// One config for every kind of cache.
struct CacheConfig {
  int capacity = 0;                   ///< Positions, or cells.
  int n_layers = 0;                   ///< Layers of the model.
  std::vector<LayerConfig> layers{};  ///< One for all layers, or one for each.
  int kv_dtype = 0;                   ///< Element type of the tensors, opaque here.
  int initial_capacity = 512;         ///< Rows that a growing pool starts with.
  std::optional<int> max_write{};     ///< Most tokens of a step on a ring layer; its window when not given.
  std::optional<int> max_context{};   ///< Positions that a sequence may reach, if bounded beside the capacity.
};

/// Whether a layer does not contradict itself.
inline bool valid(const LayerConfig& layer) {
  if (layer.n_kv_heads < 0 || layer.head_dim < 0) return false;
  switch (layer.policy.kind) {
    case LayerPolicy::Kind::Flat: return layer.policy.window == 0;
    case LayerPolicy::Kind::Ring: return layer.policy.window > 0;
  }
  return false;
}

/// Whether a config does not contradict itself.
inline bool valid(const CacheConfig& config) {
  if (config.capacity <= 0 || config.n_layers <= 0 || config.initial_capacity < 0) return false;
  if (config.max_write.value_or(1) <= 0 || config.max_context.value_or(1) <= 0) return false;
  const std::size_t entries = config.layers.size();
  if (entries != 1 && entries != static_cast<std::size_t>(config.n_layers)) return false;
  for (const LayerConfig& layer : config.layers) {
    if (!valid(layer)) return false;
  }
  return true;
}

}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // EXECUTORCH_EXTENSION_LLM_CACHE_CACHE_H
