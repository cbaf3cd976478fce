// The faces are borrowed: a temporary cache would take them along.
#include <kvcore.hpp>

bool has_planner(kvc::Registry registry);
bool has_planner(kvc::Registry registry) {
#ifdef CONTROL
  const kvc::Cache cache = registry.get("chat").value();
  const kvc::SequencePlanner planner = cache.sequence_planner();
#else
  const kvc::SequencePlanner planner = registry.get("chat").value().sequence_planner();  // must not compile
#endif
  return static_cast<bool>(planner);
}
