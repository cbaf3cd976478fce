// The runs are in the plan: a temporary plan would take them along.
#include <kvcore.hpp>

std::size_t reads(const kvc::SequencePlanner& planner);
std::size_t reads(const kvc::SequencePlanner& planner) {
#ifdef CONTROL
  const kvc::SeqPlan plan = planner.plan(0, 0, 1).value();
  const kvc::span<const kvc::Run> runs = plan.reads();
#else
  const kvc::span<const kvc::Run> runs = planner.plan(0, 0, 1).value().reads();  // must not compile
#endif
  return runs.size();
}
