// The key is in the session, which erases the entry at the end of the line.
#include <kvcore.hpp>

bool open(kvc::Registry registry, const kvc::Cache& cache);
bool open(kvc::Registry registry, const kvc::Cache& cache) {
#ifdef CONTROL
  const kvc::Session session = kvc::Session::open(registry, cache).value();
  const char* key = session.key();
#else
  const char* key = kvc::Session::open(registry, cache).value().key();  // must not compile
#endif
  return key != nullptr;
}
