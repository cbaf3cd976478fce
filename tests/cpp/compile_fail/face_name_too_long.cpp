// A name has at most 63 bytes.
#include <kvcore.hpp>

struct Pool {
  static constexpr const char* kFaceName = "123456789 123456789 123456789 123456789 123456789 123456789 123"
#ifndef CONTROL
                                           "4"
#endif
      ;
};

kvc::Result<Pool*> find(const kvc::Cache& cache);
kvc::Result<Pool*> find(const kvc::Cache& cache) {
  return cache.face<Pool>();  // must not compile
}
