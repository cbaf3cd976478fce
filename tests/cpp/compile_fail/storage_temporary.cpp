// Storage must outlive what is built in it.
#include <kvcore.hpp>

kvc::Result<kvc::Registry> build();
kvc::Result<kvc::Registry> build() {
#ifdef CONTROL
  static kvc::Buffer<4096> buffer;
  return kvc::Registry::build_in(buffer);
#else
  return kvc::Registry::build_in(kvc::Buffer<4096>());  // must not compile
#endif
}
