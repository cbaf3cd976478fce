// The config that C gets points into the one of C++.
#include <kvcore.hpp>

kvc_status_t check();
kvc_status_t check() {
#ifdef CONTROL
  const kvc::Config config = kvc::Config::uniform(64, 1, kvc::Layer::flat());
  const kvc_config_t raw = config.raw();
#else
  const kvc_config_t raw = kvc::Config::uniform(64, 1, kvc::Layer::flat()).raw();  // must not compile
#endif
  return kvc_config_check(&raw);
}
