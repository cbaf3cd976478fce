// The cell cache: its backend's face, and its owner.
#include "test.hpp"

#include <type_traits>

namespace {

using namespace test;

static_assert(sizeof(kvc::CellPlanner) == sizeof(void*) && std::is_trivially_copyable_v<kvc::CellPlanner>);
static_assert(!std::is_copy_constructible_v<kvc::CellCache<64>> && !std::is_move_constructible_v<kvc::CellCache<64>>);

constexpr Layer kMixed[] = {Layer::flat(), Layer::ring(2), Layer::ring(2)};

struct Fixture {
  kvc::CellCache<4096> cache;
  kvc::BatchControl control;
  kvc::CellPlanner planner;
  std::uint32_t rows[16] = {};

  Fixture() { build(Config::of(16, kMixed).with_max_seqs(4)); }
  void build(const Config& config) {
    cache.reset();
    REQUIRE(cache.init(config).ok());
    control = cache.batch_control();
    planner = cache.cell_planner();
    REQUIRE(control);
    REQUIRE(planner);
  }
  kvc::CellStep step(const std::vector<std::uint32_t>& seq_ids, const std::vector<std::uint32_t>& positions) {
    REQUIRE(control.declare_step(seq_ids).ok());
    const kvc::Result<kvc::CellStep> placed = planner.place_step(0, positions, rows);
    REQUIRE(placed.ok());
    return placed.value();
  }
};

TEST_CASE_FIXTURE(Fixture, "a step of one sequence at the tail of cells that it owns alone") {
  const std::uint32_t a = control.seq_new().value();
  const kvc::CellStep prefill = step({a, a, a}, {0, 1, 2});
  CHECK(prefill.mask_kind() == kvc::Mask::Causal);
  CHECK(prefill.n_tokens == 3);
  CHECK(prefill.read_len == 3);
  CHECK_FALSE(prefill.is_scattered());
  CHECK(prefill.write_start == 0);
  const kvc::CellStep decode = step({a}, {3});
  CHECK(decode.mask_kind() == kvc::Mask::None);
  CHECK(decode.write_start == 3);
  CHECK(decode.read_len == 4);
  CHECK(rows[0] == 3);
}

TEST_CASE_FIXTURE(Fixture, "tokens take the lowest free cells, wherever they are") {
  const std::uint32_t a = control.seq_new().value(), b = control.seq_new().value();
  step({a, b, a, b}, {0, 0, 1, 1});
  CHECK(control.seq_release(a).ok());
  const kvc::CellStep scattered = step({b, b, b}, {2, 3, 4});
  CHECK(scattered.is_scattered());
  CHECK(scattered.mask_kind() == kvc::Mask::Explicit);
  CHECK(rows[0] == 0);
  CHECK(rows[1] == 2);
  CHECK(rows[2] == 4);
}

TEST_CASE_FIXTURE(Fixture, "masks, as bytes and as bits, of each layer's window") {
  const std::uint32_t a = control.seq_new().value(), b = control.seq_new().value();
  step({a, b, a, a}, {0, 0, 1, 2});
  std::uint8_t bytes[4 * 5];
  REQUIRE(planner.mask_bytes(0, bytes, 5).ok());
  const std::uint8_t flat[4 * 5] = {1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0};
  for (std::size_t i = 0; i < 20; ++i) CHECK(bytes[i] == flat[i]);
  REQUIRE(planner.mask_bytes(1, bytes, 5).ok());
  CHECK(bytes[3 * 5 + 0] == 0);  // the window
  CHECK(bytes[3 * 5 + 2] == 1);
  std::uint32_t bits[4];
  REQUIRE(planner.mask_bits(0, bits, 1).ok());
  CHECK(bits[0] == 1);
  CHECK(bits[1] == 2);
  CHECK(bits[2] == 5);
  CHECK(bits[3] == 13);
  CHECK(planner.mask_bytes(0, bytes, 3) == Code::BufferTooSmall);
  CHECK(planner.mask_bytes(0, kvc::span<std::uint8_t>(bytes).first(15), 4) == Code::BufferTooSmall);
  CHECK(planner.mask_bits(0, kvc::span<std::uint32_t>(bits).first(3), 1) == Code::BufferTooSmall);
  CHECK(planner.mask_bytes(3, bytes, 5) == Code::BadLayer);
  CHECK(planner.mask_bits(3, bits, 1) == Code::BadLayer);
}

TEST_CASE_FIXTURE(Fixture, "what a placement refuses") {
  const std::uint32_t a = control.seq_new().value();
  std::uint8_t byte[1];
  CHECK(planner.mask_bytes(0, byte, 1) == Code::NoStep);
  const std::uint32_t seq_ids[] = {a, a}, positions[] = {0, 1}, falling[] = {1, 0}, other[] = {0, 2};
  CHECK(planner.place_step(0, positions, rows).status() == Code::NoStep);
  REQUIRE(control.declare_step(seq_ids).ok());
  CHECK(planner.place_step(0, {}, rows).status() == Code::InvalidArgument);
  CHECK(planner.place_step(3, positions, rows).status() == Code::BadLayer);
  CHECK(planner.place_step(0, falling, rows).status() == Code::BadPosition);
  CHECK(planner.place_step(0, kvc::span<const std::uint32_t>(positions).first(1), rows).status() == Code::NoStep);
  CHECK(planner.place_step(0, positions, kvc::span<std::uint32_t>(rows).first(1)).status() == Code::BufferTooSmall);
  CHECK(control.seq_len(a).value() == 0);
  CHECK(planner.place_step(0, positions, rows).ok());
  CHECK(planner.place_step(2, positions, rows).ok());
  CHECK(planner.place_step(0, other, rows).status() == Code::NoStep);
}

TEST_CASE_FIXTURE(Fixture, "removing a part of a sequence") {
  const std::uint32_t a = control.seq_new().value();
  step({a, a, a, a}, {0, 1, 2, 3});
  CHECK(control.seq_remove(a, 3, 1) == Code::InvalidArgument);
  CHECK(control.seq_remove(9, 0, 1) == Code::BadSequence);
  CHECK(control.seq_remove(a, 1, 3).ok());
  CHECK(control.seq_len(a).value() == 2);
  CHECK(control.next_pos(a).value() == 4);
  CHECK(control.seq_remove(a, 3, kvc::kUnbounded).ok());
  CHECK(control.next_pos(a).value() == 1);
}

TEST_CASE_FIXTURE(Fixture, "a context shift: positions move, keys are rotated once") {
  const std::uint32_t a = control.seq_new().value();
  step({a, a, a, a}, {0, 1, 2, 3});
  CHECK(planner.n_shifts(0).value() == 0);
  REQUIRE(control.seq_remove(a, 0, 2).ok());
  REQUIRE(control.seq_shift(a, 2, 4, -2).ok());
  CHECK(control.first_pos(a).value() == 0);
  CHECK(control.seq_shift(a, 0, 1, -1) == Code::BadPosition);
  CHECK(control.seq_shift(a, 2, 1, 1) == Code::InvalidArgument);
  kvc::Shift shifts[4];
  CHECK(planner.n_shifts(0).value() == 1);
  CHECK(planner.shifts(0, {}).status() == Code::BufferTooSmall);
  CHECK(planner.shifts(3, shifts).status() == Code::BadLayer);
  CHECK(planner.n_shifts(3).status() == Code::BadLayer);

  const std::uint32_t seq_ids[] = {a}, position[] = {2};
  REQUIRE(control.declare_step(seq_ids).ok());
  const auto pending = planner.shifts(0, shifts);
  REQUIRE(pending.ok());
  REQUIRE(pending.value().size() == 1);
  CHECK(pending.value().data() == shifts);
  CHECK(shifts[0].row == 2);
  CHECK(shifts[0].len == 2);
  CHECK(shifts[0].delta == -2);
  // A step's shifts are being carried out.
  kvc::Move moves[4];
  CHECK(control.seq_shift(a, 0, 1, 5) == Code::Unsupported);
  CHECK(planner.defrag(0, moves).status() == Code::Unsupported);
  CHECK(planner.shifts_done().ok());
  CHECK(planner.place_step(0, position, rows).ok());
  CHECK(planner.n_shifts(0).value() == 0);
  const std::uint32_t b = control.seq_clone(a).value();
  CHECK(control.seq_shift(b, 0, 1, 9) == Code::Shared);
}

TEST_CASE_FIXTURE(Fixture, "defragmentation, a move at a time") {
  const std::uint32_t a = control.seq_new().value(), b = control.seq_new().value();
  step({a, b, a, b, a, b}, {0, 0, 1, 1, 2, 2});
  REQUIRE(control.seq_release(a).ok());
  kvc::Move moves[4];
  CHECK(planner.defrag(3, moves).status() == Code::BadLayer);
  CHECK(planner.defrag(0, {}).value().empty());
  const auto first = planner.defrag(0, kvc::span<kvc::Move>(moves).first(1));
  REQUIRE(first.ok());
  REQUIRE(first.value().size() == 1);
  CHECK(moves[0].to == 0);
  std::size_t more = 0;
  while (!planner.defrag(0, moves).value().empty()) ++more;
  CHECK(more >= 1);
  const kvc::CellStep compact = step({b}, {3});
  CHECK(compact.read_len == 4);
}

TEST_CASE_FIXTURE(Fixture, "cells behind every window come back, unless they are kept") {
  constexpr Layer layer = Layer::ring(2);
  const Config config = Config::uniform(8, 1, layer).with_max_seqs(1);
  for (const bool keep : {false, true}) {
    build(keep ? config.with_flags(kvc::kKeepCells) : config);
    const std::uint32_t a = control.seq_new().value();
    for (std::uint32_t i = 0; i < 8; ++i) step({a}, {i});
    CHECK(control.can_admit(a, 1).value() != keep);
    CHECK(control.rewind(a, 2) == (keep ? Code::Ok : Code::Evicted));
    CHECK(control.first_pos(a).value() == (keep ? 0u : 6u));
  }
}

TEST_CASE_FIXTURE(Fixture, "pools for layer groups") {
  build(Config::of(16, kMixed).with_max_seqs(1).with_max_write(1).with_flags(kvc::kSplitPools));
  const std::uint32_t a = control.seq_new().value();
  for (std::uint32_t i = 0; i < 10; ++i) step({a}, {i});
  const std::uint32_t position[] = {9};
  CHECK(planner.place_step(0, position, rows).value().read_len == 10);
  CHECK(planner.place_step(1, position, rows).value().read_len <= 3);
  CHECK(cache.layer(1).value().rows == 3);
}

TEST_CASE("an empty planner of cells refuses") {
  const kvc::CellPlanner empty;
  CHECK_FALSE(empty);
  const std::uint32_t position[] = {0};
  std::uint32_t row[1];
  std::uint8_t byte[1];
  kvc::Shift shift[1];
  kvc::Move move[1];
  CHECK(empty.place_step(0, position, row).status() == Code::InvalidArgument);
  CHECK(empty.mask_bytes(0, byte, 1) == Code::InvalidArgument);
  CHECK(empty.mask_bits(0, row, 1) == Code::InvalidArgument);
  CHECK(empty.n_shifts(0).status() == Code::InvalidArgument);
  CHECK(empty.shifts(0, shift).status() == Code::InvalidArgument);
  CHECK(empty.shifts_done() == Code::InvalidArgument);
  CHECK(empty.defrag(0, move).status() == Code::InvalidArgument);
}

TEST_CASE("configs and storage of a cell cache") {
  const Config config = Config::uniform(64, 1, Layer::flat()).with_max_seqs(4);
  CHECK(config.check().ok());
  CHECK(kvc::cells_size(config.with_max_seqs(0)).status() == Code::InvalidConfig);
  CHECK(kvc::cells_size(config.with_max_seqs(kvc::kMaxSeqs + 1)).status() == Code::InvalidConfig);
  CHECK(kvc::cells_size(config.with_flags(4)).status() == Code::InvalidConfig);
  CHECK(kvc::cells_size(Config::uniform(kvc::kUnbounded, 1, Layer::ring(8)).with_max_seqs(1)).status() ==
        Code::InvalidConfig);
  const std::size_t bytes = kvc::cells_size(config).value();
  kvc::Buffer<4096> buffer;
  REQUIRE(bytes <= sizeof(buffer));
  CHECK(kvc::cells_in({buffer.bytes, bytes - 1}, config).status() == Code::BufferTooSmall);
  CHECK(kvc::cells_in({buffer.bytes + 1, bytes}, config).status() == Code::InvalidArgument);
  CHECK(kvc::cells_in({buffer.bytes, bytes}, config).ok());

  kvc::CellCache<64> small;
  CHECK(small.init(config) == Code::BufferTooSmall);
  CHECK_FALSE(small);
  static kvc::CellCache<4096> cache;
  CHECK_FALSE(cache);
  CHECK(cache.init(config.with_max_seqs(0)) == Code::InvalidConfig);
  CHECK(cache.init(config).ok());
  CHECK(cache.init(config) == Code::AlreadyExists);
  cache.reset();
  CHECK_FALSE(cache);
  CHECK(cache.init(config).ok());
}

struct Pool {
  static constexpr const char* kFaceName = "test.pool";
  int drops = 0;
};
void drop_pool(Pool& pool) { ++pool.drops; }

TEST_CASE("the end of a cell cache, in an object and in storage of the caller's") {
  Pool pool;
  const Config config = Config::uniform(16, 1, Layer::flat()).with_max_seqs(1);
  {
    kvc::CellCache<4096> cache;
    REQUIRE(cache.init(config).ok());
    REQUIRE(cache.set_face<Pool, drop_pool>(pool).ok());
  }
  CHECK(pool.drops == 1);
  kvc::Buffer<4096> storage;
  kvc::Cache cache = kvc::CellCache<4096>::build_in(storage, config).value();
  kvc::Cache copy = cache;
  const kvc::BatchControl control = cache.batch_control();
  REQUIRE(cache.set_face<Pool, drop_pool>(pool).ok());
  cache.reset();
  CHECK(control.seq_new().value() == 0);  // the copy has a reference
  copy.reset();
  CHECK(pool.drops == 2);
  CHECK(control.seq_new().status() == Code::Stale);
}

}  // namespace
