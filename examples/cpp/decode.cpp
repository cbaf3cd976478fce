// A prompt and a few tokens through one cache, shared by an application and a backend over a key.
#include <cinttypes>
#include <cstdio>
#include <kvcore.hpp>

namespace {
constexpr kvc::Layer kLayers[] = {kvc::Layer::ring(8, 2), kvc::Layer::flat()};  // 8 positions and 2 sinks; all history
kvc::SequenceStorage<2> storage;

/// What a backend does with a step: it only knows the key.
bool forward(const char* key, std::uint32_t position, std::uint32_t tokens) {
  const kvc::Result<kvc::Cache> cache = kvc::Registry::global().get(key);
  if (!cache.ok()) return false;
  const kvc::SequencePlanner planner = cache.value().sequence_planner();
  kvc::SeqPlan plans[2];
  const auto step = planner.plan_step(position, tokens, plans);
  if (!step.ok()) return false;
  for (const kvc::SeqPlan& plan : step.value()) {
    std::printf("position %2" PRIu32 ", group %" PRIu32 ": write", position, plan.group);
    for (const kvc::Run& run : plan.writes()) std::printf(" %" PRIu32 "+%" PRIu32, run.start, run.len);
    std::printf(", read %" PRIu32 " rows\n", plan.read_len);
  }
  return planner.commit(plans[0]).ok();
}

}  // namespace

int main() {
  const kvc::Result<kvc::Cache> cache = kvc::SequenceCache<2>::build_in(storage, kvc::Config::of(32, kLayers));
  if (!cache.ok()) return 1;
  const kvc::Result<kvc::Session> session = kvc::Session::open(kvc::Registry::global(), cache.value());
  if (!session.ok()) return 1;
  const kvc::SequenceControl control = cache.value().sequence_control();
  constexpr std::uint32_t kSteps[] = {6, 1, 1, 1, 1, 1};  // a prompt of 6, then one at a time
  for (const std::uint32_t tokens : kSteps) {
    if (!control.can_extend(tokens).value_or(false)) return 1;
    if (!forward(session.value().key(), control.length().value_or(0), tokens)) return 1;
  }
  return control.length().value_or(0) == 11 ? 0 : 1;
}
