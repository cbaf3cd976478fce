// "It answered" is not "it answered yes".
#include <kvcore.hpp>

bool fits(const kvc::SequenceControl& control);
bool fits(const kvc::SequenceControl& control) {
#ifdef CONTROL
  if (control.can_extend(1).value()) return true;
#else
  if (control.can_extend(1)) return true;  // must not compile
#endif
  return false;
}
