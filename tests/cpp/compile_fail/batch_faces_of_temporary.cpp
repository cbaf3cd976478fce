// The faces of many sequences are borrowed too: a temporary cache would take them along.
#include <kvcore.hpp>

bool has_faces(kvc::Registry registry);
bool has_faces(kvc::Registry registry) {
#ifdef CONTROL
  const kvc::Cache cache = registry.get("batch").value();
  return cache.batch_control() && (cache.cell_planner() || cache.rows_planner());
#else
  return registry.get("batch").value().batch_control() ||  // must not compile
         registry.get("batch").value().cell_planner() ||   // must not compile
         registry.get("batch").value().rows_planner();     // must not compile
#endif
}
