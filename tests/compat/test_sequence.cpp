// SequenceCache: faces, plans, commits, copies.
#include "support.h"

#include <climits>
#include <memory>
#include <type_traits>
#include <utility>

namespace {

// What a backend adds to its own cache.
class PoolFace {
 public:
  static constexpr const char* kFaceName = "test.PoolFace";
  virtual ~PoolFace() = default;
  virtual int pool_rows() const = 0;
};

class BackendCache : public cache::SequenceCache, public PoolFace {
 public:
  explicit BackendCache(const cache::CacheConfig& made) : SequenceCache(made) {}

  int pool_rows() const override { return rows_; }
  void commit(const cache::SeqStepPlan& plan) override {
    SequenceCache::commit(plan);
    rows_ = length();
  }
  void clear() override {
    SequenceCache::clear();
    rows_ = 0;
  }

 protected:
  void* face(cache::FaceId id) override {
    void* const own = cache::expose<PoolFace>(this, id);
    return own != nullptr ? own : SequenceCache::face(id);
  }

 private:
  int rows_ = 0;
};

static_assert(std::is_copy_constructible_v<cache::SequenceCache> && std::is_copy_assignable_v<cache::SequenceCache>);
static_assert(std::is_move_constructible_v<cache::SequenceCache> && std::is_move_assignable_v<cache::SequenceCache>);
static_assert(std::is_convertible_v<cache::CacheConfig, cache::SequenceCache>);

}  // namespace

TEST_CASE("a host and a backend work through the faces of a cache they know nothing else about") {
  const std::shared_ptr<cache::Cache> shared = std::make_shared<cache::SequenceCache>(config(16, {0, 4}, 2));
  auto* const control = shared->as<cache::SequenceControl>();
  auto* const planner = shared->as<cache::SequencePlanner>();
  REQUIRE(control != nullptr);
  REQUIRE(planner != nullptr);
  CHECK(shared->as<cache::BatchControl>() == nullptr);
  CHECK(control->capacity() == 16);
  CHECK(control->can_extend());
  const std::optional<cache::SeqStepPlan> plan = planner->plan(1, 0, 2);
  REQUIRE(plan.has_value());
  planner->commit(*plan);
  CHECK(control->can_extend(14));
  CHECK_FALSE(control->can_extend(15));
  CHECK(control->rewind(1));
  CHECK(control->can_extend(15));
  control->clear();
  CHECK(control->can_extend(16));
}

TEST_CASE("a derived cache adds a face and keeps the others") {
  BackendCache backend(config(16, {0}));
  cache::Cache& base = backend;
  REQUIRE(base.as<PoolFace>() != nullptr);
  CHECK(base.as<PoolFace>() == static_cast<PoolFace*>(&backend));
  REQUIRE(base.as<cache::SequencePlanner>() != nullptr);
  base.as<cache::SequencePlanner>()->commit(*backend.plan(0, 0, 5));
  CHECK(base.as<PoolFace>()->pool_rows() == 5);
  base.as<cache::SequenceControl>()->clear();
  CHECK(backend.pool_rows() == 0);
  CHECK(backend.length() == 0);
}

TEST_CASE("plans are pure: the same at any time, in any order") {
  cache::SequenceCache tried(config(64, {0, 4}, 4));
  const cache::SeqStepPlan early = *tried.plan(1, 20, 3);
  REQUIRE(step(tried, 2, 4));
  REQUIRE(step(tried, 2, 4));
  CHECK(tried.plan(0, 0, 1).has_value());   // long past
  CHECK(tried.plan(0, 60, 4).has_value());  // far ahead
  CHECK(same_plan(*tried.plan(1, 20, 3), early));
  CHECK(same_plan(early, cache::RingPolicy(4, 4).plan(20, 3)));
  CHECK(tried.length() == 8);
  const cache::SequenceCache& constant = tried;
  CHECK(same_plan(*constant.plan(0, 8, 2), cache::FlatPolicy().plan(8, 2)));
}

TEST_CASE("what cannot be planned is refused, and changes nothing") {
  cache::CacheConfig made = config(16, {0, 4}, 2);
  const cache::SequenceCache tried(made);
  CHECK_FALSE(tried.plan(2, 0, 1));
  CHECK_FALSE(tried.plan(-1, 0, 1));
  CHECK_FALSE(tried.plan(INT_MAX, 0, 1));
  CHECK_FALSE(tried.plan(0, 0, 0));
  CHECK_FALSE(tried.plan(0, 0, -1));
  CHECK_FALSE(tried.plan(0, -1, 1));
  CHECK_FALSE(tried.plan(0, 16, 1));
  CHECK_FALSE(tried.plan(0, 15, 2));
  CHECK_FALSE(tried.plan(0, INT_MAX, INT_MAX));
  CHECK_FALSE(tried.plan(1, 0, 3));
  CHECK(tried.plan(0, 0, 3).has_value());  // only a ring layer bounds the step
  CHECK(tried.plan(0, 0, 16).has_value());
  CHECK(tried.plan(1, 14, 2).has_value());
  CHECK(tried.length() == 0);

  made.max_context = 10;
  const cache::SequenceCache bounded(made);
  CHECK(bounded.capacity() == 16);
  CHECK(bounded.plan(0, 9, 1).has_value());
  CHECK_FALSE(bounded.plan(0, 10, 1));
  CHECK(bounded.can_extend(10));
  CHECK_FALSE(bounded.can_extend(11));
}

TEST_CASE("without max_write a ring takes its window, and flat layers whatever fits") {
  const cache::SequenceCache rings(config(64, {4, 8}));
  CHECK(rings.plan(0, 0, 4).has_value());
  CHECK_FALSE(rings.plan(0, 0, 5));
  CHECK(rings.plan(1, 0, 8).has_value());
  CHECK_FALSE(rings.plan(1, 0, 9));
  const cache::SequenceCache flat(config(64, {0}, 2));
  CHECK(flat.plan(0, 0, 64).has_value());
}

TEST_CASE("one layer entry stands for all layers") {
  cache::CacheConfig made = config(16, {4});
  made.n_layers = 3;
  const cache::SequenceCache tried(made);
  CHECK(same_plan(*tried.plan(0, 9, 2), *tried.plan(2, 9, 2)));
  CHECK_FALSE(tried.plan(3, 0, 1));
  made.n_layers = INT_MAX;
  CHECK(cache::SequenceCache(made).plan(INT_MAX - 1, 9, 2).has_value());
}

TEST_CASE("a commit takes the maximum") {
  cache::SequenceCache tried(config(64, {0}));
  const cache::SeqStepPlan first = *tried.plan(0, 0, 4);
  tried.commit(first);
  tried.commit(*tried.plan(0, 4, 4));
  CHECK(tried.length() == 8);
  tried.commit(first);
  CHECK(tried.length() == 8);
  tried.commit(*tried.plan(0, 20, 2));  // a jump ahead
  CHECK(tried.length() == 22);
}

TEST_CASE("commits of what is no plan are passed over") {
  cache::SequenceCache tried(config(16, {0}));
  tried.commit(cache::SeqStepPlan{});
  cache::SeqStepPlan odd = *tried.plan(0, 0, 4);
  odd.n_read = 3;
  tried.commit(odd);
  odd.n_read = -1;
  tried.commit(odd);
  odd = *tried.plan(0, 0, 4);
  odd.read_base_pos = INT_MAX;
  tried.commit(odd);
  odd = *tried.plan(0, 0, 4);
  odd.write[0].len = 5;  // more than it reads
  tried.commit(odd);
  tried.commit(cache::FlatPolicy().plan(14, 4));  // beyond the capacity
  CHECK(tried.length() == 0);
}

TEST_CASE("can_extend counts tokens, one by default") {
  cache::SequenceCache tried(config(4, {0}));
  tried.commit(*tried.plan(0, 0, 3));
  CHECK(tried.can_extend());
  CHECK(tried.can_extend(0));
  CHECK_FALSE(tried.can_extend(2));
  CHECK_FALSE(tried.can_extend(-1));
  CHECK_FALSE(tried.can_extend(INT_MAX));
  tried.commit(*tried.plan(0, 3, 1));
  CHECK_FALSE(tried.can_extend());
}

TEST_CASE("a copy is a fork") {
  cache::SequenceCache trunk(config(64, {0, 4}, 2));
  REQUIRE(decode(trunk, 2, 10));
  cache::SequenceCache branch(trunk);
  CHECK(branch.length() == 10);
  REQUIRE(decode(branch, 2, 3));
  CHECK(branch.length() == 13);
  CHECK(trunk.length() == 10);
  CHECK(trunk.rewind(9));         // its rows are still there
  CHECK_FALSE(branch.rewind(9));  // those of the branch are not
  branch = trunk;
  CHECK(branch.length() == 9);
  CHECK(branch.as<cache::SequenceControl>() == static_cast<cache::SequenceControl*>(&branch));
  branch = *&branch;
  CHECK(branch.length() == 9);
}

TEST_CASE("a cache moves") {
  cache::SequenceCache from(config(64, {4}, 2));
  REQUIRE(decode(from, 1, 10));
  cache::SequenceCache to(std::move(from));
  CHECK(to.length() == 10);
  CHECK(to.capacity() == 64);
  CHECK_FALSE(to.rewind(5));
  CHECK(to.rewind(9));
  cache::SequenceCache again(config(8, {0}));
  again = std::move(to);
  CHECK(again.length() == 9);
  CHECK(again.plan(0, 9, 2).has_value());
}

TEST_CASE("a cache of a config that is not valid refuses every step") {
  cache::SequenceCache none{cache::CacheConfig{}};
  CHECK(none.capacity() == 0);
  CHECK(none.length() == 0);
  CHECK_FALSE(none.can_extend());
  CHECK_FALSE(none.plan(0, 0, 1));
  CHECK(none.rewind(0));
  none.commit(cache::FlatPolicy().plan(0, 1));
  CHECK(none.length() == 0);
}
