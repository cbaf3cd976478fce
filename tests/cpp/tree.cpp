// Token trees.
#include "test.hpp"

namespace {

using namespace test;

//        0
//      1   2
//     3   4 5
//           6
constexpr std::int32_t kParents[] = {-1, 0, 0, 1, 2, 2, 5};

TEST_CASE("positions are the base and the depth") {
  std::uint32_t positions[7];
  REQUIRE(kvc::tree_positions(kParents, 10, positions).ok());
  const std::uint32_t wanted[] = {10, 11, 11, 12, 12, 12, 13};
  for (std::size_t i = 0; i < 7; ++i) CHECK(positions[i] == wanted[i]);
  CHECK(kvc::tree_positions(kParents, 10, kvc::span<std::uint32_t>(positions).first(6)) == Code::BufferTooSmall);
  CHECK(kvc::tree_positions(kParents, UINT32_MAX - 2, positions) == Code::InvalidArgument);
  CHECK(kvc::tree_positions({}, 0, positions) == Code::InvalidArgument);
  const std::int32_t itself[] = {-1, 1}, outside[] = {-2}, many[257] = {-1};
  CHECK(kvc::tree_positions(itself, 0, positions) == Code::InvalidArgument);
  CHECK(kvc::tree_positions(outside, 0, positions) == Code::InvalidArgument);
  std::uint32_t long_positions[257];
  CHECK(kvc::tree_positions(many, 0, long_positions) == Code::InvalidArgument);
}

TEST_CASE("intervals say what the mask says") {
  std::uint16_t pre[7], end[7];
  REQUIRE(kvc::tree_intervals(kParents, pre, end).ok());
  const kvc::SeqPlan plan = kvc::layout_plan(Layer::flat(), 0, 0, 0, 7).value();
  std::uint8_t mask[7 * 7];
  REQUIRE(plan.mask_bytes(mask, 7, kvc::Columns::Read, kParents).ok());
  for (std::size_t i = 0; i < 7; ++i) {
    for (std::size_t j = 0; j < 7; ++j) CHECK((pre[j] <= pre[i] && pre[i] < end[j]) == (mask[i * 7 + j] == 1));
  }
  CHECK(kvc::tree_intervals(kParents, kvc::span<std::uint16_t>(pre).first(6), end) == Code::BufferTooSmall);
  CHECK(kvc::tree_intervals(kParents, pre, kvc::span<std::uint16_t>(end).first(6)) == Code::BufferTooSmall);
  const std::int32_t outside[] = {-2};
  CHECK(kvc::tree_intervals(outside, pre, end) == Code::InvalidArgument);
}

TEST_CASE("the accepted path moves to the first rows of the step") {
  const std::uint32_t rows[] = {3, 4, 5, 6, 7, 0, 1};  // a ring that wrapped
  kvc::Move moves[7];
  const auto path = kvc::tree_moves(rows, kParents, 6, moves);  // 0, 2, 5, 6
  REQUIRE(path.ok());
  CHECK(path.value().accepted == 4);
  std::uint32_t pool[8] = {105, 106, 0, 100, 101, 102, 103, 104};
  for (const kvc::Move& move : path.value().moves) {
    for (std::uint32_t i = 0; i < move.len; ++i) pool[move.to + i] = pool[move.from + i];
  }
  CHECK(pool[3] == 100);
  CHECK(pool[4] == 102);
  CHECK(pool[5] == 105);
  CHECK(pool[6] == 106);
}

TEST_CASE("nothing accepted, and what is refused") {
  const std::uint32_t rows[] = {0, 1, 2, 3, 4, 5, 6};
  kvc::Move moves[7];
  const auto none = kvc::tree_moves(rows, kParents, -1, moves);
  REQUIRE(none.ok());
  CHECK(none.value().accepted == 0);
  CHECK(none.value().moves.empty());
  const auto straight = kvc::tree_moves(rows, kParents, 1, {});  // 0 and 1 are where they belong
  REQUIRE(straight.ok());
  CHECK(straight.value().accepted == 2);
  CHECK(kvc::tree_moves(rows, kParents, 7, moves).status() == Code::InvalidArgument);
  CHECK(kvc::tree_moves(rows, kParents, -2, moves).status() == Code::InvalidArgument);
  CHECK(kvc::tree_moves(kvc::span<const std::uint32_t>(rows).first(6), kParents, 0, moves).status() ==
        Code::InvalidArgument);
  CHECK(kvc::tree_moves(rows, kParents, 6, {}).status() == Code::BufferTooSmall);
}

}  // namespace
