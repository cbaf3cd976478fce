// Nor is there a counted reference to it.
#include <kvcore.hpp>

void use(kvc::SequenceCache<2>& cache);
void use(kvc::SequenceCache<2>& cache) {
#ifdef CONTROL
  const kvc::SequenceControl control = cache.sequence_control();
  control.clear().ignore();
#else
  const kvc::Cache reference = cache;  // must not compile
#endif
}
