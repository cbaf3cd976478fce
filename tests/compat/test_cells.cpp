// CellCache: sequences, cells, steps, masks.
#include "batch_support.h"

#include <climits>
#include <memory>
#include <type_traits>

namespace {

static_assert(cache::CellCache::kMaxSeqs == 64);
static_assert(std::is_convertible_v<cache::CacheConfig, cache::CellCache>);
static_assert(std::is_move_constructible_v<cache::CellCache> && std::is_move_assignable_v<cache::CellCache>);

class PoolFace {
 public:
  static constexpr const char* kFaceName = "test.PoolFace";
  virtual ~PoolFace() = default;
  virtual int declared() const = 0;
};

class BackendCache : public cache::CellCache, public PoolFace {
 public:
  explicit BackendCache(const cache::CacheConfig& made) : CellCache(made) {}
  int declared() const override { return declared_; }
  bool declare_step(const std::vector<int32_t>& seq_ids) override {
    const bool good = CellCache::declare_step(seq_ids);
    if (good) declared_ += static_cast<int>(seq_ids.size());
    return good;
  }

 protected:
  void* face(cache::FaceId id) override {
    void* const own = cache::expose<PoolFace>(this, id);
    return own != nullptr ? own : CellCache::face(id);
  }

 private:
  int declared_ = 0;
};

}  // namespace

TEST_CASE("cells: a host and a backend work through the faces") {
  const std::shared_ptr<cache::Cache> shared = std::make_shared<cache::CellCache>(config(8, {0, 0}));
  auto* const control = shared->as<cache::BatchControl>();
  auto* const stepper = shared->as<cache::CellStepper>();
  REQUIRE(control != nullptr);
  REQUIRE(stepper != nullptr);
  CHECK(shared->as<cache::SequenceControl>() == nullptr);
  CHECK(shared->as<cache::SequencePlanner>() == nullptr);
  CHECK(shared->as<cache::SeqSpanStepper>() == nullptr);
  CHECK(std::string(cache::CellStepper::kFaceName) == "et.cache.CellStepper");
  CHECK(control->capacity() == 8);
  CHECK(control->max_seqs() == 64);
  CHECK(control->seq_new() == 0);
  CHECK(control->can_admit(0));
  CHECK(control->declare_step({0, 0}));
  const cache::CellStep* const step = place(*stepper, 0, {0, 1});
  REQUIRE(step != nullptr);
  CHECK(step->length == 2);
  CHECK(step->read_len == 2);
  CHECK(step->cells == Cells{0, 1});
  CHECK(mask(*step) == Lines{"10", "11"});
  CHECK(control->seq_len(0) == 2);
  control->clear();
  CHECK(control->seq_len(0) == 0);
}

TEST_CASE("cells: a derived cache adds a face and keeps the others") {
  BackendCache backend(config(8, {0}));
  cache::Cache& base = backend;
  REQUIRE(base.as<PoolFace>() != nullptr);
  REQUIRE(base.as<cache::BatchControl>() != nullptr);
  REQUIRE(base.as<cache::CellStepper>() != nullptr);
  CHECK(base.as<cache::BatchControl>()->seq_new() == 0);
  CHECK(base.as<cache::BatchControl>()->declare_step({0, 0, 0}));
  CHECK(base.as<PoolFace>()->declared() == 3);
}

TEST_CASE("cells: ids are handed out lowest first and reserved until released") {
  cache::CellCache tried(config(8, {0}));
  for (int32_t seq = 0; seq < 64; ++seq) CHECK(tried.seq_new() == seq);
  CHECK_FALSE(tried.seq_new());
  CHECK_FALSE(tried.seq_clone(0, std::nullopt));
  CHECK(tried.seq_rm(40));
  CHECK(tried.seq_rm(7));
  CHECK_FALSE(tried.seq_rm(7));
  CHECK(tried.seq_new() == 7);
  CHECK(tried.seq_clone(0, std::nullopt) == 40);
  tried.clear();
  CHECK_FALSE(tried.seq_rm(3));
  CHECK(tried.seq_new() == 0);
}

TEST_CASE("cells: ids that nobody has are refused everywhere") {
  cache::CellCache tried(config(8, {0}));
  REQUIRE(tried.seq_new() == 0);
  for (int32_t seq : {-1, 1, 63, 64, INT_MAX, INT_MIN}) {
    CHECK_FALSE(tried.declare_step({seq}));
    CHECK_FALSE(tried.declare_step({0, seq}));
    CHECK_FALSE(tried.can_admit(seq));
    CHECK_FALSE(tried.can_admit(seq, 0));
    CHECK_FALSE(tried.seq_clone(seq, std::nullopt));
    CHECK_FALSE(tried.seq_clone(seq, 0));
    CHECK_FALSE(tried.seq_rm(seq));
    CHECK_FALSE(tried.rewind(seq, 0));
    CHECK(tried.seq_len(seq) == 0);
    CHECK(tried.next_pos(seq) == 0);
  }
  CHECK(tried.free_cells() == 8);
}

TEST_CASE("cells: admission") {
  cache::CellCache tried(config(4, {0}));
  REQUIRE(tried.seq_new() == 0);
  REQUIRE(tried.seq_new() == 1);
  CHECK(tried.can_admit(0, 4));
  CHECK_FALSE(tried.can_admit(0, 5));
  CHECK(tried.can_admit(0, 0));
  CHECK_FALSE(tried.can_admit(0, -1));
  CHECK_FALSE(tried.can_admit(0, INT_MAX));
  CHECK_FALSE(tried.declare_step({}));
  CHECK_FALSE(tried.declare_step({0, 0, 0, 1, 1}));
  REQUIRE(append(tried, 0, 3) != nullptr);
  CHECK(tried.free_cells() == 1);
  CHECK(tried.can_admit(1));
  CHECK_FALSE(tried.can_admit(1, 2));
  CHECK_FALSE(tried.declare_step({0, 1}));
  CHECK(tried.declare_step({1}));
  CHECK(tried.free_cells() == 1);  // not before it is placed
}

TEST_CASE("cells: what cannot be placed is refused, and the declaration stands") {
  cache::CellCache tried(config(16, {0, 4}));
  REQUIRE(tried.seq_new() == 0);
  REQUIRE(tried.seq_new() == 1);
  CHECK(place(tried, 0, {0}) == nullptr);  // nothing declared
  REQUIRE(append(tried, 0, 3) != nullptr);
  REQUIRE(tried.declare_step({0, 1, 0}));
  CHECK(place(tried, 0, {3, 0}) == nullptr);
  CHECK(place(tried, 0, {3, 0, 4, 5}) == nullptr);
  CHECK(place(tried, 2, {3, 0, 4}) == nullptr);
  CHECK(place(tried, -1, {3, 0, 4}) == nullptr);
  CHECK(place(tried, INT_MAX, {3, 0, 4}) == nullptr);
  CHECK(place(tried, 0, {2, 0, 3}) == nullptr);   // held already
  CHECK(place(tried, 0, {3, 0, 3}) == nullptr);   // twice
  CHECK(place(tried, 0, {4, 0, 3}) == nullptr);   // falling
  CHECK(place(tried, 0, {-1, 0, 3}) == nullptr);
  CHECK(tried.place_step(0, nullptr, 3) == nullptr);
  const int32_t positions[] = {3, 0, 4};
  CHECK(tried.place_step(0, positions, 0) == nullptr);
  CHECK(tried.place_step(0, positions, -3) == nullptr);
  CHECK(tried.seq_len(0) == 3);
  CHECK(tried.free_cells() == 13);
  const cache::CellStep* const step = place(tried, 1, {3, 0, 4});
  REQUIRE(step != nullptr);
  CHECK(step->cells == Cells{3, 4, 5});
  CHECK(place(tried, 0, {3, 0, 5}) == nullptr);  // not what was placed
  CHECK(place(tried, 1, {3, 0, 4}) == step);
}

TEST_CASE("cells: a refused declaration leaves the earlier one and its step") {
  cache::CellCache tried(config(4, {0}));
  REQUIRE(tried.seq_new() == 0);
  REQUIRE(tried.declare_step({0, 0}));
  CHECK_FALSE(tried.declare_step({0, 0, 0, 0, 0}));
  CHECK_FALSE(tried.declare_step({}));
  CHECK_FALSE(tried.declare_step({5}));
  const cache::CellStep* const step = place(tried, 0, {0, 1});
  REQUIRE(step != nullptr);
  CHECK_FALSE(tried.declare_step({0, 0, 0}));
  CHECK_FALSE(tried.rewind(9, 0));
  CHECK_FALSE(tried.seq_rm(9));
  CHECK_FALSE(tried.seq_clone(9, std::nullopt));
  CHECK_FALSE(tried.seq_clone(0, -1));
  CHECK(place(tried, 0, {0, 1}) == step);
  CHECK(tried.declare_step({0}));
  CHECK(place(tried, 0, {0, 1}) == nullptr);
}

TEST_CASE("cells: layers with the same window share one step, others have their own") {
  cache::CellCache tried(config(32, {0, 3, 0, 3, 5}));
  REQUIRE(tried.seq_new() == 0);
  REQUIRE(append(tried, 0, 4) != nullptr);
  REQUIRE(tried.declare_step({0, 0}));
  const std::vector<int32_t> positions = {4, 5};
  const cache::CellStep* const flat = place(tried, 0, positions);
  const cache::CellStep* const narrow = place(tried, 1, positions);
  const cache::CellStep* const wide = place(tried, 4, positions);
  REQUIRE(flat != nullptr);
  REQUIRE(narrow != nullptr);
  REQUIRE(wide != nullptr);
  CHECK(place(tried, 2, positions) == flat);
  CHECK(place(tried, 3, positions) == narrow);
  CHECK(place(tried, 0, positions) == flat);
  CHECK(narrow != flat);
  CHECK(narrow->cells == flat->cells);
  CHECK(narrow->read_len == flat->read_len);
  CHECK(mask(*flat) == Lines{"111110", "111111"});
  CHECK(mask(*narrow) == Lines{"001110", "000111"});
  CHECK(mask(*wide) == Lines{"111110", "011111"});
  CHECK(tried.seq_len(0) == 6);
}

TEST_CASE("cells: layers that differ in heads alone share a step too") {
  cache::CacheConfig made = config(8, {0, 0, 0});
  made.layers[1].n_kv_heads = 7;
  made.layers[2].head_dim = 128;
  cache::CellCache tried(made);
  REQUIRE(tried.seq_new() == 0);
  const cache::CellStep* const step = append(tried, 0, 2);
  REQUIRE(step != nullptr);
  CHECK(place(tried, 1, {0, 1}) == step);
  CHECK(place(tried, 2, {0, 1}) == step);
}

TEST_CASE("cells: every verb between layers ends the step") {
  const auto ends = [](auto verb) {
    cache::CellCache tried(config(8, {0, 0}));
    REQUIRE(tried.seq_new() == 0);
    REQUIRE(tried.seq_new() == 1);
    REQUIRE(append(tried, 0, 2) != nullptr);
    REQUIRE(place(tried, 1, {0, 1}) != nullptr);
    verb(tried);
    CHECK(place(tried, 0, {0, 1}) == nullptr);
    CHECK(place(tried, 1, {0, 1}) == nullptr);
  };
  ends([](cache::CellCache& tried) { CHECK(tried.seq_new() == 2); });
  ends([](cache::CellCache& tried) { CHECK(tried.seq_clone(0, 1) == 2); });
  ends([](cache::CellCache& tried) { CHECK(tried.seq_rm(1)); });
  ends([](cache::CellCache& tried) { CHECK(tried.rewind(0, 1)); });
  ends([](cache::CellCache& tried) { CHECK(tried.rewind(1, 0)); });
  ends([](cache::CellCache& tried) { tried.clear(); });
}

TEST_CASE("cells: questions do not end the step") {
  cache::CellCache tried(config(8, {0, 0}));
  REQUIRE(tried.seq_new() == 0);
  const cache::CellStep* const step = append(tried, 0, 2);
  REQUIRE(step != nullptr);
  CHECK(tried.capacity() == 8);
  CHECK(tried.can_admit(0, 6));
  CHECK(tried.max_seqs() == 64);
  CHECK(tried.seq_len(0) == 2);
  CHECK(tried.next_pos(0) == 2);
  CHECK(tried.free_cells() == 6);
  CHECK(tried.used_end() == 2);
  CHECK(place(tried, 1, {0, 1}) == step);
}

TEST_CASE("cells: a rewind of a live sequence always succeeds") {
  cache::CellCache tried(config(32, {0, 2}));
  REQUIRE(tried.seq_new() == 0);
  for (int i = 0; i < 10; ++i) REQUIRE(append(tried, 0, 2) != nullptr);
  CHECK(tried.rewind(0, 25));  // there is nothing to drop
  CHECK(tried.next_pos(0) == 20);
  CHECK(tried.rewind(0, INT_MAX));
  CHECK(tried.rewind(0, 20));
  CHECK(tried.rewind(0, 3));  // far behind the window
  CHECK(tried.next_pos(0) == 3);
  CHECK(tried.free_cells() == 29);
  const cache::CellStep* const step = append(tried, 0, 1, 1);
  REQUIRE(step != nullptr);
  CHECK(mask(*step) == Lines{"0011"});
  CHECK(tried.rewind(0, -4));
  CHECK(tried.seq_len(0) == 0);
  CHECK(tried.rewind(0, 0));
  CHECK(tried.next_pos(0) == 0);
}

TEST_CASE("cells: no window frees a cell") {
  cache::CellCache tried(config(8, {2}));
  REQUIRE(tried.seq_new() == 0);
  for (int i = 0; i < 8; ++i) REQUIRE(append(tried, 0, 1) != nullptr);
  CHECK(tried.free_cells() == 0);
  CHECK(tried.seq_len(0) == 8);
  CHECK_FALSE(tried.declare_step({0}));
}

TEST_CASE("cells: clones share, and a cell is free when its last owner lets go") {
  cache::CellCache tried(config(8, {0}));
  REQUIRE(tried.seq_new() == 0);
  REQUIRE(append(tried, 0, 4) != nullptr);
  CHECK(tried.seq_clone(0, std::nullopt) == 1);
  CHECK(tried.seq_clone(0, 2) == 2);
  CHECK(tried.seq_clone(0, 0) == 3);
  CHECK(tried.seq_clone(0, 99) == 4);
  CHECK_FALSE(tried.seq_clone(0, -1));
  CHECK(tried.seq_len(1) == 4);
  CHECK(tried.seq_len(2) == 2);
  CHECK(tried.seq_len(3) == 0);
  CHECK(tried.seq_len(4) == 4);
  CHECK(tried.free_cells() == 4);
  REQUIRE(tried.declare_step({2, 0}));
  const cache::CellStep* const step = place(tried, 0, {2, 4});
  REQUIRE(step != nullptr);
  CHECK(step->cells == Cells{4, 5});
  CHECK(mask(*step) == Lines{"110010", "111101"});
  CHECK(tried.seq_rm(0));
  CHECK(tried.free_cells() == 3);
  CHECK(tried.seq_rm(1));
  CHECK(tried.seq_rm(4));
  CHECK(tried.free_cells() == 5);
  CHECK(tried.used_end() == 5);
  CHECK(tried.seq_new() == 0);
  const cache::CellStep* const filled = append(tried, 0, 3);
  REQUIRE(filled != nullptr);
  CHECK(filled->cells == Cells{2, 3, 5});  // the lowest free ones
}

TEST_CASE("cells: used_end follows what is held") {
  cache::CellCache tried(config(8, {0}));
  CHECK(tried.used_end() == 0);
  REQUIRE(tried.seq_new() == 0);
  REQUIRE(tried.seq_new() == 1);
  REQUIRE(append(tried, 0, 3) != nullptr);
  REQUIRE(append(tried, 1, 2) != nullptr);
  CHECK(tried.used_end() == 5);
  CHECK(tried.rewind(0, 1));
  CHECK(tried.used_end() == 5);
  CHECK(tried.seq_clone(1, 1) == 2);
  CHECK(tried.seq_rm(1));
  CHECK(tried.used_end() == 4);
  CHECK(tried.rewind(2, 0));
  CHECK(tried.used_end() == 1);
  tried.clear();
  CHECK(tried.used_end() == 0);
  CHECK(tried.free_cells() == 8);
}

TEST_CASE("cells: positions may have gaps, and rise in each sequence") {
  cache::CellCache tried(config(16, {0, 4}));
  REQUIRE(tried.seq_new() == 0);
  REQUIRE(tried.declare_step({0, 0, 0}));
  REQUIRE(place(tried, 0, {2, 5, 9}) != nullptr);
  CHECK(tried.seq_len(0) == 3);
  CHECK(tried.next_pos(0) == 10);
  REQUIRE(tried.declare_step({0}));
  const cache::CellStep* const step = place(tried, 1, {12});
  REQUIRE(step != nullptr);
  CHECK(mask(*step) == Lines{"0011"});  // the window counts positions
  CHECK(tried.rewind(0, 9));
  CHECK(tried.next_pos(0) == 6);
  CHECK(tried.seq_len(0) == 2);
}

TEST_CASE("cells: max_context bounds positions") {
  cache::CacheConfig made = config(16, {0});
  made.max_context = 6;
  cache::CellCache tried(made);
  REQUIRE(tried.seq_new() == 0);
  CHECK(tried.can_admit(0, 6));
  CHECK_FALSE(tried.can_admit(0, 7));
  CHECK_FALSE(tried.declare_step({0, 0, 0, 0, 0, 0, 0}));
  REQUIRE(tried.declare_step({0}));
  CHECK(place(tried, 0, {6}) == nullptr);
  CHECK(place(tried, 0, {5}) != nullptr);
  CHECK_FALSE(tried.declare_step({0}));
}

TEST_CASE("cells: max_write is for rings, and cells are none") {
  cache::CellCache tried(config(16, {4, 0}, 2));
  REQUIRE(tried.seq_new() == 0);
  const cache::CellStep* const step = append(tried, 0, 7);
  REQUIRE(step != nullptr);
  CHECK(step->length == 7);
}
