// A status must be looked at.
#include <kvcore.hpp>

void rewind(const kvc::SequenceControl& control);
void rewind(const kvc::SequenceControl& control) {
#ifdef CONTROL
  control.rewind(3).ignore();
#else
  control.rewind(3);  // must not compile
#endif
}
