// An attached object must outlive the call.
#include <kvcore.hpp>

struct Pool {
  static constexpr const char* kFaceName = "mine.pool";
};

kvc::Status attach(const kvc::Cache& cache);
kvc::Status attach(const kvc::Cache& cache) {
#ifdef CONTROL
  static Pool pool;
  return cache.set_face<Pool>(pool);
#else
  return cache.set_face<Pool>(Pool());  // must not compile
#endif
}
