// Storage of another size is another type.
#include <kvcore.hpp>

#ifdef CONTROL
kvc::SequenceStorage<26> storage;
#else
kvc::SequenceStorage<20> storage;
#endif

kvc::Result<kvc::Cache> build();
kvc::Result<kvc::Cache> build() {
  return kvc::FlatCache<26>::build_in(storage, 4096);  // must not compile
}
