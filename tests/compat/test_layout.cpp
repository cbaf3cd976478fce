// LayoutPolicy: the arithmetic of plans.
#include "support.h"

#include <algorithm>
#include <climits>

TEST_CASE("a flat layer keeps every position in a row of its own") {
  const cache::FlatPolicy flat;
  const cache::SeqStepPlan plan = flat.plan(5, 3);
  CHECK(plan.n_write == 1);
  CHECK(plan.write[0].start == 5);
  CHECK(plan.write[0].len == 3);
  CHECK(plan.n_read == 1);
  CHECK(plan.read[0].start == 0);
  CHECK(plan.read[0].len == 8);
  CHECK(plan.read_base_pos == 0);
  CHECK(flat.retained_from(0) == 0);
  CHECK(flat.retained_from(1000) == 0);
}

TEST_CASE("a ring wraps what it writes and what it reads") {
  const cache::RingPolicy ring(4, 4);  // 7 rows
  const cache::SeqStepPlan write_wraps = ring.plan(6, 2);
  CHECK(written(write_wraps) == std::vector<int>{6, 0});
  CHECK(write_wraps.n_write == 2);
  CHECK(read(write_wraps) == std::vector<int>{3, 4, 5, 6, 0});
  CHECK(write_wraps.n_read == 2);
  CHECK(write_wraps.read_base_pos == 3);

  const cache::SeqStepPlan read_wraps = ring.plan(8, 1);
  CHECK(written(read_wraps) == std::vector<int>{1});
  CHECK(read(read_wraps) == std::vector<int>{5, 6, 0, 1});
  CHECK(read_wraps.read_base_pos == 5);

  const cache::SeqStepPlan ends_at_the_edge = ring.plan(3, 4);
  CHECK(ends_at_the_edge.n_write == 1);
  CHECK(ends_at_the_edge.n_read == 1);
  CHECK(read(ends_at_the_edge) == std::vector<int>{0, 1, 2, 3, 4, 5, 6});
  CHECK(ends_at_the_edge.read_base_pos == 0);
}

TEST_CASE("a ring plans a jump ahead") {
  const cache::RingPolicy ring(4, 2);  // 5 rows
  const cache::SeqStepPlan plan = ring.plan(1003, 2);
  CHECK(written(plan) == std::vector<int>{3, 4});
  CHECK(read(plan) == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(plan.read_base_pos == 1000);
}

TEST_CASE("a ring retains as many positions as it has rows") {
  const cache::RingPolicy ring(4, 3);  // 6 rows
  CHECK(ring.retained_from(0) == 0);
  CHECK(ring.retained_from(6) == 0);
  CHECK(ring.retained_from(7) == 1);
  CHECK(ring.retained_from(100) == 94);
  CHECK(cache::RingPolicy(4, 1).retained_from(10) == 6);
  CHECK(cache::RingPolicy(INT_MAX, INT_MAX).retained_from(INT_MAX) == 0);
}

TEST_CASE("a step that the layout does not allow has a plan without runs") {
  const auto is_refused = [](const cache::SeqStepPlan& plan) { return plan.n_write == 0 && plan.n_read == 0; };
  const cache::FlatPolicy flat;
  const cache::RingPolicy ring(4, 2);
  for (const cache::LayoutPolicy* policy : {static_cast<const cache::LayoutPolicy*>(&flat),
                                            static_cast<const cache::LayoutPolicy*>(&ring)}) {
    CHECK(is_refused(policy->plan(0, 0)));
    CHECK(is_refused(policy->plan(0, -1)));
    CHECK(is_refused(policy->plan(-1, 1)));
    CHECK(is_refused(policy->plan(INT_MAX, 1)));
    CHECK_FALSE(is_refused(policy->plan(INT_MAX - 1, 1)));
  }
  CHECK(is_refused(ring.plan(0, 3)));
  CHECK_FALSE(is_refused(flat.plan(0, 3)));
  CHECK(is_refused(cache::RingPolicy(0, 2).plan(0, 1)));
  CHECK(is_refused(cache::RingPolicy(-4, 2).plan(0, 1)));
  CHECK(is_refused(cache::RingPolicy(4, 0).plan(0, 1)));
}

TEST_CASE("plans of a ring hold what the arithmetic says, for every position and step") {
  for (int window = 1; window <= 5; ++window) {
    for (int max_write = 1; max_write <= 5; ++max_write) {
      const cache::RingPolicy ring(window, max_write);
      const int ring_rows = window + max_write - 1;
      for (int position = 0; position <= 3 * ring_rows; ++position) {
        for (int n = 1; n <= max_write; ++n) {
          const cache::SeqStepPlan plan = ring.plan(position, n);
          std::vector<int> writes, reads;
          for (int p = position; p < position + n; ++p) writes.push_back(p % ring_rows);
          const int base = std::max(0, position - window + 1);
          for (int p = base; p < position + n; ++p) reads.push_back(p % ring_rows);
          REQUIRE(written(plan) == writes);
          REQUIRE(read(plan) == reads);
          REQUIRE(plan.read_base_pos == base);
        }
      }
    }
  }
}
