// A builder has static lifetime, and so have its lambdas.
#include <kvcore.hpp>

kvc::Status add(kvc::Registry registry);
kvc::Status add(kvc::Registry registry) {
#ifdef CONTROL
  static
#endif
      constexpr kvc::Builder builder{
          "mine", "kind", [](const kvc::Config& config) { return kvc::sequence_size(config); },
          [](const kvc::Config& config, kvc::Storage at) { return kvc::sequence_in(at, config); }};
  return registry.register_builder<builder>();  // must not compile
}
