// The headers as ExecuTorch's own tests use them: gtest, and nothing of this project.
#include <executorch/extension/llm/cache/cache.h>
#include <executorch/extension/llm/cache/sequence_cache.h>

#include <gtest/gtest.h>

#include <memory>
#include <utility>

using namespace executorch::extension::llm::cache;

namespace {

CacheConfig make_config(LayerPolicy policy, int capacity, std::optional<int> max_write = std::nullopt) {
  CacheConfig cfg;
  cfg.capacity = capacity;
  cfg.n_layers = 2;
  cfg.layers = {LayerConfig{policy, 1, 8}};
  cfg.kv_dtype = 6;
  cfg.max_write = max_write;
  return cfg;
}

LayerPolicy ring(int window) { return LayerPolicy{LayerPolicy::Kind::Ring, window}; }

struct ByteLayer {
  static constexpr const char* kFaceName = "test.ByteLayer";
  virtual ~ByteLayer() = default;
  virtual int rows(int layer) const = 0;
};

class TestCache : public SequenceCache, public ByteLayer {
 public:
  explicit TestCache(const CacheConfig& cfg) : SequenceCache(cfg) {}
  int rows(int layer) const override { return 10 + layer; }

 protected:
  void* face(FaceId id) override {
    if (void* mine = expose<ByteLayer>(this, id)) {
      return mine;
    }
    return SequenceCache::face(id);
  }
};

class SequenceCacheTest : public ::testing::Test {
 protected:
  void advance(SequencePlanner& planner, int from, int to) {
    for (int position = from; position < to; ++position) {
      auto plan = planner.plan(0, position, 1);
      ASSERT_TRUE(plan.has_value());
      planner.commit(*plan);
    }
  }
};

}  // namespace

TEST_F(SequenceCacheTest, FacesByName) {
  std::shared_ptr<Cache> cache = std::make_shared<TestCache>(make_config(LayerPolicy{}, 16));
  ASSERT_NE(cache->as<SequenceControl>(), nullptr);
  ASSERT_NE(cache->as<SequencePlanner>(), nullptr);
  ASSERT_NE(cache->as<ByteLayer>(), nullptr);
  EXPECT_EQ(cache->as<ByteLayer>()->rows(1), 11);
  EXPECT_EQ(cache->as<BatchControl>(), nullptr);
  EXPECT_STREQ(SequenceControl::kFaceName, "et.cache.SequenceControl");
}

TEST_F(SequenceCacheTest, FlatPlan) {
  SequenceCache cache(make_config(LayerPolicy{}, 16));
  const auto plan = cache.plan(0, 3, 2);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->n_write, 1);
  EXPECT_EQ(plan->write[0].start, 3);
  EXPECT_EQ(plan->write[0].len, 2);
  EXPECT_EQ(plan->n_read, 1);
  EXPECT_EQ(plan->read[0].start, 0);
  EXPECT_EQ(plan->read[0].len, 5);
  EXPECT_EQ(plan->read_base_pos, 0);
  EXPECT_EQ(cache.plan(0, 16, 1), std::nullopt);
  EXPECT_FALSE(cache.plan(2, 0, 1).has_value());
}

TEST_F(SequenceCacheTest, RingWraps) {
  const RingPolicy policy(4, 2);  // five rows
  const SeqStepPlan plan = policy.plan(4, 2);
  ASSERT_EQ(plan.n_write, 2);
  EXPECT_EQ(plan.write[0].start, 4);
  EXPECT_EQ(plan.write[0].len, 1);
  EXPECT_EQ(plan.write[1].start, 0);
  EXPECT_EQ(plan.write[1].len, 1);
  ASSERT_EQ(plan.n_read, 2);
  EXPECT_EQ(plan.read[0].start, 1);
  EXPECT_EQ(plan.read[0].len, 4);
  EXPECT_EQ(plan.read[1].start, 0);
  EXPECT_EQ(plan.read[1].len, 1);
  EXPECT_EQ(plan.read_base_pos, 1);
}

TEST_F(SequenceCacheTest, CommitRewindClear) {
  SequenceCache cache(make_config(ring(4), 64, 4));
  advance(cache, 0, 10);
  EXPECT_EQ(cache.length(), 10);
  EXPECT_TRUE(cache.can_extend());
  EXPECT_TRUE(cache.can_extend(54));
  EXPECT_FALSE(cache.can_extend(55));
  EXPECT_TRUE(cache.rewind(8));
  EXPECT_FALSE(cache.rewind(9));
  EXPECT_EQ(cache.length(), 8);
  cache.clear();
  EXPECT_EQ(cache.length(), 0);
  EXPECT_EQ(cache.capacity(), 64);
}

TEST_F(SequenceCacheTest, CopyIsAFork) {
  SequenceCache trunk(make_config(ring(4), 64, 4));
  advance(trunk, 0, 6);
  SequenceCache branch = trunk;
  advance(branch, 6, 9);
  EXPECT_EQ(trunk.length(), 6);
  EXPECT_EQ(branch.length(), 9);
  SequenceCache moved = std::move(branch);
  EXPECT_EQ(moved.length(), 9);
}

TEST_F(SequenceCacheTest, ConfigValidity) {
  EXPECT_TRUE(valid(make_config(ring(4), 64)));
  EXPECT_FALSE(valid(make_config(ring(0), 64)));
  EXPECT_FALSE(valid(make_config(LayerPolicy{}, 0)));
  EXPECT_FALSE(valid(CacheConfig{}));
}
