// What C++ sees of a cache of many sequences that C built.
#include "batch_support.h"

#include <executorch/extension/llm/cache/detail/native.h>

#include <climits>
#include <memory>

namespace {

// A cache of kvcore in memory of its own, and an adapter that holds a reference to it.
class Adapted {
 public:
  using Size = kvc_status_t (*)(const kvc_config_t*, std::size_t*);
  using Init = kvc_status_t (*)(void*, std::size_t, const kvc_config_t*, kvc_cache_t**);

  Adapted(Size size, Init init, const std::vector<kvc_layer_t>& layers, std::uint32_t flags = 0) {
    kvc_config_t made = kvc_config_default();
    made.capacity = 32;
    made.n_layers = made.n_layer_entries = static_cast<std::uint32_t>(layers.size());
    made.layers = layers.data();
    made.max_seqs = 4;
    made.max_write = 8;
    made.flags = flags;
    std::size_t bytes = 0;
    REQUIRE(size(&made, &bytes) == KVC_OK);
    storage_.resize(bytes / 8 + 1);
    REQUIRE(init(storage_.data(), bytes, &made, &native_) == KVC_OK);
    const auto note = [](void* flag, void*) { *static_cast<bool*>(flag) = true; };
    REQUIRE(kvc_cache_on_release(native_, note, &released_) == KVC_OK);
    cache_ = cache::detail::adapted(native_);
  }

  kvc_cache_t* native() const { return native_; }
  cache::BatchControl& control() const { return *cache_->as<cache::BatchControl>(); }
  template <class T>
  T* as() const {
    return cache_->as<T>();
  }
  std::shared_ptr<cache::Cache>& cache() { return cache_; }
  const bool& released() const { return released_; }

 private:
  std::vector<std::uint64_t> storage_;
  kvc_cache_t* native_ = nullptr;
  bool released_ = false;
  std::shared_ptr<cache::Cache> cache_;
};

kvc_layer_t flat() { return kvc_layer_t{}; }
kvc_layer_t ring(std::uint32_t window, std::uint32_t sinks = 0) { return {KVC_LAYER_RING, window, sinks, 0, 0, 0}; }

}  // namespace

TEST_CASE("a native cell cache offers the faces of many sequences, by kvcore's rules") {
  Adapted adapted(kvc_cells_size, kvc_cells_init, {flat(), ring(2)});
  CHECK(adapted.as<cache::SequenceControl>() == nullptr);
  CHECK(adapted.as<cache::SequencePlanner>() == nullptr);
  CHECK(adapted.as<cache::SeqSpanStepper>() == nullptr);
  REQUIRE(adapted.as<cache::BatchControl>() != nullptr);
  REQUIRE(adapted.as<cache::CellStepper>() != nullptr);
  cache::BatchControl& control = adapted.control();
  cache::CellStepper& stepper = *adapted.as<cache::CellStepper>();
  CHECK(control.capacity() == 32);
  CHECK(control.max_seqs() == 4);
  CHECK(control.seq_new() == 0);
  CHECK(control.seq_clone(0, std::nullopt) == 1);
  CHECK(control.can_admit(0, 32));
  CHECK_FALSE(control.can_admit(0, 33));
  CHECK_FALSE(control.can_admit(2));
  CHECK_FALSE(control.declare_step({2}));
  CHECK_FALSE(control.declare_step(std::vector<int32_t>(9, 0)));  // max_write
  REQUIRE(control.declare_step({0, 1, 0}));
  const cache::CellStep* const step = place(stepper, 0, {0, 0, 1});
  REQUIRE(step != nullptr);
  CHECK(step->cells == Cells{0, 1, 2});
  CHECK(mask(*step) == Lines{"100", "010", "101"});
  CHECK(place(stepper, 0, {0, 0, 1}) == step);
  const cache::CellStep* const narrow = place(stepper, 1, {0, 0, 1});
  REQUIRE(narrow != nullptr);
  CHECK(narrow->cells == step->cells);
  CHECK(place(stepper, 2, {0, 0, 1}) == nullptr);
  CHECK(place(stepper, -1, {0, 0, 1}) == nullptr);
  CHECK(place(stepper, 0, {-1, 0, 1}) == nullptr);
  CHECK(stepper.place_step(0, nullptr, 3) == nullptr);
  CHECK(control.seq_len(0) == 2);
  CHECK(control.next_pos(1) == 1);
  CHECK_FALSE(control.rewind(0, 3));  // which a CellCache takes
  CHECK_FALSE(control.rewind(0, -1));
  CHECK(control.rewind(0, 1));
  CHECK(place(stepper, 0, {0, 0, 1}) == nullptr);
  CHECK(control.seq_rm(1));
  CHECK_FALSE(control.seq_rm(1));
  control.clear();
  CHECK(control.next_pos(0) == 0);
}

TEST_CASE("a step that C ended and placed anew is not the old one") {
  Adapted adapted(kvc_cells_size, kvc_cells_init, {flat()});
  cache::CellStepper& stepper = *adapted.as<cache::CellStepper>();
  REQUIRE(adapted.control().seq_new() == 0);
  REQUIRE(adapted.control().seq_new() == 1);
  REQUIRE(adapted.control().declare_step({0}));
  REQUIRE(place(stepper, 0, {3}) != nullptr);
  const std::uint32_t seq = 1;
  REQUIRE(kvc_batch_declare_step(adapted.native(), &seq, 1) == KVC_OK);
  const cache::CellStep* const step = place(stepper, 0, {3});
  REQUIRE(step != nullptr);
  CHECK(step->cells == Cells{1});
  CHECK(mask(*step) == Lines{"01"});
}

TEST_CASE("a native cell cache with a pool for each layer group") {
  Adapted adapted(kvc_cells_size, kvc_cells_init, {flat(), ring(2)}, KVC_SPLIT_POOLS);
  cache::CellStepper& stepper = *adapted.as<cache::CellStepper>();
  REQUIRE(adapted.control().seq_new() == 0);
  for (int32_t i = 0; i < 8; ++i) {
    REQUIRE(adapted.control().declare_step({0}));
    REQUIRE(place(stepper, 0, {i}) != nullptr);
    const cache::CellStep* const narrow = place(stepper, 1, {i});
    REQUIRE(narrow != nullptr);
    CHECK(narrow->read_len <= 3);  // cells behind the window came back
  }
  CHECK(place(stepper, 0, {7})->read_len == 8);
}

TEST_CASE("a native private-row cache offers the faces of many sequences") {
  Adapted adapted(kvc_rows_size, kvc_rows_init, {flat(), ring(4)});
  CHECK(adapted.as<cache::SequenceControl>() == nullptr);
  CHECK(adapted.as<cache::CellStepper>() == nullptr);
  REQUIRE(adapted.as<cache::SeqSpanStepper>() != nullptr);
  cache::BatchControl& control = adapted.control();
  cache::SeqSpanStepper& stepper = *adapted.as<cache::SeqSpanStepper>();
  CHECK(control.max_seqs() == 4);
  REQUIRE(control.seq_new() == 0);
  REQUIRE(control.seq_new() == 1);
  REQUIRE(control.declare_step({0, 0, 1}));
  const std::vector<cache::SeqSpan>* const spans = place(stepper, 1, {0, 1, 0});
  REQUIRE(spans != nullptr);
  REQUIRE(spans->size() == 2);
  CHECK((*spans)[1].seq_id == 1);
  CHECK(same_plan((*spans)[0].plan, cache::RingPolicy(4, 8).plan(0, 2)));
  CHECK(place(stepper, 2, {0, 1, 0}) == nullptr);
  CHECK(place(stepper, 0, {0, 1, 1}) == nullptr);
  CHECK(control.seq_clone(0, 1) == 2);
  CHECK(control.seq_len(2) == 1);
  CHECK_FALSE(control.rewind(0, 5));
  CHECK(control.rewind(0, 0));
}

TEST_CASE("plans with a gap between sinks and window cannot be said for many sequences either") {
  Adapted adapted(kvc_rows_size, kvc_rows_init, {ring(2, 1)});
  cache::SeqSpanStepper& stepper = *adapted.as<cache::SeqSpanStepper>();
  REQUIRE(adapted.control().seq_new() == 0);
  for (int32_t i = 0; i < 3; ++i) {
    REQUIRE(adapted.control().declare_step({0}));
    CHECK(place(stepper, 0, {i}) != nullptr);
  }
  REQUIRE(adapted.control().declare_step({0}));
  CHECK(place(stepper, 0, {3}) == nullptr);  // reads 0, then 2 and 3
}

TEST_CASE("adapters of many sequences hold a reference") {
  Adapted adapted(kvc_rows_size, kvc_rows_init, {flat()});
  CHECK_FALSE(adapted.released());
  adapted.cache().reset();
  CHECK(adapted.released());
}
