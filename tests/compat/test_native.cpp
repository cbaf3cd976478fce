// What C++ sees of a cache that C built.
#include "support.h"

#include <executorch/extension/llm/cache/detail/native_cache.h>

#include <climits>
#include <cstring>
#include <memory>

namespace {

// A cache of kvcore in storage of its own, and an adapter that holds a reference to it.
class Adapted {
 public:
  explicit Adapted(const std::vector<kvc_layer_t>& layers, std::uint32_t capacity = 64, std::uint32_t max_write = 2) {
    kvc_config_t made = kvc_config_default();
    made.capacity = capacity;
    made.n_layers = made.n_layer_entries = static_cast<std::uint32_t>(layers.size());
    made.layers = layers.data();
    made.max_write = max_write;
    REQUIRE(kvc_sequence_init(storage_, sizeof storage_, &made, &native_) == KVC_OK);
    REQUIRE(kvc_cache_on_release(native_, [](void* flag, void*) { *static_cast<bool*>(flag) = true; }, &released_) ==
            KVC_OK);
    cache_ = std::make_shared<cache::detail::NativeCache>(native_);
  }

  kvc_cache_t* native() const { return native_; }
  cache::SequenceControl& control() const { return *cache_->as<cache::SequenceControl>(); }
  cache::SequencePlanner& planner() const { return *cache_->as<cache::SequencePlanner>(); }
  std::shared_ptr<cache::Cache>& cache() { return cache_; }
  const bool& released() const { return released_; }
  std::uint32_t length() const {
    std::uint32_t length = 0;
    REQUIRE(kvc_length(native_, &length) == KVC_OK);
    return length;
  }

 private:
  std::uint64_t storage_[KVC_SEQUENCE_BYTES_FOR(8) / 8];
  kvc_cache_t* native_ = nullptr;
  bool released_ = false;
  std::shared_ptr<cache::Cache> cache_;
};

kvc_layer_t flat() { return kvc_layer_t{}; }
kvc_layer_t ring(std::uint32_t window, std::uint32_t sinks = 0) {
  return {KVC_LAYER_RING, window, sinks, 0, 0, 0};
}

}  // namespace

TEST_CASE("the control face of a native cache") {
  const Adapted adapted({flat(), ring(4)}, 16, 1);
  cache::SequenceControl& control = adapted.control();
  CHECK(control.capacity() == 16);
  CHECK(control.can_extend());
  CHECK(control.can_extend(0));
  CHECK(control.can_extend(16));
  CHECK_FALSE(control.can_extend(17));
  CHECK_FALSE(control.can_extend(-1));
  for (int position = 0; position < 10; ++position) {
    adapted.planner().commit(*adapted.planner().plan(0, position, 1));
  }
  CHECK(adapted.length() == 10);
  CHECK_FALSE(control.rewind(-1));
  CHECK_FALSE(control.rewind(11));
  CHECK_FALSE(control.rewind(8));
  CHECK(control.rewind(9));
  CHECK(adapted.length() == 9);
  control.clear();
  CHECK(adapted.length() == 0);
}

TEST_CASE("the planner face of a native cache keeps kvcore's rules") {
  const Adapted adapted({flat(), ring(4)});
  cache::SequencePlanner& planner = adapted.planner();
  CHECK_FALSE(planner.plan(2, 0, 1));
  CHECK_FALSE(planner.plan(-1, 0, 1));
  CHECK_FALSE(planner.plan(0, -1, 1));
  CHECK_FALSE(planner.plan(0, 0, 0));
  CHECK_FALSE(planner.plan(0, 1, 1));  // a gap
  CHECK_FALSE(planner.plan(0, 0, 3));  // too long for the ring layer
  for (int position = 0; position < 12; position += 2) {
    const std::optional<cache::SeqStepPlan> first = planner.plan(0, position, 2);
    const std::optional<cache::SeqStepPlan> second = planner.plan(1, position, 2);
    REQUIRE(first.has_value());
    REQUIRE(second.has_value());
    CHECK(same_plan(*first, cache::FlatPolicy().plan(position, 2)));
    CHECK(same_plan(*second, cache::RingPolicy(4, 2).plan(position, 2)));
    planner.commit(*first);
    planner.commit(*second);  // once for each layer
    CHECK(adapted.length() == static_cast<std::uint32_t>(position) + 2);
  }
  planner.commit(cache::FlatPolicy().plan(0, 2));  // of an old step
  planner.commit(cache::SeqStepPlan{});
  CHECK(adapted.length() == 12);
}

TEST_CASE("C's plans and C++'s are of the same step") {
  const Adapted adapted({ring(4)});
  kvc_seq_plan_t plan;
  REQUIRE(kvc_seq_plan(adapted.native(), 0, 0, 2, &plan) == KVC_OK);
  adapted.planner().commit(*adapted.planner().plan(0, 0, 2));
  CHECK(kvc_seq_commit(adapted.native(), &plan, 2) == KVC_OK);
  CHECK(adapted.length() == 2);
}

TEST_CASE("a plan with a gap between sinks and window cannot be said") {
  const Adapted adapted({ring(2, 1)}, 64, 1);
  for (int position = 0; position < 2; ++position) {
    adapted.planner().commit(*adapted.planner().plan(0, position, 1));
  }
  CHECK(adapted.planner().plan(0, 2, 1).has_value());
  adapted.planner().commit(*adapted.planner().plan(0, 2, 1));
  CHECK_FALSE(adapted.planner().plan(0, 3, 1));  // reads 0, then 2 and 3
}

TEST_CASE("an unbounded capacity is as much as an int holds") {
  const Adapted adapted({ring(4)}, KVC_UNBOUNDED);
  CHECK(adapted.control().capacity() == INT_MAX);
  CHECK(adapted.control().can_extend(INT_MAX));
}

TEST_CASE("the adapter holds a reference") {
  Adapted adapted({flat()});
  CHECK_FALSE(adapted.released());
  adapted.cache().reset();
  CHECK(adapted.released());
}

TEST_CASE("a cache of another family offers no face of one sequence") {
  alignas(KVC_ALIGN) unsigned char storage[KVC_EXTERNAL_BYTES];
  kvc_external_t table;
  std::memset(&table, 0, sizeof table);
  table.struct_size = sizeof table;
  table.kind = KVC_KIND_CELLS;
  kvc_cache_t* cells = nullptr;
  REQUIRE(kvc_external_init(storage, sizeof storage, &table, &table, &cells) == KVC_OK);
  cache::detail::NativeCache adapted(cells);
  CHECK(adapted.as<cache::SequenceControl>() == nullptr);
  CHECK(adapted.as<cache::SequencePlanner>() == nullptr);
}
