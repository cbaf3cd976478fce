// A cache with in-object storage stays where it is.
#include <kvcore.hpp>

void use(kvc::SequenceCache<2>& cache);
void use(kvc::SequenceCache<2>& cache) {
#ifdef CONTROL
  kvc::SequenceCache<2>& same = cache;
  same.reset();
#else
  kvc::SequenceCache<2> moved = static_cast<kvc::SequenceCache<2>&&>(cache);  // must not compile
#endif
}
