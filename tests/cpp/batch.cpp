// The application's face of caches of many sequences: what cells and private rows have in common.
#include "test.hpp"

#include <type_traits>

namespace {

using namespace test;

static_assert(sizeof(kvc::BatchControl) == sizeof(void*) && std::is_trivially_copyable_v<kvc::BatchControl>);
static_assert(!std::is_constructible_v<kvc::BatchControl, kvc_cache_t*>);

const Config kConfig = Config::uniform(16, 2, Layer::flat()).with_max_seqs(3).with_max_write(6);

/// Declares and places the next tokens of sequences, whichever kind the cache is of.
Code append(const kvc::AnyCache& cache, const std::vector<std::uint32_t>& seq_ids) {
  const kvc::BatchControl control = cache.batch_control();
  const kvc::Status declared = control.declare_step(seq_ids);
  if (!declared.ok()) return declared.code();
  std::vector<std::uint32_t> positions, rows(seq_ids.size()), added(8, 0);
  for (std::uint32_t seq : seq_ids) positions.push_back(control.next_pos(seq).value() + added[seq]++);
  std::vector<kvc::SeqSpan> parts(seq_ids.size());
  if (cache.cell_planner()) return cache.cell_planner().place_step(0, positions, rows).status().code();
  return cache.rows_planner().place_step(0, positions, parts).status().code();
}

/// Both kinds answer these calls alike.
void both(void (*check)(const kvc::AnyCache&)) {
  kvc::CellCache<4096> cells;
  REQUIRE(cells.init(kConfig).ok());
  check(cells);
  kvc::RowsCache<4096> rows;
  REQUIRE(rows.init(kConfig).ok());
  check(rows);
}

TEST_CASE("sequences come and go, the lowest free id first") {
  both([](const kvc::AnyCache& cache) {
    const kvc::BatchControl control = cache.batch_control();
    REQUIRE(control);
    CHECK(control.seq_new().value() == 0);
    CHECK(control.seq_new().value() == 1);
    CHECK(control.seq_clone(0).value() == 2);
    CHECK(control.seq_new().status() == Code::TableFull);
    CHECK(control.seq_clone(0).status() == Code::TableFull);
    CHECK(control.seq_release(1).ok());
    CHECK(control.seq_release(1) == Code::BadSequence);
    CHECK(control.seq_new().value() == 1);
    CHECK(control.seq_keep(2).ok());
    CHECK(control.seq_keep(0) == Code::BadSequence);
    CHECK(control.seq_new().value() == 0);
    CHECK(control.clear().ok());
    CHECK(control.seq_len(2).status() == Code::BadSequence);
  });
}

TEST_CASE("admission") {
  both([](const kvc::AnyCache& cache) {
    const kvc::BatchControl control = cache.batch_control();
    const std::uint32_t a = control.seq_new().value(), b = control.seq_new().value();
    CHECK(control.capacity().value() == 16);
    CHECK(control.can_admit(a, 16).value());
    CHECK_FALSE(control.can_admit(a, 17).value());
    CHECK(control.can_admit(a).value());
    CHECK(control.can_admit(a, 0).status() == Code::InvalidArgument);
    CHECK(control.can_admit(7).status() == Code::BadSequence);
    CHECK(control.declare_step({}) == Code::InvalidArgument);
    const std::uint32_t unknown[] = {a, 7};
    CHECK(control.declare_step(unknown) == Code::BadSequence);
    CHECK(append(cache, std::vector<std::uint32_t>(7, a)) == Code::StepTooLarge);
    CHECK(append(cache, {a, a, a, a, a, a}) == Code::Ok);
    CHECK(append(cache, {b, b, b, b, b}) == Code::Ok);
    CHECK(control.free_rows().value() == 5);
    CHECK(append(cache, {a, a, b, b, b, b}) == Code::OutOfCapacity);
    CHECK(append(cache, {a, a, b, b, b}) == Code::Ok);
    CHECK_FALSE(control.can_admit(b).value());
  });
}

TEST_CASE("lengths, rewinds, clones") {
  both([](const kvc::AnyCache& cache) {
    const kvc::BatchControl control = cache.batch_control();
    const std::uint32_t a = control.seq_new().value();
    CHECK(control.seq_len(a).value() == 0);
    CHECK(control.next_pos(a).value() == 0);
    CHECK(control.first_pos(a).value() == kvc::kUnbounded);
    REQUIRE(append(cache, {a, a, a, a}) == Code::Ok);
    CHECK(control.seq_len(a).value() == 4);
    CHECK(control.next_pos(a).value() == 4);
    CHECK(control.first_pos(a).value() == 0);
    CHECK(control.rewind(a, 5) == Code::CannotGrow);
    CHECK(control.rewind(a, 3).ok());
    CHECK(control.seq_len(a).value() == 3);
    const std::uint32_t b = control.seq_clone(a, 2).value();
    CHECK(control.seq_len(b).value() == 2);
    const std::uint32_t c = control.seq_clone(a).value();
    CHECK(control.seq_len(c).value() == 3);
    CHECK(control.rewind(7, 0) == Code::BadSequence);
    CHECK(control.seq_clone(7).status() == Code::BadSequence);
    CHECK(control.seq_len(7).status() == Code::BadSequence);
    CHECK(control.next_pos(7).status() == Code::BadSequence);
    CHECK(control.first_pos(7).status() == Code::BadSequence);
  });
}

TEST_CASE("a verb ends the declared step, a question or a refusal does not") {
  both([](const kvc::AnyCache& cache) {
    const kvc::BatchControl control = cache.batch_control();
    const std::uint32_t a = control.seq_new().value();
    const std::uint32_t seq_ids[] = {a}, position[] = {0};
    const auto place = [&] {
      std::uint32_t row[1];
      kvc::SeqSpan part[1];
      const kvc::CellPlanner cells = cache.cell_planner();
      return cells ? cells.place_step(0, position, row).status().code()
                   : cache.rows_planner().place_step(0, position, part).status().code();
    };
    CHECK(place() == Code::NoStep);
    REQUIRE(control.declare_step(seq_ids).ok());
    CHECK(control.seq_len(a).ok());
    CHECK(control.can_admit(a).ok());
    CHECK(control.rewind(a, 9) == Code::CannotGrow);
    const std::uint32_t too_many[20] = {};
    CHECK_FALSE(control.declare_step(too_many).ok());
    CHECK(place() == Code::Ok);
    CHECK(place() == Code::Ok);
    CHECK(control.seq_new().ok());
    CHECK(place() == Code::NoStep);
  });
}

TEST_CASE("faces of the other kinds are empty, and an empty one refuses") {
  kvc::SequenceCache<1> one;
  REQUIRE(one.init(Config::uniform(8, 1, Layer::flat())).ok());
  CHECK_FALSE(one.batch_control());
  CHECK_FALSE(one.cell_planner());
  CHECK_FALSE(one.rows_planner());
  both([](const kvc::AnyCache& cache) {
    CHECK_FALSE(cache.sequence_control());
    CHECK_FALSE(cache.sequence_planner());
    CHECK(static_cast<bool>(cache.cell_planner()) != static_cast<bool>(cache.rows_planner()));
  });
  const kvc::Cache none;
  CHECK_FALSE(none.batch_control());
  const kvc::BatchControl empty;
  CHECK_FALSE(empty);
  const std::uint32_t seq_ids[] = {0};
  CHECK(empty.declare_step(seq_ids) == Code::InvalidArgument);
  CHECK(empty.can_admit(0).status() == Code::InvalidArgument);
  CHECK(empty.seq_new().status() == Code::InvalidArgument);
  CHECK(empty.seq_clone(0).status() == Code::InvalidArgument);
  CHECK(empty.seq_remove(0, 0, 1) == Code::InvalidArgument);
  CHECK(empty.seq_release(0) == Code::InvalidArgument);
  CHECK(empty.seq_keep(0) == Code::InvalidArgument);
  CHECK(empty.seq_shift(0, 0, 1, 1) == Code::InvalidArgument);
  CHECK(empty.rewind(0, 0) == Code::InvalidArgument);
  CHECK(empty.seq_len(0).status() == Code::InvalidArgument);
  CHECK(empty.next_pos(0).status() == Code::InvalidArgument);
  CHECK(empty.first_pos(0).status() == Code::InvalidArgument);
  CHECK(empty.free_rows().status() == Code::InvalidArgument);
  CHECK(empty.capacity().status() == Code::InvalidArgument);
  CHECK(empty.clear() == Code::InvalidArgument);
}

TEST_CASE("calls of another kind") {
  kvc::Buffer<4096> cell_storage, row_storage;
  const kvc::Cache cells = kvc::CellCache<4096>::build_in(cell_storage, kConfig).value();
  const kvc::Cache rows = kvc::RowsCache<4096>::build_in(row_storage, kConfig).value();
  const std::uint32_t seq = rows.batch_control().seq_new().value();
  CHECK(rows.batch_control().seq_remove(seq, 0, 1) == Code::WrongKind);
  CHECK(rows.batch_control().seq_shift(seq, 0, 1, 1) == Code::WrongKind);
  // What a face of another kind would call.
  std::uint32_t number = 0;
  CHECK(kvc_length(cells.get(), &number) == KVC_ERR_WRONG_KIND);
  CHECK(kvc_length(rows.get(), &number) == KVC_ERR_WRONG_KIND);
  CHECK(kvc_cells_shifts_done(rows.get()) == KVC_ERR_WRONG_KIND);
  CHECK(kvc_rows_held(cells.get(), 0, 0, nullptr, 0, &number) == KVC_ERR_WRONG_KIND);
}

TEST_CASE("the resolved config") {
  kvc::CellCache<8192> cells;
  REQUIRE(cells.init(kConfig.with_flags(kvc::kKeepCells)).ok());
  CHECK(cells.config().value().max_seqs == 3);
  CHECK(cells.config().value().flags == kvc::kKeepCells);
  CHECK(cells.layer(1).value().rows == 16);
  CHECK(cells.layer(2).status() == Code::BadLayer);
  kvc::RowsCache<4096> rows;
  REQUIRE(rows.init(kConfig).ok());
  CHECK(rows.config().value().max_seqs == 3);
  CHECK(rows.config().value().max_write == 6);
}

TEST_CASE("a cache of many sequences is shared by its key") {
  LocalRegistry registry;
  int ended = 0;
  kvc::Buffer<4096> storage;
  {
    const kvc::Cache cache = kvc::RowsCache<4096>::build_in(storage, kConfig).value();
    REQUIRE(cache.on_release(count_end, &ended).ok());
    const kvc::Session session = kvc::Session::open(registry, "batch", cache).value();
    const kvc::Cache found = registry->get("batch").value();
    CHECK(found.batch_control().seq_new().value() == 0);
    CHECK(cache.batch_control().seq_len(0).value() == 0);
  }
  CHECK(ended == 1);
}

TEST_CASE("built by their names") {
  LocalRegistry registry;
  CHECK(registry->builder_size("kvcore", "cells", kConfig).status() == Code::NotFound);
  REQUIRE(registry->register_cells().ok());
  REQUIRE(registry->register_rows().ok());
  CHECK(registry->register_cells() == Code::AlreadyExists);
  CHECK(registry->register_rows() == Code::AlreadyExists);
  CHECK(registry->builder_size("kvcore", "cells", kConfig).value() == kvc::cells_size(kConfig).value());
  CHECK(registry->builder_size("kvcore", "rows", kConfig).value() == kvc::rows_size(kConfig).value());
  kvc::Buffer<4096> storage, other;
  const kvc::Cache cells = registry->build("kvcore", "cells", kConfig, storage).value();
  const kvc::Cache rows = registry->build("kvcore", "rows", kConfig, other).value();
  CHECK(cells.kind().value() == kvc::Kind::Cells);
  CHECK(rows.kind().value() == kvc::Kind::Rows);
  CHECK(registry->build("kvcore", "cells", kConfig.with_max_seqs(0), other).status() == Code::InvalidConfig);
}

}  // namespace
