// CellCache: models of any size, configs of nothing, moves.
#include "batch_support.h"

#include <climits>
#include <utility>

TEST_CASE("cells: models of any size") {
  cache::CacheConfig made = config(8, {3});
  made.n_layers = INT_MAX;
  cache::CellCache tried(made);
  REQUIRE(tried.seq_new() == 0);
  const cache::CellStep* const step = append(tried, 0, 2, INT_MAX - 1);
  REQUIRE(step != nullptr);
  CHECK(place(tried, 0, {0, 1}) == step);
  const cache::CellCache many(config(8, std::vector<int>(1000, 0)));
  CHECK(many.capacity() == 8);
}

TEST_CASE("cells: a config that is not valid, or has too many windows, makes a cache of nothing") {
  for (const cache::CacheConfig& made : {cache::CacheConfig{}, config(0, {0}), config(8, {-3}),
                                         config(8, {0, 1, 2, 3, 4, 5, 6, 7, 8}), config(INT_MAX, {0}, -1)}) {
    cache::CellCache none(made);
    CHECK(none.capacity() == 0);
    CHECK_FALSE(none.seq_new());
    CHECK_FALSE(none.seq_clone(0, std::nullopt));
    CHECK_FALSE(none.declare_step({0}));
    CHECK_FALSE(none.can_admit(0));
    CHECK(place(none, 0, {0}) == nullptr);
    CHECK_FALSE(none.seq_rm(0));
    CHECK_FALSE(none.rewind(0, 0));
    CHECK(none.free_cells() == 0);
    CHECK(none.used_end() == 0);
    none.clear();
  }
  cache::CellCache eight(config(8, {0, 1, 2, 3, 4, 5, 6, 7}));
  CHECK(eight.seq_new() == 0);
}

TEST_CASE("cells: a cache moves, and leaves one of nothing") {
  cache::CellCache from(config(8, {0}));
  REQUIRE(from.seq_new() == 0);
  const cache::CellStep* const step = append(from, 0, 3);
  REQUIRE(step != nullptr);
  cache::CellCache to(std::move(from));
  CHECK(to.seq_len(0) == 3);
  CHECK(place(to, 0, {0, 1, 2}) == step);
  CHECK_FALSE(from.seq_new());  // NOLINT: a moved-from cache refuses everything
  CHECK(from.capacity() == 0);
  cache::CellCache again(config(4, {0}));
  again = std::move(to);
  CHECK(again.capacity() == 8);
  CHECK(again.as<cache::BatchControl>() == static_cast<cache::BatchControl*>(&again));
  CHECK(append(again, 0, 1) != nullptr);
}
