// The names of a builder are constants: registered names are borrowed for good.
#include <kvcore.hpp>

const char* name_at_run_time();

kvc::Status add(kvc::Registry registry);
kvc::Status add(kvc::Registry registry) {
  static
#ifdef CONTROL
      constexpr
#endif
      const kvc::Builder builder{
#ifdef CONTROL
          "mine",
#else
          name_at_run_time(),
#endif
          "kind", [](const kvc::Config& config) { return kvc::sequence_size(config); },
          [](const kvc::Config& config, kvc::Storage at) { return kvc::sequence_in(at, config); }};
  return registry.register_builder<builder>();  // must not compile
}
