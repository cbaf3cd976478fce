// An application in C++17 that was given an installed kvcore. Ends with the line number of the first surprise.
#include <kvcore.hpp>

#define CHECK(condition) do { if (!(condition)) { return __LINE__ % 255 + 1; } } while (0)

namespace {

kvc::SequenceStorage<1> storage;

int decode(const kvc::Cache& cache) {
  const kvc::Result<kvc::Session> session = kvc::Session::open(kvc::Registry::global(), cache);
  CHECK(session.ok());
  const kvc::Result<kvc::Cache> backend = kvc::Registry::global().get(session.value().key());
  CHECK(backend.ok());
  const kvc::SequencePlanner planner = backend.value().sequence_planner();
  const kvc::Result<kvc::SeqPlan> plan = planner.plan(0, 0, 5);
  CHECK(plan.ok() && plan.value().mask == KVC_MASK_CAUSAL);
  CHECK(planner.commit(plan.value(), 3).ok());
  CHECK(cache.sequence_control().length().value_or(0) == 3);
  return 0;
}

}  // namespace

int main() {
  CHECK(kvc::check_header());
  const kvc::Config config = kvc::Config::uniform(8, 1, kvc::Layer::flat());
  const kvc::Result<kvc::Cache> cache = kvc::SequenceCache<1>::build_in(storage, config);
  CHECK(cache.ok());
  const int surprise = decode(cache.value());
  CHECK(kvc::Registry::global().count().value_or(1) == 0);
  return surprise;
}
