// A cache with in-object storage cannot be installed: references in the registry could outlive it.
#include <kvcore.hpp>

kvc::Status install(kvc::Registry registry, kvc::SequenceStorage<2>& storage);
kvc::Status install(kvc::Registry registry, kvc::SequenceStorage<2>& storage) {
#ifdef CONTROL
  return registry.install("chat", kvc::FlatCache<2>::build_in(storage, 64).value());
#else
  static_cast<void>(storage);
  kvc::FlatCache<2> cache;
  return registry.install("chat", cache);  // must not compile
#endif
}
