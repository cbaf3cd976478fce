// A config borrows its layers: a temporary array would be gone at the end of the line.
#include <kvcore.hpp>
#include <vector>

kvc::Config model(const std::vector<kvc::Layer>& layers);
kvc::Config model(const std::vector<kvc::Layer>& layers) {
#ifdef CONTROL
  return kvc::Config::of(64, layers);
#else
  return kvc::Config::of(64, std::vector<kvc::Layer>(layers));  // must not compile
#endif
}
