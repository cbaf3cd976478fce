#include "two_files.hpp"

std::uint32_t length_after_one(const kvc::Cache& cache) {
  const kvc::SequencePlanner planner = cache.sequence_planner();
  planner.commit(planner.plan(0, 0, 1).value()).ignore();
  return cache.sequence_control().length().value_or(0);
}
