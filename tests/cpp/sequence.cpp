// The two faces of a one-sequence cache.
#include "test.hpp"

#include <type_traits>

namespace {

using namespace test;

static_assert(sizeof(kvc::SequenceControl) == sizeof(void*) && sizeof(kvc::SequencePlanner) == sizeof(void*));
static_assert(std::is_trivially_copyable_v<kvc::SequenceControl> && std::is_trivially_copyable_v<kvc::SequencePlanner>);

constexpr Layer kMixed[] = {Layer::ring(4, 1), Layer::flat(), Layer::ring(4, 1)};

struct Fixture {
  kvc::SequenceCache<3> cache;
  kvc::SequenceControl control;
  kvc::SequencePlanner planner;
  Fixture() {
    REQUIRE(cache.init(Config::of(32, kMixed).with_rollback(2)).ok());
    control = cache.sequence_control();
    planner = cache.sequence_planner();
    REQUIRE(control);
    REQUIRE(planner);
  }
  void feed(std::uint32_t tokens) {
    for (std::uint32_t i = 0; i < tokens; ++i) {
      const kvc::Result<kvc::SeqPlan> plan = planner.plan(0, control.length().value(), 1);
      REQUIRE(plan.ok());
      REQUIRE(planner.commit(plan.value()).ok());
    }
  }
};

TEST_CASE_FIXTURE(Fixture, "a step: planned per layer, committed once or per layer") {
  const kvc::SeqPlan first = planner.plan(0, 0, 3).value();
  CHECK(first.writes()[0].len == 3);
  const kvc::SeqPlan second = planner.plan(1, 0, 3).value();
  CHECK(second.epoch == first.epoch);
  CHECK(second.group != first.group);
  CHECK(planner.plan(2, 0, 3).value().group == first.group);
  CHECK(planner.commit(first).ok());
  CHECK(planner.commit(second).ok());
  CHECK(control.length().value() == 3);
}

TEST_CASE_FIXTURE(Fixture, "all groups at once") {
  kvc::SeqPlan plans[kvc::kMaxGroups];
  const auto step = planner.plan_step(0, 2, plans);
  REQUIRE(step.ok());
  CHECK(step.value().data() == plans);
  REQUIRE(step.value().size() == 2);
  std::uint32_t group = 0;
  for (const kvc::SeqPlan& plan : step.value()) {
    CHECK(plan.group == group);
    const kvc::SeqPlan alone = planner.plan(group, 0, 2).value();
    CHECK(alone.read_len == plan.read_len);
    CHECK(alone.epoch == plan.epoch);
    ++group;
  }
  CHECK(planner.plan_step(0, 2, kvc::span<kvc::SeqPlan>(plans).first(1)).status() == Code::BufferTooSmall);
  CHECK(planner.plan_step(0, 2, {}).status() == Code::BufferTooSmall);
  CHECK(planner.commit(plans[1]).ok());
}

TEST_CASE_FIXTURE(Fixture, "a partial commit closes the step") {
  const kvc::SeqPlan plan = planner.plan(0, 0, 3).value();
  CHECK(planner.commit(plan, 4) == Code::InvalidArgument);
  CHECK(planner.commit(plan, 1).ok());
  CHECK(planner.commit(plan, 1).ok());
  CHECK(planner.commit(plan, 2) == Code::StalePlan);
  CHECK(planner.plan(1, 0, 3).status() == Code::BadPosition);
  CHECK(control.length().value() == 1);
  CHECK(planner.plan(1, 1, 1).ok());
  CHECK(planner.commit(plan, 1) == Code::StalePlan);
}

TEST_CASE_FIXTURE(Fixture, "what a planner refuses") {
  CHECK(planner.plan(3, 0, 1).status() == Code::BadLayer);
  CHECK(planner.plan(0, 1, 1).status() == Code::BadPosition);
  CHECK(planner.plan(0, 0, 0).status() == Code::InvalidArgument);
  CHECK(planner.plan(0, 0, 5).status() == Code::StepTooLarge);
  feed(30);
  CHECK(control.can_extend(2).value());
  CHECK_FALSE(control.can_extend(3).value());
  CHECK(planner.plan(0, 30, 3).status() == Code::OutOfCapacity);
}

TEST_CASE_FIXTURE(Fixture, "rewind, and what a window has dropped") {
  CHECK(control.rewind(1) == Code::CannotGrow);
  feed(20);
  const std::uint32_t floor = control.rewind_floor().value();
  CHECK(floor > 1);
  CHECK(control.rewind(floor - 1) == Code::Evicted);
  CHECK(control.length().value() == 20);
  const kvc::SeqPlan stale = planner.plan(0, 20, 1).value();
  // Planning alone counts as overwriting.
  const std::uint32_t floor_now = control.rewind_floor().value();
  CHECK(floor_now > floor);
  CHECK(control.rewind(floor) == Code::Evicted);
  CHECK(control.rewind(floor_now).ok());
  CHECK(planner.commit(stale) == Code::StalePlan);
  CHECK(control.length().value() == floor_now);
  CHECK(control.rewind(0).ok());
  CHECK(control.rewind_floor().value() == 0);
}

TEST_CASE_FIXTURE(Fixture, "clear, capacity, config") {
  feed(5);
  CHECK(control.capacity().value() == 32);
  CHECK(cache.capacity().value() == 32);
  CHECK(control.clear().ok());
  CHECK(control.length().value() == 0);
  feed(2);
  CHECK(cache.clear().ok());
  CHECK(control.length().value() == 0);
  CHECK(control.can_extend().value());
  CHECK(control.can_extend(0).status() == Code::InvalidArgument);

  const Config resolved = cache.config().value();
  CHECK(resolved.capacity == 32);
  CHECK(resolved.n_layers == 3);
  CHECK(resolved.layers.empty());
  CHECK(resolved.max_write == 4);
  CHECK(resolved.rollback == 2);
  const kvc::LayerInfo info = cache.layer(2).value();
  CHECK(info.group == cache.layer(0).value().group);
  CHECK(info.layer.sinks == 1);
  CHECK(info.rows == 1 + 4 + 4 - 1 + 2);
  CHECK(info.max_write == 4);
}

TEST_CASE_FIXTURE(Fixture, "handles are const like pointers") {
  const kvc::SequenceControl fixed = control;
  const kvc::SequencePlanner also_fixed = planner;
  CHECK(also_fixed.commit(also_fixed.plan(0, 0, 1).value()).ok());
  CHECK(fixed.rewind(0).ok());
}

TEST_CASE("a sequence has an end of its own beside the capacity") {
  kvc::SequenceCache<1> cache;
  REQUIRE(cache.init(Config::uniform(kvc::kUnbounded, 1, Layer::ring(4)).with_max_context(6)).ok());
  CHECK(cache.sequence_control().can_extend(6).value());
  CHECK_FALSE(cache.sequence_control().can_extend(7).value());
}

}  // namespace
