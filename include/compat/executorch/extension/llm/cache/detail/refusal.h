/// Why a call was refused: ExecuTorch's interface says only that it was.
#ifndef KVCORE_COMPAT_CACHE_REFUSAL_H
#define KVCORE_COMPAT_CACHE_REFUSAL_H

#include <executorch/extension/llm/cache/detail/patience.h>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {
namespace detail {

/// What kvcore answered when it last refused a call of this thread. C, which wants to know, sets it to `KVC_OK` before
/// it asks a C++ cache, and looks afterwards (`CBatchView`).
inline kvc_status_t& refusal() {
  thread_local kvc_status_t status = KVC_OK;
  return status;
}

/// False for a refusal, which it notes.
inline bool accepted(kvc_status_t status) {
  if (status != KVC_OK) refusal() = status;
  return status == KVC_OK;
}

/// Calls, as often as `patiently` does. False when it is refused.
template <class Call>
bool try_call(Call call) {
  return accepted(patiently(call));
}

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_REFUSAL_H
