// Which class a face is found as must be said: a derived object would go in at one address and come out at another.
#include <kvcore.hpp>

struct Pool {
  static constexpr const char* kFaceName = "mine.pool";
};
struct Backend : Pool {};

kvc::Status attach(const kvc::Cache& cache, Backend& backend);
kvc::Status attach(const kvc::Cache& cache, Backend& backend) {
#ifdef CONTROL
  return cache.set_face<Pool>(backend);
#else
  return cache.set_face(backend);  // must not compile
#endif
}
