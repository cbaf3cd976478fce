// So must a result: this would plan a step and forget it.
#include <kvcore.hpp>

bool plan(const kvc::SequencePlanner& planner);
bool plan(const kvc::SequencePlanner& planner) {
#ifdef CONTROL
  return planner.plan(0, 0, 1).ok();
#else
  planner.plan(0, 0, 1);  // must not compile
  return true;
#endif
}
