// 0 is success, so neither reading of a status as a condition is right.
#include <kvcore.hpp>

bool back(const kvc::SequenceControl& control);
bool back(const kvc::SequenceControl& control) {
#ifdef CONTROL
  if (control.rewind(0).ok()) return true;
#else
  if (control.rewind(0)) return true;  // must not compile
#endif
  return false;
}
