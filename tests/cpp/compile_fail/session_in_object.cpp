// Nor can it be opened as a session.
#include <kvcore.hpp>

kvc::Result<kvc::Session> open(kvc::Registry registry, kvc::SequenceStorage<2>& storage);
kvc::Result<kvc::Session> open(kvc::Registry registry, kvc::SequenceStorage<2>& storage) {
#ifdef CONTROL
  return kvc::Session::open(registry, kvc::RingCache<2>::build_in(storage, 8).value());
#else
  static_cast<void>(storage);
  kvc::RingCache<2> cache;
  return kvc::Session::open(registry, cache);  // must not compile
#endif
}
