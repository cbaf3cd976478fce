// A face is found by the name of its class.
#include <kvcore.hpp>

struct Pool {
#ifdef CONTROL
  static constexpr const char* kFaceName = "mine.pool";
#endif
};

kvc::Result<Pool*> find(const kvc::Cache& cache);
kvc::Result<Pool*> find(const kvc::Cache& cache) {
  return cache.face<Pool>();  // must not compile
}
