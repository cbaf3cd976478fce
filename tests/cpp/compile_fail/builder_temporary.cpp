// A lambda that captures what is on the stack cannot become a builder.
#include <kvcore.hpp>

kvc::Status add(kvc::Registry registry, std::uint32_t rollback);
kvc::Status add(kvc::Registry registry, std::uint32_t rollback) {
#ifdef CONTROL
  static_cast<void>(rollback);
  static constexpr kvc::Builder builder{
      "mine", "kind", [](const kvc::Config& config) { return kvc::sequence_size(config); },
      [](const kvc::Config& config, kvc::Storage at) { return kvc::sequence_in(at, config.with_rollback(4)); }};
#else
  static constexpr kvc::Builder builder{  // must not compile
      "mine", "kind", [](const kvc::Config& config) { return kvc::sequence_size(config); },
      [&rollback](const kvc::Config& config, kvc::Storage at) {
        return kvc::sequence_in(at, config.with_rollback(rollback));
      }};  // must not compile
#endif
  return registry.register_builder<builder>();
}
