#include "test.hpp"

#include <array>
#include <type_traits>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

namespace {

template <class To, class From>
constexpr bool converts = std::is_convertible_v<From, kvc::span<To>>;

static_assert(converts<int, int (&)[3]> && converts<const int, int (&)[3]> && !converts<int, const int (&)[3]>);
static_assert(converts<int, std::array<int, 3>&> && !converts<int, const std::array<int, 3>&>);
static_assert(converts<const int, const std::array<int, 3>&> && converts<int, std::vector<int>&>);
static_assert(converts<const int, kvc::span<int>> && !converts<int, kvc::span<const int>>);
// A temporary can be read until the end of the expression, never written.
static_assert(converts<const int, std::vector<int>> && !converts<int, std::vector<int>>);
// Neither another type nor a derived one: the elements would be of another size.
struct Base {
  int a;
};
struct Derived : Base {
  int b;
};
static_assert(!converts<long, int (&)[3]> && !converts<Base, Derived (&)[3]> && !converts<Base, std::vector<Derived>&>);
static_assert(!converts<int, int> && !converts<char, const char*>);
static_assert(std::is_trivially_copyable_v<kvc::span<int>>);

TEST_CASE("a span is made of arrays and containers") {
  int array[] = {1, 2, 3};
  std::array<int, 2> fixed = {4, 5};
  std::vector<int> vector = {6, 7, 8, 9};
  CHECK(kvc::span<int>(array).size() == 3);
  CHECK(kvc::span<const int>(fixed).data() == fixed.data());
  kvc::span<int> all = vector;
  all[3] = 1;
  CHECK(vector.back() == 1);
  CHECK(all.first(2).size() == 2);
  CHECK(all.first(9).size() == 4);
  CHECK(kvc::span<int>().empty());
  CHECK(kvc::span<int>().begin() == kvc::span<int>().end());
  CHECK(kvc::span<int>(std::vector<int>().data(), 0).first(3).empty());
}

TEST_CASE("a copy of a span is a span of the same elements, not of the span") {
  int array[] = {1, 2};
  kvc::span<int> one = array;
  kvc::span<int> two = one;
  kvc::span<const int> three = one;
  CHECK(two.data() == array);
  CHECK(three.data() == array);
}

#if __cplusplus >= 202002L
static_assert(converts<const int, std::span<int>> && !converts<int, std::span<const int>>);
// A view says the same as a temporary.
static_assert(converts<int, std::span<int>> && converts<int, const std::span<int>>);

TEST_CASE("std::span goes both ways") {
  int array[] = {1, 2, 3};
  std::span<int> theirs = array;
  kvc::span<int> ours = theirs;
  std::span<int> back = ours;
  CHECK(back.data() == array);
  CHECK(back.size() == 3);
  std::uint32_t rows[4] = {};
  const kvc::SeqPlan plan = kvc::layout_plan(kvc::Layer::flat(), 0, 0, 0, 4).value();
  std::span<std::uint32_t> room = rows;
  CHECK(plan.positions(room).ok());
  CHECK(rows[3] == 3);
}
#endif

}  // namespace
