/// Calls again what answers `KVC_ERR_BUSY`.
#ifndef KVCORE_COMPAT_CACHE_PATIENCE_H
#define KVCORE_COMPAT_CACHE_PATIENCE_H

#include <kvcore.h>

#include <thread>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {
namespace detail {

/// kvcore never waits for long: `KVC_ERR_BUSY` means that a lock stayed held. ExecuTorch's interface has no word for
/// that, so this asks again, a bounded number of times.
template <class Call>
kvc_status_t patiently(Call call) {
  kvc_status_t status = call();
  for (int tries = 0; status == KVC_ERR_BUSY && tries < 64; ++tries) {
    std::this_thread::yield();
    status = call();
  }
  return status;
}

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_PATIENCE_H
