// The private-row cache: its backend's face, and its owner.
#include "test.hpp"

#include <type_traits>

namespace {

using namespace test;

static_assert(sizeof(kvc::RowsPlanner) == sizeof(void*) && std::is_trivially_copyable_v<kvc::RowsPlanner>);
static_assert(!std::is_copy_constructible_v<kvc::RowsCache<4096>>);

constexpr Layer kMixed[] = {Layer::flat(), Layer::ring(4, 1)};

struct Fixture {
  kvc::RowsCache<4096> cache;
  kvc::BatchControl control;
  kvc::RowsPlanner planner;
  kvc::SeqSpan parts[8];

  Fixture() {
    REQUIRE(cache.init(Config::of(64, kMixed).with_max_seqs(3).with_max_write(4)).ok());
    control = cache.batch_control();
    planner = cache.rows_planner();
    REQUIRE(control);
    REQUIRE(planner);
  }
  std::size_t step(std::uint32_t layer, const std::vector<std::uint32_t>& seq_ids,
                   const std::vector<std::uint32_t>& positions) {
    REQUIRE(control.declare_step(seq_ids).ok());
    const auto placed = planner.place_step(layer, positions, parts);
    REQUIRE(placed.ok());
    CHECK(placed.value().data() == parts);
    return placed.value().size();
  }
};

TEST_CASE_FIXTURE(Fixture, "each span is planned against its own sequence") {
  const std::uint32_t a = control.seq_new().value(), b = control.seq_new().value();
  REQUIRE(step(0, {a, a, a, b}, {0, 1, 2, 0}) == 2);
  CHECK(parts[0].seq == a);
  CHECK(parts[0].n_tokens == 3);
  CHECK(parts[1].seq == b);
  const kvc::SeqPlan own = parts[1].seq_plan();
  CHECK(own.writes()[0].start == 0);
  CHECK(own.read_len == 1);
  CHECK(own.mask_kind() == kvc::Mask::None);
  const std::uint32_t positions[] = {0, 1, 2, 0};
  REQUIRE(planner.place_step(1, positions, parts).value().size() == 2);
  CHECK(parts[0].plan.window == 4);
  CHECK(control.seq_len(a).value() == 3);
  REQUIRE(step(0, {b, a, b}, {1, 3, 2}) == 3);
  CHECK(parts[2].plan.position == 2);
  CHECK(control.seq_len(b).value() == 3);
}

TEST_CASE_FIXTURE(Fixture, "a plan is the one of a cache of one sequence") {
  kvc::SequenceCache<2> alone;
  REQUIRE(alone.init(Config::of(64, kMixed).with_max_write(4)).ok());
  const kvc::SequencePlanner one = alone.sequence_planner();
  const std::uint32_t a = control.seq_new().value();
  for (std::uint32_t at = 0; at < 40; at += 2) {
    REQUIRE(step(1, {a, a}, {at, at + 1}) == 1);
    const kvc::SeqPlan wanted = one.plan(1, at, 2).value();
    const kvc::SeqPlan got = parts[0].seq_plan();
    CHECK(got.n_write == wanted.n_write);
    CHECK(got.n_read == wanted.n_read);
    CHECK(got.read_len == wanted.read_len);
    CHECK(got.mask_kind() == wanted.mask_kind());
    for (std::size_t i = 0; i < got.reads().size(); ++i) {
      CHECK(got.reads()[i].start == wanted.reads()[i].start);
      CHECK(got.reads()[i].len == wanted.reads()[i].len);
      CHECK(got.reads()[i].pos == wanted.reads()[i].pos);
    }
    CHECK(one.commit(wanted).ok());
  }
  CHECK(control.rewind(a, 20) == Code::Evicted);
}

TEST_CASE_FIXTURE(Fixture, "what a placement refuses") {
  const std::uint32_t a = control.seq_new().value(), b = control.seq_new().value();
  const std::uint32_t seq_ids[] = {a, b, a}, positions[] = {0, 0, 1}, gap[] = {0, 0, 2}, ahead[] = {1, 0, 2};
  CHECK(planner.place_step(0, positions, parts).status() == Code::NoStep);
  CHECK(planner.n_spans(0, positions).status() == Code::NoStep);
  REQUIRE(control.declare_step(seq_ids).ok());
  CHECK(planner.place_step(2, positions, parts).status() == Code::BadLayer);
  CHECK(planner.place_step(0, gap, parts).status() == Code::BadPosition);
  CHECK(planner.place_step(0, ahead, parts).status() == Code::BadPosition);
  CHECK(planner.place_step(0, {}, parts).status() == Code::InvalidArgument);
  CHECK(planner.place_step(0, kvc::span<const std::uint32_t>(positions).first(2), parts).status() == Code::NoStep);
  CHECK(planner.place_step(0, positions, kvc::span<kvc::SeqSpan>(parts).first(2)).status() == Code::BufferTooSmall);
  CHECK(planner.n_spans(0, positions).value() == 3);
  CHECK(control.seq_len(a).value() == 0);  // nothing was placed
  CHECK(planner.place_step(0, positions, parts).ok());
  CHECK(control.seq_len(a).value() == 2);
}

TEST_CASE_FIXTURE(Fixture, "what a clone has to copy") {
  const std::uint32_t a = control.seq_new().value();
  for (std::uint32_t at = 0; at < 20; at += 4) step(0, {a, a, a, a}, {at, at + 1, at + 2, at + 3});
  const std::uint32_t b = control.seq_clone(a).value();
  kvc::Run rows[3];
  const auto flat = planner.held(0, b, rows);
  REQUIRE(flat.ok());
  REQUIRE(flat.value().size() == 1);
  CHECK(rows[0].start == 0);
  CHECK(rows[0].len == 20);
  CHECK(planner.held(1, b, rows).value().size() >= 2);  // the sink, and the window
  CHECK(rows[0].pos == 0);
  CHECK(planner.held(1, b, {}).status() == Code::BufferTooSmall);
  CHECK(planner.held(2, b, rows).status() == Code::BadLayer);
  CHECK(planner.held(0, 7, rows).status() == Code::BadSequence);
  CHECK(control.seq_clone(a, 6).status() == Code::Evicted);
}

TEST_CASE_FIXTURE(Fixture, "the rows are shared by all") {
  kvc::RowsCache<4096> small;
  REQUIRE(small.init(Config::uniform(6, 1, Layer::flat()).with_max_seqs(2).with_max_context(5)).ok());
  const kvc::BatchControl owner = small.batch_control();
  const std::uint32_t a = owner.seq_new().value(), b = owner.seq_new().value();
  const std::vector<std::uint32_t> four(4, a);
  REQUIRE(owner.declare_step(four).ok());
  const std::uint32_t positions[] = {0, 1, 2, 3};
  REQUIRE(small.rows_planner().place_step(0, positions, parts).ok());
  CHECK(owner.free_rows().value() == 2);
  CHECK(owner.can_admit(a, 1).value());
  CHECK_FALSE(owner.can_admit(a, 2).value());  // max_context
  CHECK(owner.can_admit(b, 2).value());
  CHECK_FALSE(owner.can_admit(b, 3).value());
}

TEST_CASE("an empty planner of rows refuses") {
  const kvc::RowsPlanner empty;
  CHECK_FALSE(empty);
  const std::uint32_t position[] = {0};
  kvc::SeqSpan part[1];
  kvc::Run run[1];
  CHECK(empty.place_step(0, position, part).status() == Code::InvalidArgument);
  CHECK(empty.n_spans(0, position).status() == Code::InvalidArgument);
  CHECK(empty.held(0, 0, run).status() == Code::InvalidArgument);
}

TEST_CASE("configs and storage of a private-row cache") {
  const Config config = Config::uniform(64, 1, Layer::flat()).with_max_seqs(4);
  CHECK(kvc::rows_size(config.with_max_seqs(0)).status() == Code::InvalidConfig);
  CHECK(kvc::rows_size(config.with_max_seqs(4096)).ok());
  CHECK(kvc::rows_size(config.with_max_seqs(4097)).status() == Code::InvalidConfig);
  const std::size_t bytes = kvc::rows_size(config).value();
  kvc::Buffer<4096> buffer;
  REQUIRE(bytes <= sizeof(buffer));
  CHECK(kvc::rows_in({buffer.bytes, bytes - 1}, config).status() == Code::BufferTooSmall);
  CHECK(kvc::rows_in({buffer.bytes, bytes}, config).ok());
  kvc::RowsCache<64> small;
  CHECK(small.init(config) == Code::BufferTooSmall);
  kvc::RowsCache<4096> cache;
  CHECK(cache.init(config).ok());
  CHECK(cache.init(config) == Code::AlreadyExists);
  cache.reset();
  CHECK_FALSE(cache.rows_planner());
  CHECK(cache.init(config).ok());
}

}  // namespace
