// Caches that a C++ class implements.
#include "test.hpp"

namespace {

using namespace test;

/// A flat cache of one layer, by the arithmetic alone.
struct Own : kvc::ExternalSequence {
  std::uint32_t held = 0;
  std::uint32_t room = 16;

  kvc::Result<std::uint32_t> capacity() noexcept { return room; }
  kvc::Status clear() noexcept { return rewind(0); }
  kvc::Result<bool> can_extend(std::uint32_t n) noexcept { return n <= room - held; }
  kvc::Result<std::uint32_t> length() noexcept { return held; }
  kvc::Status rewind(std::uint32_t new_len) noexcept {
    if (new_len > held) return Code::CannotGrow;
    held = new_len;
    return {};
  }
  kvc::Result<std::uint32_t> rewind_floor() noexcept { return 0u; }
  kvc::Result<kvc::SeqPlan> plan(std::uint32_t layer, std::uint32_t position, std::uint32_t n) noexcept {
    if (layer != 0) return Code::BadLayer;
    if (position != held) return Code::BadPosition;
    return kvc::layout_plan(Layer::flat(), 0, 0, position, n);
  }
  kvc::Result<std::uint32_t> plan_step(std::uint32_t position, std::uint32_t n,
                                       kvc::span<kvc::SeqPlan> out) noexcept {
    const auto only = plan(0, position, n);
    if (!only.ok()) return only.status();
    if (!out.empty()) out[0] = only.value();
    return 1u;
  }
  kvc::Status commit(const kvc::SeqPlan& plan, std::uint32_t accepted) noexcept {
    held = plan.position + accepted;
    return {};
  }
};

TEST_CASE("every call reaches the object") {
  Own own;
  kvc::ExternalStorage storage;
  const kvc::Cache cache = kvc::external_in(storage, own).value();
  CHECK(cache.kind().value() == kvc::Kind::Sequence);
  CHECK(cache.capacity().value() == 16);
  const kvc::SequenceControl control = cache.sequence_control();
  const kvc::SequencePlanner planner = cache.sequence_planner();
  REQUIRE(control);
  REQUIRE(planner);
  CHECK(control.can_extend(16).value());
  CHECK_FALSE(control.can_extend(17).value());
  const kvc::SeqPlan plan = planner.plan(0, 0, 5).value();
  CHECK(plan.writes()[0].len == 5);
  CHECK(planner.plan(1, 0, 5).status() == Code::BadLayer);
  CHECK(planner.commit(plan).ok());
  CHECK(control.length().value() == 5);
  CHECK(own.held == 5);

  kvc::SeqPlan plans[2];
  const auto step = planner.plan_step(5, 2, plans);
  REQUIRE(step.ok());
  CHECK(step.value().size() == 1);
  CHECK(plans[0].position == 5);
  CHECK(planner.plan_step(5, 2, {}).status() == Code::BufferTooSmall);
  CHECK(planner.plan_step(6, 2, plans).status() == Code::BadPosition);

  CHECK(control.rewind(6) == Code::CannotGrow);
  CHECK(control.rewind(2).ok());
  CHECK(control.rewind_floor().value() == 0);
  CHECK(cache.clear().ok());
  CHECK(own.held == 0);
  CHECK(cache.config().status() == Code::WrongKind);
  CHECK(cache.layer(0).status() == Code::WrongKind);
}

TEST_CASE("what a class leaves out, it does not offer") {
  kvc::ExternalSequence nothing;
  kvc::ExternalStorage storage;
  const kvc::Cache cache = kvc::external_in(storage, nothing).value();
  const kvc::SequenceControl control = cache.sequence_control();
  const kvc::SequencePlanner planner = cache.sequence_planner();
  CHECK(cache.capacity().status() == Code::WrongKind);
  CHECK(cache.clear() == Code::WrongKind);
  CHECK(control.can_extend().status() == Code::WrongKind);
  CHECK(control.length().status() == Code::WrongKind);
  CHECK(control.rewind(0) == Code::WrongKind);
  CHECK(control.rewind_floor().status() == Code::WrongKind);
  CHECK(planner.plan(0, 0, 1).status() == Code::WrongKind);
  kvc::SeqPlan plans[1];
  CHECK(planner.plan_step(0, 1, plans).status() == Code::WrongKind);
  CHECK(planner.commit(kvc::layout_plan(Layer::flat(), 0, 0, 0, 1).value()) == Code::WrongKind);
}

TEST_CASE("a cache of another family has no such faces") {
  kvc_external_t table{};
  table.struct_size = sizeof(table);
  table.kind = KVC_KIND_CELLS;
  Own own;
  kvc::ExternalStorage storage;
  kvc_cache_t* raw = nullptr;
  REQUIRE(kvc_external_init(storage.bytes, sizeof(storage), &table, &own, &raw) == KVC_OK);
  const kvc::Cache cache = kvc::Cache::adopt(raw);
  CHECK(cache.kind().value() == kvc::Kind::Cells);
  CHECK_FALSE(cache.sequence_control());
  CHECK_FALSE(cache.sequence_planner());
}

TEST_CASE("it is installed and found like any other") {
  LocalRegistry registry;
  Own own;
  int ended = 0;
  kvc::ExternalStorage storage;
  {
    const kvc::Cache cache = kvc::external_in(storage, own).value();
    REQUIRE(cache.on_release(count_end, &ended).ok());
    REQUIRE(registry->install("own", cache).ok());
  }
  CHECK(ended == 0);
  CHECK(registry->get("own").value().capacity().value() == 16);
  CHECK(registry->erase("own").ok());
  CHECK(ended == 1);
}

}  // namespace
