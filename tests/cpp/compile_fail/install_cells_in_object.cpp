// Cells in an object cannot be installed either.
#include <kvcore.hpp>

kvc::Status install(kvc::Registry registry, kvc::Buffer<4096>& storage, const kvc::Config& config);
kvc::Status install(kvc::Registry registry, kvc::Buffer<4096>& storage, const kvc::Config& config) {
#ifdef CONTROL
  return registry.install("batch", kvc::CellCache<4096>::build_in(storage, config).value());
#else
  static_cast<void>(storage);
  kvc::CellCache<4096> cache;
  cache.init(config).ignore();
  return registry.install("batch", cache);  // must not compile
#endif
}
