#include "test.hpp"

#include <type_traits>
#include <vector>

namespace {

using namespace test;

static_assert(sizeof(kvc::SeqPlan) == sizeof(kvc_seq_plan_t) && std::is_trivially_copyable_v<kvc::SeqPlan>);

/// Window 4, 2 sinks, steps of 3: 6 ring rows behind the sinks.
kvc::SeqPlan plan_at(std::uint32_t position, std::uint32_t n) {
  return kvc::layout_plan(Layer::ring(4, 2), 3, 0, position, n).value();
}

TEST_CASE("arithmetic alone") {
  const kvc::SeqPlan plan = plan_at(10, 3);
  CHECK(plan.position == 10);
  CHECK(plan.n_tokens == 3);
  CHECK(plan.epoch == 0);
  CHECK(plan.mask_kind() == kvc::Mask::Window);
  // Positions 10 to 12 are in ring rows 2, 3, 4 of 6; 7 to 9 in 5, 0, 1.
  REQUIRE(plan.writes().size() == 1);
  CHECK(plan.writes()[0].start == 2 + 2);
  CHECK(plan.writes()[0].len == 3);
  CHECK(plan.writes()[0].pos == 10);
  REQUIRE(plan.reads().size() == 3);
  CHECK(plan.reads()[0].len == 2);
  CHECK(plan.reads()[1].start == 2 + 5);
  CHECK(plan.reads()[2].pos == 8);
  CHECK(plan.read_len == 2 + 6);
}

TEST_CASE("what arithmetic refuses") {
  CHECK(kvc::layout_plan(Layer::ring(4), 0, 0, 0, 0).status() == Code::InvalidArgument);
  CHECK(kvc::layout_plan(Layer::ring(0), 0, 0, 0, 1).status() == Code::InvalidConfig);
  CHECK(kvc::layout_plan(Layer::ring(4), 2, 0, 0, 3).status() == Code::StepTooLarge);
  CHECK(kvc::layout_plan(Layer::flat(), 0, 0, UINT32_MAX, 2).status() == Code::InvalidArgument);
}

TEST_CASE("positions of the read rows") {
  const kvc::SeqPlan plan = plan_at(10, 3);
  std::vector<std::uint32_t> positions(plan.read_len);
  REQUIRE(plan.positions(positions).ok());
  CHECK(positions == std::vector<std::uint32_t>{0, 1, 7, 8, 9, 10, 11, 12});
  CHECK(plan.positions(kvc::span<std::uint32_t>(positions).first(7)) == Code::BufferTooSmall);
  CHECK(plan.positions({}) == Code::InvalidArgument);
}

TEST_CASE("a mask as bytes and as bits") {
  const kvc::SeqPlan plan = plan_at(10, 3);
  std::vector<std::uint8_t> bytes(3 * 9, 9);
  REQUIRE(plan.mask_bytes(bytes, 9).ok());
  const std::vector<std::uint8_t> expected = {
      1, 1, 1, 1, 1, 1, 0, 0, 0,  // 10 sees the sinks and 7 to 10
      1, 1, 0, 1, 1, 1, 1, 0, 0,  //
      1, 1, 0, 0, 1, 1, 1, 1, 0,  // the last column is padding
  };
  CHECK(bytes == expected);
  std::uint32_t bits[3] = {};
  REQUIRE(plan.mask_bits(bits, 1).ok());
  CHECK(bits[0] == 0x3f);
  CHECK(bits[1] == 0x7b);
  CHECK(bits[2] == 0xf3);
  CHECK(plan.mask_bytes(bytes, 7) == Code::BufferTooSmall);
  CHECK(plan.mask_bits(kvc::span<std::uint32_t>(bits).first(2), 1) == Code::BufferTooSmall);
}

TEST_CASE("columns may be rows of the pool") {
  const kvc::SeqPlan plan = plan_at(10, 1);
  std::uint32_t bits = 0;
  REQUIRE(plan.mask_bits(kvc::span<std::uint32_t>(&bits, 1), 1, kvc::Columns::Pool).ok());
  // Rows of the sinks 0 and 1, of 7 (ring row 5), of 8, 9, 10 (ring rows 0, 1, 2).
  CHECK(bits == (0x3u | 1u << 7 | 0x7u << 2));
}

TEST_CASE("trees") {
  const kvc::SeqPlan plan = kvc::layout_plan(Layer::flat(), 0, 0, 1, 3).value();
  std::uint32_t bits[3] = {};
  const std::int32_t parents[] = {-1, 0, 0};
  REQUIRE(plan.mask_bits(bits, 1, kvc::Columns::Read, parents).ok());
  CHECK(bits[0] == 0x3);
  CHECK(bits[1] == 0x7);
  CHECK(bits[2] == 0xb);
  std::uint8_t bytes[3 * 4] = {};
  REQUIRE(plan.mask_bytes(bytes, 4, kvc::Columns::Read, parents).ok());
  CHECK(bytes[2 * 4 + 2] == 0);
  CHECK(bytes[2 * 4 + 3] == 1);
  // One parent a token: a shorter array is never read past its end.
  CHECK(plan.mask_bits(bits, 1, kvc::Columns::Read, kvc::span<const std::int32_t>(parents).first(2)) ==
        Code::InvalidArgument);
  CHECK(plan.mask_bytes(bytes, 4, kvc::Columns::Read, kvc::span<const std::int32_t>(parents).first(2)) ==
        Code::InvalidArgument);
  const std::int32_t no_tree[] = {-1, 1, 0};
  CHECK(plan.mask_bits(bits, 1, kvc::Columns::Read, no_tree) == Code::InvalidArgument);
}

TEST_CASE("a plan that was made up stays within its arrays") {
  kvc::SeqPlan plan = plan_at(10, 3);
  plan.n_read = 100;
  CHECK(plan.reads().size() == 3);
  plan.n_write = 100;
  CHECK(plan.writes().size() == 2);
  std::uint32_t positions[8];
  CHECK(plan.positions(positions) == Code::InvalidArgument);
}

TEST_CASE("pool sizes") {
  CHECK(kvc::grow_rows(512, 100, 4096) == 512);
  CHECK(kvc::grow_rows(512, 1025, 4096) == 2048);
  CHECK(kvc::grow_rows(0, 3, 3) == 3);
  CHECK(kvc::pool_bytes(3, 1, 1, 4).value() == 2);
  CHECK(kvc::pool_bytes(3, 0, 1, 4).status() == Code::InvalidArgument);
  CHECK(kvc::pool_bytes(UINT32_MAX, UINT32_MAX, UINT32_MAX, 64).status() == Code::InvalidArgument);
}

}  // namespace
