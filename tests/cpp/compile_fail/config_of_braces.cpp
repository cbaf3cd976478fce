// Likewise an array that is only written down.
#include <kvcore.hpp>

constexpr kvc::Layer layers[] = {kvc::Layer::flat(), kvc::Layer::flat()};
#ifdef CONTROL
constexpr kvc::Config config = kvc::Config::of(64, layers);
#else
constexpr kvc::Config config = kvc::Config::of(64, {{layers[0], layers[1]}});  // must not compile
#endif
static_assert(config.capacity == 64);
