/// ExecuTorch's cache registry and cache builders, source compatible, on kvcore's global registry.
///
/// A cache that an `InstallGuard` installs stands in `kvc_registry_global()` as an external cache: C code that looks
/// its key up works with it through `kvc_…` calls (see `detail::CView` for what they answer). The other way round,
/// `CacheRegistry::get` finds a cache that C installed (see `detail::adapted`).
///
/// Needs the headers of ExecuTorch's runtime.
#ifndef EXECUTORCH_EXTENSION_LLM_CACHE_CACHE_REGISTRY_H
#define EXECUTORCH_EXTENSION_LLM_CACHE_CACHE_REGISTRY_H

#include <executorch/extension/llm/cache/cache.h>
#include <executorch/extension/llm/cache/detail/c_view.h>
#include <executorch/extension/llm/cache/detail/native.h>
#include <executorch/extension/llm/cache/detail/patience.h>
#include <executorch/runtime/backend/options.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/assert.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {

/// The load-time backend option that carries a cache's key.
inline constexpr char kCacheKeyOption[] = "llm_cache_registry_key";

/// Key to cache: where a host and a backend meet. Any thread.
class CacheRegistry {
 public:
  static CacheRegistry& global() {
    static CacheRegistry registry;
    return registry;
  }

  /// The cache under a key, null if there is none. A cache of C++ is the very one that was installed; for one that
  /// C installed this is an adapter, a new one each time.
  std::shared_ptr<Cache> get(const std::string& key) const {
    if (key.find('\0') != std::string::npos) return nullptr;
    kvc_cache_t* found = nullptr;
    kvc_registry_t* const registry = kvc_registry_global();
    if (detail::patiently([&] { return kvc_registry_get(registry, key.c_str(), &found); }) != KVC_OK) return nullptr;
    void* view = nullptr;
    const kvc_status_t own =
        detail::patiently([&] { return kvc_cache_face(found, detail::CView::kFaceName, &view); });
    if (own == KVC_ERR_NOT_FOUND) return detail::adapted(found);
    std::shared_ptr<Cache> cache;
    if (own == KVC_OK) cache = static_cast<detail::CView*>(view)->cache();
    kvc_cache_release(found);
    return cache;
  }

  CacheRegistry(const CacheRegistry&) = delete;
  CacheRegistry& operator=(const CacheRegistry&) = delete;

 private:
  friend class InstallGuard;
  CacheRegistry() = default;

  /// Under a key that nobody has. `session` is the entry; without success it is closed.
  kvc_status_t install(std::shared_ptr<Cache> cache, kvc_session_t& session) const {
    kvc_cache_t* const view = detail::CView::create(std::move(cache));
    if (view == nullptr) return KVC_ERR_OUT_OF_CAPACITY;
    kvc_registry_t* const registry = kvc_registry_global();
    const kvc_status_t status =
        detail::patiently([&] { return kvc_session_open(&session, registry, nullptr, view); });
    // The entry has a reference of its own; without an entry the view ends here.
    kvc_cache_release(view);
    return status;
  }

  void erase(kvc_session_t& session) const {
    detail::patiently([&] { return kvc_session_close(&session); });
  }
};

/// Kinds of caches that a host may ask a builder for.
namespace kind {
inline constexpr char kSingle[] = "single";                    ///< One sequence.
inline constexpr char kBatchedCell[] = "batched-cell";         ///< Many sequences over shared cells.
inline constexpr char kBatchedSequence[] = "batched-sequence"; ///< Many sequences with rows of their own.
}  // namespace kind

/// Builds a cache; null when it cannot.
using CacheBuilder = std::function<std::shared_ptr<Cache>(const CacheConfig&)>;

/// (backend id, kind) to builder. Any thread.
class CacheFactory {
 public:
  CacheFactory() = default;
  CacheFactory(const CacheFactory&) = delete;
  CacheFactory& operator=(const CacheFactory&) = delete;

  static CacheFactory& global() {
    static CacheFactory factory;
    return factory;
  }

  /// `InvalidArgument` for an empty builder, and when the pair has one.
  runtime::Error register_builder(const std::string& backend_id, const std::string& kind, CacheBuilder builder) {
    if (!builder) return runtime::Error::InvalidArgument;
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool is_new = builders_.try_emplace({backend_id, kind}, std::move(builder)).second;
    return is_new ? runtime::Error::Ok : runtime::Error::InvalidArgument;
  }

  /// A cache of this kind. `NotFound` without a builder, `InvalidArgument` for a config that is not `valid`,
  /// `Internal` when the builder answers null. The builder runs outside the lock.
  runtime::Result<std::shared_ptr<Cache>> build(const std::string& backend_id, const std::string& kind,
                                                const CacheConfig& config) const {
    const CacheBuilder builder = find(backend_id, kind);
    if (!builder) return runtime::Error::NotFound;
    if (!valid(config)) return runtime::Error::InvalidArgument;
    std::shared_ptr<Cache> cache = builder(config);
    if (cache == nullptr) return runtime::Error::Internal;
    return cache;
  }

 private:
  CacheBuilder find(const std::string& backend_id, const std::string& kind) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = builders_.find({backend_id, kind});
    return at == builders_.end() ? CacheBuilder() : at->second;
  }

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, CacheBuilder> builders_;
};

/// Installs a cache under a new key, for as long as the guard lives. A backend that found the cache keeps it longer.
class InstallGuard {
 public:
  /// A null cache is a fatal error. So is nothing else: with a full registry (`KVC_MAX_CACHES` entries) nothing is
  /// installed, and `set_option` says so.
  InstallGuard(std::shared_ptr<Cache> cache) {
    ET_CHECK_MSG(cache != nullptr, "Cannot install a null cache");
    status_ = CacheRegistry::global().install(std::move(cache), session_);
  }
  InstallGuard(const InstallGuard&) = delete;
  InstallGuard& operator=(const InstallGuard&) = delete;
  ~InstallGuard() { CacheRegistry::global().erase(session_); }

  /// Sets `kCacheKeyOption` to the key. `OutOfResources` when the cache could not be installed.
  template <std::size_t N>
  runtime::Error set_option(runtime::BackendOptions<N>& options) const {
    if (status_ != KVC_OK) return runtime::Error::OutOfResources;
    return options.set_option(kCacheKeyOption, static_cast<const char*>(session_.key));
  }

 private:
  kvc_session_t session_ = {};
  kvc_status_t status_ = KVC_OK;
};

}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // EXECUTORCH_EXTENSION_LLM_CACHE_CACHE_REGISTRY_H
