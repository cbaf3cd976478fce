// A session has one owner: a copy would erase the entry under the other's feet.
#include <kvcore.hpp>
#include <utility>

kvc::Session duplicate(kvc::Session& session);
kvc::Session duplicate(kvc::Session& session) {
#ifdef CONTROL
  return std::move(session);
#else
  return kvc::Session(session);  // must not compile
#endif
}
