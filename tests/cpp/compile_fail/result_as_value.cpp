// A result is no value.
#include <kvcore.hpp>

std::uint32_t length(const kvc::SequenceControl& control);
std::uint32_t length(const kvc::SequenceControl& control) {
#ifdef CONTROL
  return control.length().value_or(0);
#else
  return control.length();  // must not compile
#endif
}
