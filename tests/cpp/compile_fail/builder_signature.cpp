// What a builder holds is called with a config and storage.
#include <kvcore.hpp>

constexpr kvc::Builder builder{  // must not compile
    "mine", "kind", [](const kvc::Config& config) { return kvc::sequence_size(config); },
#ifdef CONTROL
    [](const kvc::Config& config, kvc::Storage at) { return kvc::sequence_in(at, config); }
#else
    [](const kvc::Config& config) { return kvc::sequence_size(config); }
#endif
};  // must not compile
static_assert(builder.kind[0] == 'k');
