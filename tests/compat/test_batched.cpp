// BatchedSequenceCache: sequences, spans, plans, clones.
#include "batch_support.h"

#include <climits>
#include <memory>
#include <type_traits>
#include <utility>

namespace {

static_assert(std::is_convertible_v<cache::CacheConfig, cache::BatchedSequenceCache>);
static_assert(std::is_move_constructible_v<cache::BatchedSequenceCache>);

class PoolFace {
 public:
  static constexpr const char* kFaceName = "test.PoolFace";
  virtual ~PoolFace() = default;
  virtual std::vector<std::pair<int32_t, int32_t>> copies() const = 0;
};

class BackendCache : public cache::BatchedSequenceCache, public PoolFace {
 public:
  explicit BackendCache(const cache::CacheConfig& made) : BatchedSequenceCache(made) {}
  std::vector<std::pair<int32_t, int32_t>> copies() const override { return copies_; }

 protected:
  void clone_bytes(int32_t src, int32_t dst) override {
    copies_.emplace_back(src, dst);
    CHECK(seq_len(dst) <= seq_len(src));  // no lock is held, and the clone is there
  }
  void* face(cache::FaceId id) override {
    void* const own = cache::expose<PoolFace>(this, id);
    return own != nullptr ? own : BatchedSequenceCache::face(id);
  }

 private:
  std::vector<std::pair<int32_t, int32_t>> copies_;
};

}  // namespace

TEST_CASE("batched: a host and a backend work through the faces") {
  const std::shared_ptr<cache::Cache> shared = std::make_shared<cache::BatchedSequenceCache>(config(16, {0, 4}, 4));
  auto* const control = shared->as<cache::BatchControl>();
  auto* const stepper = shared->as<cache::SeqSpanStepper>();
  REQUIRE(control != nullptr);
  REQUIRE(stepper != nullptr);
  CHECK(shared->as<cache::SequenceControl>() == nullptr);
  CHECK(shared->as<cache::CellStepper>() == nullptr);
  CHECK(std::string(cache::SeqSpanStepper::kFaceName) == "et.cache.SeqSpanStepper");
  CHECK(control->capacity() == 16);
  CHECK_FALSE(control->max_seqs());
  CHECK(control->seq_new() == 0);
  CHECK(control->seq_new() == 1);
  REQUIRE(control->declare_step({0, 0, 1, 1, 1}));
  const std::vector<cache::SeqSpan>* const spans = place(*stepper, 1, {0, 1, 0, 1, 2});
  REQUIRE(spans != nullptr);
  REQUIRE(spans->size() == 2);
  CHECK((*spans)[0].seq_id == 0);
  CHECK((*spans)[0].q_len == 2);
  CHECK(same_plan((*spans)[0].plan, cache::RingPolicy(4, 4).plan(0, 2)));
  CHECK((*spans)[1].seq_id == 1);
  CHECK((*spans)[1].q_len == 3);
  CHECK(same_plan((*spans)[1].plan, cache::RingPolicy(4, 4).plan(0, 3)));
  CHECK(control->seq_len(0) == 2);
  CHECK(control->next_pos(1) == 3);
  control->clear();
  CHECK(control->seq_len(1) == 0);
  CHECK(control->seq_new() == 0);
}

TEST_CASE("batched: plans are those of a sequence cache") {
  cache::BatchedSequenceCache tried(config(256, {0, 5, 3}, 3));
  const cache::SequenceCache alone(config(256, {0, 5, 3}, 3));
  REQUIRE(tried.seq_new() == 0);
  REQUIRE(tried.seq_new() == 1);
  Random random(3);
  int lengths[2] = {};
  for (int round = 0; round < 60; ++round) {
    const int n[2] = {random(3), 1 + random(3)};
    std::vector<int32_t> ids, positions;
    for (int32_t seq = 0; seq < 2; ++seq) {
      for (int i = 0; i < n[seq]; ++i) {
        ids.push_back(seq);
        positions.push_back(lengths[seq] + i);
      }
    }
    REQUIRE(tried.declare_step(ids));
    for (int layer_index : {2, 0, 1, 2}) {
      const std::vector<cache::SeqSpan>* const spans = place(tried, layer_index, positions);
      REQUIRE(spans != nullptr);
      REQUIRE(spans->size() == (n[0] > 0 ? 2 : 1));
      for (const cache::SeqSpan& span : *spans) {
        CHECK(span.q_len == n[span.seq_id]);
        CHECK(same_plan(span.plan, *alone.plan(layer_index, lengths[span.seq_id], span.q_len)));
      }
    }
    for (int seq = 0; seq < 2; ++seq) lengths[seq] += n[seq];
    CHECK(tried.seq_len(0) == lengths[0]);
    CHECK(tried.seq_len(1) == lengths[1]);
  }
}

TEST_CASE("batched: a sequence may appear twice in a step, and continues") {
  cache::BatchedSequenceCache tried(config(32, {0}));
  REQUIRE(tried.seq_new() == 0);
  REQUIRE(tried.seq_new() == 1);
  REQUIRE(append(tried, 0, 2) != nullptr);
  REQUIRE(tried.declare_step({0, 1, 0, 0}));
  CHECK(place(tried, 0, {2, 0, 2, 3}) == nullptr);
  CHECK(place(tried, 0, {2, 0, 4, 5}) == nullptr);
  const std::vector<cache::SeqSpan>* const spans = place(tried, 0, {2, 0, 3, 4});
  REQUIRE(spans != nullptr);
  REQUIRE(spans->size() == 3);
  CHECK((*spans)[2].seq_id == 0);
  CHECK((*spans)[2].q_len == 2);
  CHECK(same_plan((*spans)[2].plan, cache::FlatPolicy().plan(3, 2)));
  CHECK(tried.seq_len(0) == 5);
}

TEST_CASE("batched: repeats are the same, layers with the same window share, others have their own") {
  cache::BatchedSequenceCache tried(config(64, {0, 4, 0, 4}, 2));
  REQUIRE(tried.seq_new() == 0);
  for (int i = 0; i < 4; ++i) REQUIRE(append(tried, 0, 2) != nullptr);
  REQUIRE(tried.declare_step({0, 0}));
  const std::vector<cache::SeqSpan>* const flat = place(tried, 0, {8, 9});
  const std::vector<cache::SeqSpan>* const ring = place(tried, 1, {8, 9});
  REQUIRE(flat != nullptr);
  REQUIRE(ring != nullptr);
  CHECK(flat != ring);
  CHECK(place(tried, 2, {8, 9}) == flat);
  CHECK(place(tried, 3, {8, 9}) == ring);
  CHECK(place(tried, 0, {8, 9}) == flat);
  CHECK(same_plan((*ring)[0].plan, cache::RingPolicy(4, 2).plan(8, 2)));
  CHECK(place(tried, 0, {9, 10}) == nullptr);
  CHECK(tried.seq_len(0) == 10);
}

TEST_CASE("batched: what cannot be placed is refused, and the declaration stands") {
  cache::BatchedSequenceCache tried(config(16, {0}));
  REQUIRE(tried.seq_new() == 0);
  CHECK(place(tried, 0, {0}) == nullptr);
  REQUIRE(tried.declare_step({0, 0}));
  CHECK(place(tried, 0, {0}) == nullptr);
  CHECK(place(tried, 0, {0, 1, 2}) == nullptr);
  CHECK(place(tried, 1, {0, 1}) == nullptr);
  CHECK(place(tried, -1, {0, 1}) == nullptr);
  CHECK(place(tried, 0, {1, 2}) == nullptr);   // a gap before
  CHECK(place(tried, 0, {0, 2}) == nullptr);   // a gap within
  CHECK(place(tried, 0, {-1, 0}) == nullptr);
  CHECK(tried.place_step(0, nullptr, 2) == nullptr);
  const int32_t positions[] = {0, 1};
  CHECK(tried.place_step(0, positions, 0) == nullptr);
  CHECK(tried.place_step(0, positions, -2) == nullptr);
  CHECK(tried.seq_len(0) == 0);
  CHECK_FALSE(tried.declare_step({}));
  CHECK_FALSE(tried.declare_step({0, 1}));
  CHECK_FALSE(tried.declare_step(std::vector<int32_t>(17, 0)));
  CHECK(place(tried, 0, {0, 1}) != nullptr);
}

TEST_CASE("batched: every verb between layers ends the step") {
  const auto ends = [](auto verb) {
    cache::BatchedSequenceCache tried(config(16, {0, 0}));
    REQUIRE(tried.seq_new() == 0);
    REQUIRE(tried.seq_new() == 1);
    REQUIRE(append(tried, 0, 2) != nullptr);
    verb(tried);
    CHECK(place(tried, 0, {0, 1}) == nullptr);
  };
  using Batched = cache::BatchedSequenceCache;
  ends([](Batched& tried) { CHECK(tried.seq_new() == 2); });
  ends([](Batched& tried) { CHECK(tried.seq_clone(0, 1) == 2); });
  ends([](Batched& tried) { CHECK(tried.seq_rm(1)); });
  ends([](Batched& tried) { CHECK(tried.rewind(0, 1)); });
  ends([](Batched& tried) { tried.clear(); });
  ends([](Batched& tried) { CHECK(tried.declare_step({1})); });
}

TEST_CASE("batched: the capacity is shared by all, max_context bounds each") {
  cache::CacheConfig made = config(10, {0});
  made.max_context = 6;
  cache::BatchedSequenceCache tried(made);
  REQUIRE(tried.seq_new() == 0);
  REQUIRE(tried.seq_new() == 1);
  CHECK(tried.can_admit(0, 6));
  CHECK_FALSE(tried.can_admit(0, 7));
  CHECK(tried.can_admit(0, 0));
  CHECK_FALSE(tried.can_admit(0, -1));
  CHECK_FALSE(tried.declare_step(std::vector<int32_t>(7, 0)));
  REQUIRE(append(tried, 0, 6) != nullptr);
  CHECK_FALSE(tried.can_admit(0));
  CHECK(tried.can_admit(1, 4));
  CHECK_FALSE(tried.can_admit(1, 5));
  CHECK_FALSE(tried.seq_clone(0, std::nullopt));
  CHECK(tried.seq_clone(0, 4) == 2);
  CHECK_FALSE(tried.can_admit(1));
  CHECK(tried.seq_rm(2));
  CHECK(tried.can_admit(1, 4));
}

TEST_CASE("batched: max_write bounds a ring's steps, and no flat layer's") {
  cache::BatchedSequenceCache rings(config(64, {4, 0}, 2));
  REQUIRE(rings.seq_new() == 0);
  REQUIRE(rings.seq_new() == 1);
  CHECK_FALSE(rings.declare_step({0, 0, 0}));
  CHECK_FALSE(rings.declare_step({0, 1, 0, 0}));
  CHECK(rings.declare_step({0, 1, 0, 1}));
  cache::BatchedSequenceCache flat(config(64, {0}, 2));
  REQUIRE(flat.seq_new() == 0);
  CHECK(append(flat, 0, 30) != nullptr);
  cache::BatchedSequenceCache window(config(64, {4}));
  REQUIRE(window.seq_new() == 0);
  CHECK_FALSE(window.declare_step(std::vector<int32_t>(5, 0)));
  CHECK(append(window, 0, 4) != nullptr);
}

TEST_CASE("batched: ids are handed out lowest first, many of them") {
  cache::BatchedSequenceCache tried(config(8, {0, 4}));
  for (int32_t seq = 0; seq < 1000; ++seq) REQUIRE(tried.seq_new() == seq);
  CHECK(tried.seq_rm(500));
  CHECK(tried.seq_rm(70));
  CHECK_FALSE(tried.seq_rm(70));
  CHECK(tried.seq_new() == 70);
  CHECK(tried.seq_clone(3, std::nullopt) == 500);
  CHECK(tried.seq_new() == 1000);
}

TEST_CASE("batched: ids that nobody has are refused everywhere") {
  cache::BatchedSequenceCache tried(config(8, {0}));
  REQUIRE(tried.seq_new() == 0);
  for (int32_t seq : {-1, 1, 64, 5000, INT_MAX, INT_MIN}) {
    CHECK_FALSE(tried.declare_step({seq}));
    CHECK_FALSE(tried.can_admit(seq));
    CHECK_FALSE(tried.can_admit(seq, 0));
    CHECK_FALSE(tried.seq_clone(seq, std::nullopt));
    CHECK_FALSE(tried.seq_rm(seq));
    CHECK_FALSE(tried.rewind(seq, 0));
    CHECK(tried.seq_len(seq) == 0);
    CHECK(tried.next_pos(seq) == 0);
  }
}

TEST_CASE("batched: a rewind is refused when a window has dropped the target") {
  cache::BatchedSequenceCache tried(config(64, {0, 4}, 1));
  REQUIRE(tried.seq_new() == 0);
  REQUIRE(tried.seq_new() == 1);
  for (int i = 0; i < 12; ++i) REQUIRE(append(tried, 0, 1) != nullptr);
  CHECK_FALSE(tried.rewind(0, -1));
  CHECK_FALSE(tried.rewind(0, 13));
  CHECK_FALSE(tried.rewind(0, 5));
  CHECK(tried.seq_len(0) == 12);
  CHECK(tried.rewind(0, 12));
  CHECK_FALSE(tried.rewind(0, 10));  // 11 overwrote 7, which the next token there would see
  CHECK(tried.rewind(0, 11));
  CHECK(tried.rewind(0, 0));
  CHECK(tried.rewind(1, 0));
  cache::BatchedSequenceCache flat(config(64, {0}));
  REQUIRE(flat.seq_new() == 0);
  REQUIRE(append(flat, 0, 12) != nullptr);
  CHECK(flat.rewind(0, 5));
  CHECK(flat.seq_len(0) == 5);
  CHECK_FALSE(flat.rewind(0, 6));
}

TEST_CASE("batched: a clone copies the prefix, and tells the backend") {
  BackendCache tried(config(64, {0}));
  REQUIRE(tried.seq_new() == 0);
  REQUIRE(append(tried, 0, 6) != nullptr);
  CHECK(tried.seq_clone(0, 4) == 1);
  CHECK(tried.seq_clone(0, std::nullopt) == 2);
  CHECK(tried.seq_clone(1, 99) == 3);
  CHECK(tried.seq_clone(0, 0) == 4);
  CHECK_FALSE(tried.seq_clone(0, -1));
  CHECK_FALSE(tried.seq_clone(9, std::nullopt));
  CHECK(tried.seq_len(1) == 4);
  CHECK(tried.seq_len(2) == 6);
  CHECK(tried.seq_len(3) == 4);
  CHECK(tried.seq_len(4) == 0);
  cache::Cache& base = tried;
  REQUIRE(base.as<PoolFace>() != nullptr);
  const std::vector<std::pair<int32_t, int32_t>> copies = {{0, 1}, {0, 2}, {1, 3}, {0, 4}};
  CHECK(base.as<PoolFace>()->copies() == copies);
  REQUIRE(append(tried, 1, 1) != nullptr);
  CHECK(tried.seq_len(0) == 6);  // a history of its own
  CHECK(tried.rewind(1, 2));
  CHECK(tried.seq_len(0) == 6);
}

TEST_CASE("batched: a clone is refused when a windowed layer no longer holds the prefix") {
  BackendCache tried(config(64, {4, 0}, 1));
  REQUIRE(tried.seq_new() == 0);
  for (int i = 0; i < 12; ++i) REQUIRE(append(tried, 0, 1) != nullptr);
  CHECK_FALSE(tried.seq_clone(0, 5));
  CHECK(tried.copies().empty());
  CHECK(tried.seq_clone(0, std::nullopt) == 1);
  const std::vector<cache::SeqSpan>* const spans = append(tried, 1, 1);
  REQUIRE(spans != nullptr);
  CHECK(same_plan((*spans)[0].plan, cache::RingPolicy(4, 1).plan(12, 1)));
}

TEST_CASE("batched: a config that is not valid, or has too many windows, makes a cache of nothing") {
  for (const cache::CacheConfig& made : {cache::CacheConfig{}, config(0, {0}), config(8, {0, -3}),
                                         config(8, {0, 1, 2, 3, 4, 5, 6, 7, 8}), config(8, {0}, 0)}) {
    cache::BatchedSequenceCache none(made);
    CHECK(none.capacity() == 0);
    CHECK_FALSE(none.seq_new());
    CHECK_FALSE(none.declare_step({0}));
    CHECK_FALSE(none.can_admit(0));
    CHECK(place(none, 0, {0}) == nullptr);
    CHECK_FALSE(none.seq_rm(0));
    CHECK_FALSE(none.rewind(0, 0));
    none.clear();
  }
}

TEST_CASE("batched: a cache moves, and leaves one of nothing") {
  cache::BatchedSequenceCache from(config(8, {0}));
  REQUIRE(from.seq_new() == 0);
  REQUIRE(append(from, 0, 3) != nullptr);
  cache::BatchedSequenceCache to(std::move(from));
  CHECK(to.seq_len(0) == 3);
  CHECK_FALSE(from.seq_new());  // NOLINT: a moved-from cache refuses everything
  cache::BatchedSequenceCache again(config(4, {0}));
  again = std::move(to);
  CHECK(again.capacity() == 8);
  CHECK(append(again, 0, 1) != nullptr);
}
