/// A cache of kvcore of many sequences, built from ExecuTorch's config.
#ifndef KVCORE_COMPAT_CACHE_BATCH_CORE_H
#define KVCORE_COMPAT_CACHE_BATCH_CORE_H

#include <executorch/extension/llm/cache/cache.h>
#include <executorch/extension/llm/cache/detail/batch_calls.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {
namespace detail {

/// The different windows of a model, each as one layer of kvcore: heads and the number of layers do not matter there.
class Windows {
 public:
  explicit Windows(const CacheConfig& config) : n_layers_(config.n_layers) {
    for (const LayerConfig& layer : config.layers) of_.push_back(find(layer.policy.window));
  }

  const std::vector<kvc_layer_t>& layers() const { return layers_; }
  bool has_ring() const {
    return std::any_of(layers_.begin(), layers_.end(), [](const kvc_layer_t& l) { return l.kind == KVC_LAYER_RING; });
  }
  /// Which of them a layer has; none, which is noted, for a layer that there is not.
  std::optional<std::uint32_t> of(int layer) const {
    if (layer < 0 || layer >= n_layers_) {
      accepted(KVC_ERR_BAD_LAYER);
      return std::nullopt;
    }
    return of_.size() == 1 ? of_[0] : of_[static_cast<std::size_t>(layer)];
  }

 private:
  std::uint32_t find(int window) {
    const auto wanted = static_cast<std::uint32_t>(window);
    const auto same = [wanted](const kvc_layer_t& layer) { return layer.window == wanted; };
    const auto at = std::find_if(layers_.begin(), layers_.end(), same);
    const auto index = static_cast<std::uint32_t>(at - layers_.begin());
    if (at == layers_.end()) {
      kvc_layer_t layer = {};
      layer.kind = window > 0 ? KVC_LAYER_RING : KVC_LAYER_FLAT;
      layer.window = wanted;
      layers_.push_back(layer);
    }
    return index;
  }

  int n_layers_;
  std::vector<std::uint32_t> of_;  // one entry for all layers, or one for each
  std::vector<kvc_layer_t> layers_;
};

/// What the two caches of many sequences have in common: the cache of kvcore, and which step is the newest.
///
/// It is also a face, for the C interface: that asks for more than ExecuTorch's faces tell.
class BatchCore {
 public:
  static constexpr const char* kFaceName = "kvcore.cache.BatchCore";

  /// How kvcore sizes and builds the kind.
  struct Kind {
    kvc_status_t (*size)(const kvc_config_t*, std::size_t*);
    kvc_status_t (*init)(void*, std::size_t, const kvc_config_t*, kvc_cache_t**);
    std::uint32_t max_seqs;
    std::uint32_t flags;
    bool has_rings;  ///< Windows are rings, whose steps have a bound; cells take any step.
  };

  /// Without a cache, which refuses everything, for a config that is not valid, has more than `KVC_MAX_GROUPS`
  /// different windows, or asks for more memory than there is.
  BatchCore(const Kind& kind, const CacheConfig& config)
      : windows_(valid(config) ? config : CacheConfig()), calls_(build(kind, config)) {}
  BatchCore(const BatchCore&) = delete;
  BatchCore& operator=(const BatchCore&) = delete;
  ~BatchCore() {
    if (calls_.cache() != nullptr) kvc_cache_release(calls_.cache());
  }

  const BatchCalls& calls() const { return calls_; }
  kvc_cache_t* cache() const { return calls_.cache(); }
  const Windows& windows() const { return windows_; }

  /// Runs `use` while no other call of the cache does. The lock is one that an event hook of kvcore may take again.
  template <class Use>
  auto alone(Use use) const {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    return use();
  }

 private:
  kvc_cache_t* build(const Kind& kind, const CacheConfig& config) {
    kvc_config_t native = kvc_config_default();
    native.capacity = static_cast<std::uint32_t>(std::max(0, config.capacity));
    native.n_layers = native.n_layer_entries = static_cast<std::uint32_t>(windows_.layers().size());
    native.layers = windows_.layers().data();
    // Without a ring kvcore would bound the steps of flat layers.
    const bool bounded = kind.has_rings && windows_.has_ring();
    native.max_write = bounded ? static_cast<std::uint32_t>(config.max_write.value_or(0)) : 0;
    native.max_context = static_cast<std::uint32_t>(config.max_context.value_or(0));
    native.initial_capacity = static_cast<std::uint32_t>(std::max(0, config.initial_capacity));
    native.max_seqs = kind.max_seqs;
    native.flags = kind.flags;
    std::size_t size = 0;
    if (windows_.layers().empty() || kind.size(&native, &size) != KVC_OK) return nullptr;
    storage_.reset(new (std::nothrow) std::uint64_t[size / sizeof(std::uint64_t) + 1]);
    kvc_cache_t* cache = nullptr;
    if (storage_ == nullptr || kind.init(storage_.get(), size, &native, &cache) != KVC_OK) return nullptr;
    return cache;
  }

  Windows windows_;
  std::unique_ptr<std::uint64_t[]> storage_;
  BatchCalls calls_;
  mutable std::recursive_mutex mutex_;
};

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_BATCH_CORE_H
