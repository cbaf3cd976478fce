// Caches of many sequences that a C++ class implements.
#include "test.hpp"

namespace {

using namespace test;

/// Answers every call in a way that tells its arguments.
template <class Base>
struct Told : Base {
  std::uint32_t calls = 0;
  std::uint32_t last[4] = {};

  kvc::Status note(std::uint32_t a = 0, std::uint32_t b = 0, std::uint32_t c = 0, std::uint32_t d = 0) {
    ++calls;
    last[0] = a, last[1] = b, last[2] = c, last[3] = d;
    return {};
  }
  kvc::Result<std::uint32_t> capacity() noexcept { return 77u; }
  kvc::Status clear() noexcept { return note(); }
  kvc::Status declare_step(kvc::span<const std::uint32_t> ids) noexcept {
    return note(static_cast<std::uint32_t>(ids.size()), ids[0]);
  }
  kvc::Result<bool> can_admit(std::uint32_t seq, std::uint32_t n) noexcept { return seq == 1 && n == 2; }
  kvc::Result<std::uint32_t> seq_new() noexcept { return 5u; }
  kvc::Result<std::uint32_t> seq_clone(std::uint32_t src, std::uint32_t upto) noexcept { return src + upto; }
  kvc::Status seq_remove(std::uint32_t seq, std::uint32_t from, std::uint32_t to) noexcept {
    return note(seq, from, to);
  }
  kvc::Status seq_release(std::uint32_t seq) noexcept { return note(seq); }
  kvc::Status seq_keep(std::uint32_t seq) noexcept { return note(seq); }
  kvc::Status seq_shift(std::uint32_t seq, std::uint32_t from, std::uint32_t to, std::int32_t delta) noexcept {
    return note(seq, from, to, static_cast<std::uint32_t>(-delta));
  }
  kvc::Status rewind(std::uint32_t seq, std::uint32_t new_len) noexcept { return note(seq, new_len); }
  kvc::Result<std::uint32_t> seq_len(std::uint32_t seq) noexcept { return seq + 10; }
  kvc::Result<std::uint32_t> next_pos(std::uint32_t seq) noexcept { return seq + 20; }
  kvc::Result<std::uint32_t> first_pos(std::uint32_t seq) noexcept { return seq + 30; }
  kvc::Result<std::uint32_t> free_rows() noexcept { return 40u; }
  bool was(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) const {
    return last[0] == a && last[1] == b && last[2] == c && last[3] == d;
  }
};

struct Cells : Told<kvc::ExternalCells> {
  std::uint32_t moves = 1;
  kvc::Result<kvc::CellStep> place_step(std::uint32_t layer, kvc::span<const std::uint32_t> positions,
                                        kvc::span<std::uint32_t> rows) noexcept {
    if (layer != 0) return Code::BadLayer;
    for (std::size_t i = 0; i < positions.size(); ++i) rows[i] = positions[i] + 1;
    return kvc::CellStep{{KVC_MASK_EXPLICIT, static_cast<std::uint32_t>(rows.size()), 9, kvc::kUnbounded}};
  }
  kvc::Status mask_bytes(std::uint32_t layer, kvc::span<std::uint8_t> out, std::size_t stride) noexcept {
    out[0] = 1;
    return note(layer, static_cast<std::uint32_t>(out.size()), static_cast<std::uint32_t>(stride));
  }
  kvc::Status mask_bits(std::uint32_t layer, kvc::span<std::uint32_t> out, std::size_t words) noexcept {
    out[0] = 2;
    return note(layer, static_cast<std::uint32_t>(out.size()), static_cast<std::uint32_t>(words));
  }
  kvc::Result<std::uint32_t> shifts(std::uint32_t, kvc::span<kvc::Shift> out) noexcept {
    if (out.size() >= 2) out[0] = {1, 2, -3}, out[1] = {4, 5, 6};
    return 2u;
  }
  kvc::Status shifts_done() noexcept { return note(1); }
  kvc::Result<std::uint32_t> defrag(std::uint32_t, kvc::span<kvc::Move> out) noexcept {
    if (!out.empty()) out[0] = {7, 8, 9};
    return moves;
  }
};

struct Rows : Told<kvc::ExternalRows> {
  kvc::Result<std::uint32_t> place_step(std::uint32_t layer, kvc::span<const std::uint32_t> positions,
                                        kvc::span<kvc::SeqSpan> out) noexcept {
    if (layer != 0) return Code::BadLayer;
    const auto n = static_cast<std::uint32_t>(positions.size());
    if (out.size() >= n) {
      for (std::uint32_t i = 0; i < n; ++i) {
        out[i] = kvc::SeqSpan{{i, 1, kvc::layout_plan(Layer::flat(), 0, 0, positions[i], 1).value()}};
      }
    }
    return n;
  }
};

template <class Own>
void check_control(const kvc::Cache& cache, const Own& own) {
  const kvc::BatchControl control = cache.batch_control();
  REQUIRE(control);
  const std::uint32_t ids[] = {3, 4};
  CHECK(control.capacity().value() == 77);
  CHECK(control.declare_step(ids).ok());
  CHECK(own.was(2, 3, 0, 0));
  CHECK(control.can_admit(1, 2).value());
  CHECK_FALSE(control.can_admit(1, 3).value());
  CHECK(control.seq_new().value() == 5);
  CHECK(control.seq_clone(1, 2).value() == 3);
  CHECK(control.seq_remove(1, 2, 3).ok());
  CHECK(own.was(1, 2, 3, 0));
  CHECK(control.seq_release(6).ok());
  CHECK(own.was(6, 0, 0, 0));
  CHECK(control.seq_keep(7).ok());
  CHECK(own.was(7, 0, 0, 0));
  CHECK(control.seq_shift(1, 2, 3, -4).ok());
  CHECK(own.was(1, 2, 3, 4));
  CHECK(control.rewind(8, 9).ok());
  CHECK(own.was(8, 9, 0, 0));
  CHECK(control.seq_len(1).value() == 11);
  CHECK(control.next_pos(1).value() == 21);
  CHECK(control.first_pos(1).value() == 31);
  CHECK(control.free_rows().value() == 40);
  const std::uint32_t before = own.calls;
  CHECK(control.clear().ok());
  CHECK(own.calls == before + 1);
  CHECK(cache.config().status() == Code::WrongKind);
  CHECK_FALSE(cache.sequence_control());
}

TEST_CASE("every call of cells reaches the object") {
  Cells own;
  kvc::ExternalStorage storage;
  const kvc::Cache cache = kvc::external_in(storage, own).value();
  CHECK(cache.kind().value() == kvc::Kind::Cells);
  check_control(cache, own);
  CHECK_FALSE(cache.rows_planner());
  const kvc::CellPlanner planner = cache.cell_planner();
  REQUIRE(planner);
  const std::uint32_t positions[] = {5, 6};
  std::uint32_t rows[2];
  const kvc::CellStep step = planner.place_step(0, positions, rows).value();
  CHECK(step.read_len == 9);
  CHECK(step.is_scattered());
  CHECK(rows[1] == 7);
  CHECK(planner.place_step(1, positions, rows).status() == Code::BadLayer);
  std::uint8_t bytes[6] = {};
  CHECK(planner.mask_bytes(0, bytes, 3).ok());
  CHECK(own.was(0, 6, 3, 0));
  CHECK(bytes[0] == 1);
  CHECK(planner.mask_bits(2, rows, 1).ok());
  CHECK(own.was(2, 2, 1, 0));
  CHECK(rows[0] == 2);
  kvc::Shift shifts[2];
  CHECK(planner.n_shifts(0).value() == 2);
  CHECK(planner.shifts(0, kvc::span<kvc::Shift>(shifts).first(1)).status() == Code::BufferTooSmall);
  REQUIRE(planner.shifts(0, shifts).value().size() == 2);
  CHECK(shifts[0].delta == -3);
  CHECK(planner.shifts_done().ok());
  CHECK(own.was(1, 0, 0, 0));
  kvc::Move moves[1];
  REQUIRE(planner.defrag(0, moves).value().size() == 1);
  CHECK(moves[0].to == 8);
  own.moves = 2;
  CHECK(planner.defrag(0, moves).status() == Code::Corrupt);  // more than it could list
}

TEST_CASE("every call of private rows reaches the object") {
  Rows own;
  kvc::ExternalStorage storage;
  const kvc::Cache cache = kvc::external_in(storage, own).value();
  CHECK(cache.kind().value() == kvc::Kind::Rows);
  check_control(cache, own);
  CHECK_FALSE(cache.cell_planner());
  const kvc::RowsPlanner planner = cache.rows_planner();
  REQUIRE(planner);
  const std::uint32_t positions[] = {5, 6};
  kvc::SeqSpan parts[2];
  CHECK(planner.n_spans(0, positions).value() == 2);
  CHECK(planner.place_step(0, positions, kvc::span<kvc::SeqSpan>(parts).first(1)).status() == Code::BufferTooSmall);
  REQUIRE(planner.place_step(0, positions, parts).value().size() == 2);
  CHECK(parts[1].plan.position == 6);
  CHECK(planner.place_step(1, positions, parts).status() == Code::BadLayer);
  kvc::Run run[1];
  CHECK(planner.held(0, 0, run).status() == Code::WrongKind);
}

template <class Base>
void offers_nothing() {
  Base nothing;
  kvc::ExternalStorage storage;
  const kvc::Cache cache = kvc::external_in(storage, nothing).value();
  const kvc::BatchControl control = cache.batch_control();
  const std::uint32_t ids[] = {0};
  std::uint32_t rows[1];
  std::uint8_t byte[1];
  kvc::Shift shift[1];
  kvc::Move move[1];
  kvc::SeqSpan part[1];
  CHECK(cache.capacity().status() == Code::WrongKind);
  CHECK(cache.clear() == Code::WrongKind);
  CHECK(control.declare_step(ids) == Code::WrongKind);
  CHECK(control.can_admit(0).status() == Code::WrongKind);
  CHECK(control.seq_new().status() == Code::WrongKind);
  CHECK(control.seq_clone(0).status() == Code::WrongKind);
  CHECK(control.seq_remove(0, 0, 1) == Code::WrongKind);
  CHECK(control.seq_release(0) == Code::WrongKind);
  CHECK(control.seq_keep(0) == Code::WrongKind);
  CHECK(control.seq_shift(0, 0, 1, 1) == Code::WrongKind);
  CHECK(control.rewind(0, 0) == Code::WrongKind);
  CHECK(control.seq_len(0).status() == Code::WrongKind);
  CHECK(control.next_pos(0).status() == Code::WrongKind);
  CHECK(control.first_pos(0).status() == Code::WrongKind);
  CHECK(control.free_rows().status() == Code::WrongKind);
  if (const kvc::CellPlanner cells = cache.cell_planner()) {
    CHECK(cells.place_step(0, ids, rows).status() == Code::WrongKind);
    CHECK(cells.mask_bytes(0, byte, 1) == Code::WrongKind);
    CHECK(cells.mask_bits(0, rows, 1) == Code::WrongKind);
    CHECK(cells.n_shifts(0).status() == Code::WrongKind);
    CHECK(cells.shifts(0, shift).status() == Code::WrongKind);
    CHECK(cells.shifts_done() == Code::WrongKind);
    CHECK(cells.defrag(0, move).status() == Code::WrongKind);
  } else {
    CHECK(cache.rows_planner().place_step(0, ids, part).status() == Code::WrongKind);
  }
}

TEST_CASE("what a class of many sequences leaves out, it does not offer") {
  offers_nothing<kvc::ExternalCells>();
  offers_nothing<kvc::ExternalRows>();
}

TEST_CASE("an external cache that claims the paged kind offers the application's face alone") {
  kvc_external_t table{};
  table.struct_size = sizeof(table);
  table.kind = KVC_KIND_PAGED;
  Cells own;
  kvc::ExternalStorage storage;
  kvc_cache_t* raw = nullptr;
  REQUIRE(kvc_external_init(storage.bytes, sizeof(storage), &table, &own, &raw) == KVC_OK);
  const kvc::Cache cache = kvc::Cache::adopt(raw);
  CHECK(cache.batch_control());
  CHECK(cache.batch_control().seq_new().status() == Code::WrongKind);
  CHECK_FALSE(cache.cell_planner());
  CHECK_FALSE(cache.rows_planner());
}

}  // namespace
