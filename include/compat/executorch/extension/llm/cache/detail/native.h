/// Caches that C installed as C++ sees them.
#ifndef KVCORE_COMPAT_CACHE_NATIVE_H
#define KVCORE_COMPAT_CACHE_NATIVE_H

#include <executorch/extension/llm/cache/detail/native_batch.h>
#include <executorch/extension/llm/cache/detail/native_cache.h>

#include <memory>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {
namespace detail {

/// An adapter with the faces of the cache's family. Takes over the caller's reference.
inline std::shared_ptr<Cache> adapted(kvc_cache_t* cache) {
  std::uint32_t kind = 0;
  const bool known = kvc_cache_kind(cache, &kind) == KVC_OK;
  if (known && kind == KVC_KIND_CELLS) return std::make_shared<NativeCells>(cache);
  if (known && kind == KVC_KIND_ROWS) return std::make_shared<NativeRows>(cache);
  return std::make_shared<NativeCache>(cache);
}

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_NATIVE_H
