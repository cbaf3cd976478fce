// The headers for many sequences as ExecuTorch's own tests use them: gtest, and nothing of this project.
#include <executorch/extension/llm/cache/batched_sequence_cache.h>
#include <executorch/extension/llm/cache/cache.h>
#include <executorch/extension/llm/cache/cell_cache.h>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

using namespace executorch::extension::llm::cache;

namespace {

CacheConfig make_config(int capacity, std::vector<LayerPolicy> policies) {
  CacheConfig cfg;
  cfg.capacity = capacity;
  cfg.n_layers = static_cast<int>(policies.size());
  for (const LayerPolicy& policy : policies) {
    cfg.layers.push_back(LayerConfig{policy, 1, 8});
  }
  return cfg;
}

LayerPolicy ring(int window) { return LayerPolicy{LayerPolicy::Kind::Ring, window}; }

struct ByteFace {
  static constexpr const char* kFaceName = "test.ByteFace";
  virtual ~ByteFace() = default;
  virtual int rows() const = 0;
};

class ByteCellCache : public CellCache, public ByteFace {
 public:
  explicit ByteCellCache(const CacheConfig& cfg) : CellCache(cfg) {}
  int rows() const override { return used_end(); }

 protected:
  void* face(FaceId id) override {
    if (void* mine = expose<ByteFace>(this, id)) {
      return mine;
    }
    return CellCache::face(id);
  }
};

class ByteBatchedCache : public BatchedSequenceCache, public ByteFace {
 public:
  explicit ByteBatchedCache(const CacheConfig& cfg) : BatchedSequenceCache(cfg), bytes_(8) {}
  int rows() const override { return bytes_; }
  std::vector<int> cloned;

 protected:
  void clone_bytes(int32_t src, int32_t dst) override { cloned = {src, dst}; }
  void* face(FaceId id) override {
    if (void* mine = expose<ByteFace>(this, id)) {
      return mine;
    }
    return BatchedSequenceCache::face(id);
  }

 private:
  int bytes_;
};

}  // namespace

TEST(CellCacheTest, FacesByName) {
  std::shared_ptr<Cache> cache = std::make_shared<ByteCellCache>(make_config(16, {LayerPolicy{}}));
  EXPECT_NE(cache->as<BatchControl>(), nullptr);
  EXPECT_NE(cache->as<CellStepper>(), nullptr);
  EXPECT_NE(cache->as<ByteFace>(), nullptr);
  EXPECT_EQ(cache->as<SeqSpanStepper>(), nullptr);
  EXPECT_EQ(cache->as<SequenceControl>(), nullptr);
}

TEST(CellCacheTest, InterleavedSequencesSeeOnlyTheirOwn) {
  CellCache cache(make_config(16, {LayerPolicy{}}));
  ASSERT_EQ(cache.seq_new(), std::optional<int32_t>(0));
  ASSERT_EQ(cache.seq_new(), std::optional<int32_t>(1));
  ASSERT_TRUE(cache.declare_step({0, 1, 0, 1}));
  std::vector<int32_t> pos{0, 0, 1, 1};
  const CellStep* step = cache.place_step(0, pos.data(), static_cast<int>(pos.size()));
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->length, 4);
  EXPECT_EQ(step->read_len, 4);
  EXPECT_EQ(step->cells, (std::vector<int32_t>{0, 1, 2, 3}));
  const std::vector<uint8_t> mask{1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1};
  EXPECT_EQ(step->mask_bits, mask);
  EXPECT_EQ(cache.free_cells(), 12);
  EXPECT_EQ(cache.used_end(), 4);
}

TEST(CellCacheTest, ReusesTheLowestFreeCell) {
  CellCache cache(make_config(4, {LayerPolicy{}}));
  const int32_t a = *cache.seq_new();
  const int32_t b = *cache.seq_new();
  const int32_t pos[] = {0, 1};
  ASSERT_TRUE(cache.declare_step({a, a}));
  ASSERT_NE(cache.place_step(0, pos, 2), nullptr);
  ASSERT_TRUE(cache.declare_step({b, b}));
  ASSERT_NE(cache.place_step(0, pos, 2), nullptr);
  EXPECT_FALSE(cache.can_admit(b));
  ASSERT_TRUE(cache.seq_rm(a));
  EXPECT_TRUE(cache.can_admit(b, 2));
  const int32_t next[] = {2};
  ASSERT_TRUE(cache.declare_step({b}));
  const CellStep* step = cache.place_step(0, next, 1);
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->cells.front(), 0);
  EXPECT_EQ(step->read_len, 4);
}

TEST(CellCacheTest, SamePointerForTheSameWindow) {
  CellCache cache(make_config(16, {ring(2), LayerPolicy{}, ring(2)}));
  const int32_t a = *cache.seq_new();
  const int32_t pos[] = {0, 1, 2};
  ASSERT_TRUE(cache.declare_step({a, a, a}));
  const CellStep* first = cache.place_step(0, pos, 3);
  EXPECT_EQ(cache.place_step(2, pos, 3), first);
  EXPECT_NE(cache.place_step(1, pos, 3), first);
  EXPECT_EQ(cache.place_step(3, pos, 3), nullptr);
  ASSERT_TRUE(cache.rewind(a, 2));
  EXPECT_EQ(cache.place_step(0, pos, 3), nullptr);
}

TEST(BatchedSequenceCacheTest, SpansInOrder) {
  BatchedSequenceCache cache(make_config(32, {LayerPolicy{}, ring(4)}));
  const int32_t a = *cache.seq_new();
  const int32_t b = *cache.seq_new();
  EXPECT_EQ(cache.max_seqs(), std::nullopt);
  ASSERT_TRUE(cache.declare_step({a, a, b, a}));
  const int32_t pos[] = {0, 1, 0, 2};
  const std::vector<SeqSpan>* spans = cache.place_step(0, pos, 4);
  ASSERT_NE(spans, nullptr);
  ASSERT_EQ(spans->size(), 3u);
  EXPECT_EQ((*spans)[0].seq_id, a);
  EXPECT_EQ((*spans)[0].q_len, 2);
  EXPECT_EQ((*spans)[1].seq_id, b);
  EXPECT_EQ((*spans)[2].plan.read_base_pos, 0);
  EXPECT_EQ((*spans)[2].plan.write[0].start, 2);
  EXPECT_EQ((*spans)[2].plan.write[0].len, 1);
  EXPECT_EQ((*spans)[2].plan.n_read, 1);
  EXPECT_EQ((*spans)[2].plan.read[0].len, 3);
  EXPECT_EQ(cache.seq_len(a), 3);
  EXPECT_EQ(cache.next_pos(b), 1);
}

TEST(BatchedSequenceCacheTest, CloneCopiesBytes) {
  ByteBatchedCache cache(make_config(32, {LayerPolicy{}}));
  Cache& base = cache;
  EXPECT_EQ(base.as<ByteFace>()->rows(), 8);
  BatchControl* control = base.as<BatchControl>();
  ASSERT_NE(control, nullptr);
  const int32_t a = *control->seq_new();
  const int32_t pos[] = {0, 1, 2};
  ASSERT_TRUE(control->declare_step({a, a, a}));
  ASSERT_NE(base.as<SeqSpanStepper>()->place_step(0, pos, 3), nullptr);
  const std::optional<int32_t> clone = control->seq_clone(a, 2);
  ASSERT_TRUE(clone.has_value());
  EXPECT_EQ(cache.cloned, (std::vector<int>{a, *clone}));
  EXPECT_EQ(control->seq_len(*clone), 2);
  EXPECT_EQ(control->seq_clone(*clone, std::nullopt), std::optional<int32_t>(2));
}
