// The one difference from ExecuTorch's cache: a rewind after which a stale row would be read is refused.
#include "support.h"

#include <climits>

TEST_CASE("flat layers rewind to any length, and never forward") {
  cache::SequenceCache tried(config(64, {0, 0}));
  REQUIRE(step(tried, 2, 20));
  CHECK_FALSE(tried.rewind(21));
  CHECK_FALSE(tried.rewind(-1));
  CHECK_FALSE(tried.rewind(INT_MIN));
  CHECK(tried.length() == 20);
  CHECK(tried.rewind(20));
  CHECK(tried.rewind(7));
  CHECK(tried.length() == 7);
  CHECK(tried.rewind(0));
  CHECK(tried.length() == 0);
}

TEST_CASE("a target whose rows the ring has overwritten is refused, and nothing moves") {
  cache::SequenceCache tried(config(64, {0, 4}, 1));  // 4 rows: no slack
  REQUIRE(decode(tried, 2, 10));
  for (int target = 1; target < 9; ++target) CHECK_FALSE(tried.rewind(target));
  CHECK(tried.length() == 10);
  CHECK(tried.rewind(9));
  CHECK(tried.length() == 9);
}

TEST_CASE("rewinding twice does not bring rows back") {
  cache::SequenceCache tried(config(64, {4}, 4));  // 7 rows
  REQUIRE(step(tried, 1, 4));
  REQUIRE(step(tried, 1, 4));
  REQUIRE(step(tried, 1, 2));
  CHECK(tried.rewind(6));
  CHECK_FALSE(tried.rewind(2));
  CHECK(tried.length() == 6);
}

TEST_CASE("rows written after a rewind count again") {
  cache::SequenceCache tried(config(64, {8}, 4));  // 11 rows
  REQUIRE(decode(tried, 1, 20));
  CHECK(tried.rewind(17));
  REQUIRE(decode(tried, 1, 1));
  CHECK(tried.rewind(17));
  CHECK_FALSE(tried.rewind(15));
}

TEST_CASE("a plan that is never committed takes its rows all the same") {
  cache::SequenceCache tried(config(64, {4}, 4));  // 7 rows
  REQUIRE(decode(tried, 1, 10));
  cache::SequenceCache twin = tried;
  CHECK(twin.rewind(7));
  REQUIRE(tried.plan(0, 10, 4).has_value());  // the forward fails half-way
  CHECK_FALSE(tried.rewind(7));
  CHECK(tried.rewind(10));
}

TEST_CASE("a plan of any layer counts for the rings of all") {
  cache::SequenceCache tried(config(64, {0, 4}, 4));
  REQUIRE(decode(tried, 2, 10));
  REQUIRE(tried.plan(0, 10, 4).has_value());
  CHECK_FALSE(tried.rewind(7));
}

TEST_CASE("a plan ahead of the length takes its rows too") {
  cache::SequenceCache tried(config(64, {4}, 2));  // 5 rows
  REQUIRE(step(tried, 1, 2));
  REQUIRE(step(tried, 1, 1));
  REQUIRE(tried.plan(0, 6, 1).has_value());  // row 1
  CHECK_FALSE(tried.rewind(2));
  CHECK(tried.rewind(1));  // sees position 0 only, which is still there
}

TEST_CASE("a plan of a position long past takes the row of a newer one") {
  cache::SequenceCache tried(config(64, {4}, 1));  // 4 rows
  REQUIRE(decode(tried, 1, 10));
  CHECK(tried.plan(0, 4, 1).has_value());  // the row of 8
  CHECK_FALSE(tried.rewind(9));
  CHECK_FALSE(tried.rewind(5));  // nor does it bring position 4 back
}

TEST_CASE("planning the newest step again takes nothing") {
  cache::SequenceCache tried(config(64, {4, 4}, 2));
  REQUIRE(decode(tried, 2, 9));
  REQUIRE(step(tried, 2, 2));
  CHECK(tried.plan(1, 9, 2).has_value());  // a layer that shares its donor's rows
  CHECK(tried.rewind(10));
}

TEST_CASE("positions that a jump ahead skipped are not in a ring") {
  cache::SequenceCache tried(config(64, {4}, 2));
  REQUIRE(step(tried, 1, 2));
  tried.commit(*tried.plan(0, 20, 2));
  CHECK(tried.length() == 22);
  CHECK_FALSE(tried.rewind(21));
  CHECK_FALSE(tried.rewind(22));
  REQUIRE(step(tried, 1, 2));
  CHECK(tried.rewind(23));  // sees 20, 21, 22
  CHECK_FALSE(tried.rewind(2));
  CHECK(tried.rewind(0));
}

TEST_CASE("positions given up by a rewind and skipped by the next step do not count again") {
  cache::SequenceCache tried(config(64, {4}, 4));
  REQUIRE(decode(tried, 1, 10));
  CHECK(tried.rewind(8));
  tried.commit(*tried.plan(0, 10, 1));  // the rows of 8 and 9 are of tokens that were taken back
  CHECK(tried.length() == 11);
  CHECK_FALSE(tried.rewind(11));
  CHECK_FALSE(tried.rewind(10));
  CHECK(tried.rewind(8));
}

TEST_CASE("a commit of a step whose rows another step took since does not bring them back") {
  cache::SequenceCache tried(config(64, {4}, 4));  // 7 rows
  REQUIRE(decode(tried, 1, 9));
  const cache::SeqStepPlan late = *tried.plan(0, 9, 4);  // 9 to 12: rows 2, 3, 4, 5
  CHECK(tried.rewind(9));
  tried.commit(*tried.plan(0, 16, 4));  // the same rows
  tried.commit(late);
  CHECK(tried.length() == 20);
  CHECK_FALSE(tried.rewind(13));
  tried.clear();
  CHECK(tried.length() == 0);
}

TEST_CASE("a step too long for a ring leaves nothing in it") {
  cache::SequenceCache tried(config(64, {0, 4}, 2));
  REQUIRE(step(tried, 2, 2));
  tried.commit(*tried.plan(0, 2, 10));  // the ring layer would have refused
  CHECK(tried.length() == 12);
  CHECK_FALSE(tried.rewind(11));
  CHECK(tried.rewind(1));
}

TEST_CASE("a window of one position needs no row, and 0 is always allowed") {
  cache::SequenceCache one(config(64, {1}, 1));
  REQUIRE(decode(one, 1, 10));
  CHECK(one.rewind(3));
  cache::SequenceCache ring(config(64, {4}, 1));
  REQUIRE(decode(ring, 1, 10));
  CHECK(ring.rewind(0));
  REQUIRE(decode(ring, 1, 3));
  CHECK(ring.rewind(2));
  ring.clear();
  CHECK(ring.length() == 0);
}

TEST_CASE("a group with the smaller window does not decide for the larger one") {
  cache::SequenceCache tried(config(64, {2, 8}, 2));  // 3 and 9 rows
  REQUIRE(decode(tried, 2, 20));
  // The small ring holds 17 to 19, the large one 11 to 19.
  CHECK_FALSE(tried.rewind(17));  // the small one misses 16
  CHECK_FALSE(tried.rewind(16));
  CHECK(tried.rewind(18));
}

// Of a step whose plan does not own its rows any more, or never did here, nobody knows when it was written.
TEST_CASE("a step committed without a plan of its own takes rows, and is not counted on") {
  const cache::CacheConfig six_rows = config(64, {4}, 3);
  const auto refuses = [](cache::SequenceCache& tried, const cache::SeqStepPlan& plan) {
    tried.commit(plan);
    CHECK(tried.length() == 9);
    CHECK_FALSE(tried.rewind(4));  // positions 1 and 2 gave their rows to 7 and 8
    CHECK_FALSE(tried.rewind(8));  // whether 6 and 7 are there is not known
    CHECK(tried.length() == 9);
    CHECK(tried.rewind(0));
  };
  SUBCASE("planned before others took its rows") {
    cache::SequenceCache tried(six_rows);
    const auto early = tried.plan(0, 6, 3);
    REQUIRE(step(tried, 1, 3));
    REQUIRE(step(tried, 1, 3));
    refuses(tried, early.value());
  }
  SUBCASE("planned by a fork") {
    cache::SequenceCache tried(six_rows);
    REQUIRE(step(tried, 1, 3));
    REQUIRE(step(tried, 1, 3));
    const cache::SequenceCache fork = tried;
    refuses(tried, fork.plan(0, 6, 3).value());
  }
  SUBCASE("planned by the policy alone") {
    cache::SequenceCache tried(six_rows);
    REQUIRE(step(tried, 1, 3));
    REQUIRE(step(tried, 1, 3));
    refuses(tried, cache::RingPolicy(4, 3).plan(6, 3));
  }
  SUBCASE("and what is planned and committed afterwards counts again") {
    cache::SequenceCache tried(six_rows);
    REQUIRE(step(tried, 1, 3));
    REQUIRE(step(tried, 1, 3));
    tried.commit(cache::RingPolicy(4, 3).plan(6, 3));
    REQUIRE(step(tried, 1, 3));
    REQUIRE(step(tried, 1, 1));
    CHECK(tried.rewind(12));
    CHECK(tried.length() == 12);
  }
}
