// What C sees of a C++ cache of many sequences.
#include "batch_support.h"

#include <executorch/extension/llm/cache/detail/c_view.h>

#include <algorithm>
#include <climits>
#include <memory>

namespace {

// A view of a cache, with the reference that C would hold.
class Viewed {
 public:
  explicit Viewed(std::shared_ptr<cache::Cache> own) : view_(cache::detail::CView::create(std::move(own))) {
    REQUIRE(view_ != nullptr);
  }
  Viewed(const Viewed&) = delete;
  Viewed& operator=(const Viewed&) = delete;
  ~Viewed() { kvc_cache_release(view_); }
  operator kvc_cache_t*() const { return view_; }

  kvc_status_t declare(const std::vector<std::uint32_t>& ids) const {
    return kvc_batch_declare_step(view_, ids.data(), static_cast<std::uint32_t>(ids.size()));
  }
  kvc_status_t place(std::uint32_t layer, const std::vector<std::uint32_t>& positions) {
    const auto n = static_cast<std::uint32_t>(positions.size());
    cells.resize(n);
    return kvc_cells_place_step(view_, layer, positions.data(), n, cells.data(), &step);
  }
  std::uint32_t seq_new() const {
    std::uint32_t made = 99;
    REQUIRE(kvc_batch_seq_new(view_, &made) == KVC_OK);
    return made;
  }
  std::uint32_t next_pos(std::uint32_t seq) const {
    std::uint32_t next = 0;
    REQUIRE(kvc_batch_next_pos(view_, seq, &next) == KVC_OK);
    return next;
  }

  std::vector<std::uint32_t> cells;
  kvc_cell_step_t step = {};

 private:
  kvc_cache_t* view_;
};

// Cells of a class that knows nothing of kvcore: one sequence, every cell seen, a bad step on demand.
class Foreign : public cache::Cache, public cache::BatchControl, public cache::CellStepper {
 public:
  int capacity() const override { return 3; }
  void clear() override { step_ = {}; }
  bool declare_step(const std::vector<int32_t>& seq_ids) override { return seq_ids.size() <= 3; }
  bool can_admit(int32_t, int n = 1) const override { return n <= 3; }
  std::optional<int> max_seqs() const override { return 1; }
  std::optional<int32_t> seq_new() override { return std::nullopt; }
  std::optional<int32_t> seq_clone(int32_t, std::optional<int>) override { return std::nullopt; }
  bool seq_rm(int32_t) override { return false; }
  bool rewind(int32_t, int) override { return false; }
  int seq_len(int32_t) const override { return 2; }
  int next_pos(int32_t seq) const override { return seq == 0 ? 2 : -1; }
  const cache::CellStep* place_step(int layer, const int32_t*, int length) override {
    if (layer != 0) return nullptr;
    step_ = {length, 3, Cells(static_cast<std::size_t>(length), cell), std::vector<std::uint8_t>(mask_size, 1)};
    return &step_;
  }
  int32_t cell = 1;
  std::size_t mask_size = 3;

 protected:
  void* face(cache::FaceId id) override { return cache::expose<cache::BatchControl, cache::CellStepper>(this, id); }

 private:
  cache::CellStep step_;
};

class Listener : public cache::BatchedSequenceCache {
 public:
  using BatchedSequenceCache::BatchedSequenceCache;
  std::vector<int32_t> clones;

 protected:
  void clone_bytes(int32_t, int32_t dst) override { clones.push_back(dst); }
};

}  // namespace

TEST_CASE("C steps a C++ cell cache") {
  const auto own = std::make_shared<cache::CellCache>(config(16, {0, 2}));
  Viewed view(own);
  std::uint32_t number = 0;
  CHECK(kvc_cache_kind(view, &number) == KVC_OK);
  CHECK(number == KVC_KIND_CELLS);
  CHECK(kvc_capacity(view, &number) == KVC_OK);
  CHECK(number == 16);
  const std::uint32_t a = view.seq_new(), b = view.seq_new();
  CHECK(a == 0);
  CHECK(b == 1);
  REQUIRE(view.declare({a, a, a}) == KVC_OK);
  REQUIRE(view.place(0, {0, 1, 2}) == KVC_OK);
  CHECK(view.cells == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(view.step.mask == KVC_MASK_CAUSAL);
  CHECK(view.step.n_tokens == 3);
  CHECK(view.step.read_len == 3);
  CHECK(view.step.write_start == 0);
  REQUIRE(view.place(1, {0, 1, 2}) == KVC_OK);
  CHECK(view.step.mask == KVC_MASK_EXPLICIT);  // a window of 2 cuts
  REQUIRE(view.declare({b}) == KVC_OK);
  REQUIRE(view.place(0, {0}) == KVC_OK);
  CHECK(view.step.mask == KVC_MASK_EXPLICIT);
  REQUIRE(kvc_batch_rewind(view, a, 1) == KVC_OK);
  REQUIRE(view.declare({b, a, b}) == KVC_OK);
  REQUIRE(view.place(0, {1, 1, 2}) == KVC_OK);
  CHECK(view.cells == std::vector<std::uint32_t>{1, 2, 4});
  CHECK(view.step.write_start == KVC_UNBOUNDED);

  std::uint8_t bytes[3 * 6];
  CHECK(kvc_cells_mask_bytes(view, 0, bytes, sizeof bytes, 6) == KVC_OK);
  const std::uint8_t seen[3 * 6] = {0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1, 0};
  CHECK(std::equal(bytes, bytes + sizeof bytes, seen));
  std::uint32_t bits[3 * 2];
  CHECK(kvc_cells_mask_bits(view, 0, bits, 6, 2) == KVC_OK);
  CHECK(std::vector<std::uint32_t>(bits, bits + 6) == std::vector<std::uint32_t>{10, 0, 5, 0, 26, 0});
  CHECK(kvc_cells_mask_bytes(view, 1, bytes, sizeof bytes, 6) == KVC_OK);
  CHECK(bytes[2 * 6 + 3] == 0);  // the window
  CHECK(kvc_cells_mask_bytes(view, 0, bytes, sizeof bytes, 4) == KVC_ERR_BUFFER_TOO_SMALL);
  CHECK(kvc_cells_mask_bytes(view, 0, bytes, 17, 6) == KVC_ERR_BUFFER_TOO_SMALL);
  CHECK(kvc_cells_mask_bits(view, 0, bits, 2, 1) == KVC_ERR_BUFFER_TOO_SMALL);
  CHECK(kvc_cells_mask_bytes(view, 7, bytes, sizeof bytes, 6) == KVC_ERR_BAD_LAYER);

  CHECK(own->seq_len(1) == 3);
  CHECK(kvc_batch_seq_len(view, b, &number) == KVC_OK);
  CHECK(number == 3);
  CHECK(kvc_batch_first_pos(view, b, &number) == KVC_OK);
  CHECK(number == 0);
  CHECK(kvc_batch_free_rows(view, &number) == KVC_OK);
  CHECK(number == 11);
  CHECK(kvc_clear(view) == KVC_OK);
  CHECK(own->used_end() == 0);
  CHECK(kvc_cells_mask_bytes(view, 0, bytes, sizeof bytes, 6) == KVC_ERR_NO_STEP);
}

TEST_CASE("C hears why a C++ cell cache refuses") {
  cache::CacheConfig made = config(8, {0});
  made.max_context = 6;
  Viewed view(std::make_shared<cache::CellCache>(made));
  std::uint32_t number = 7;
  bool can = false;
  CHECK(view.place(0, {0}) == KVC_ERR_NO_STEP);
  CHECK(view.declare({0}) == KVC_ERR_BAD_SEQUENCE);
  CHECK(view.declare({UINT32_MAX}) == KVC_ERR_BAD_SEQUENCE);
  CHECK(kvc_batch_can_admit(view, 0, 1, &can) == KVC_ERR_BAD_SEQUENCE);
  CHECK(kvc_batch_can_admit(view, UINT32_MAX, 1, &can) == KVC_ERR_BAD_SEQUENCE);
  CHECK(kvc_batch_seq_len(view, 3, &number) == KVC_ERR_BAD_SEQUENCE);
  CHECK(kvc_batch_next_pos(view, UINT32_MAX, &number) == KVC_ERR_BAD_SEQUENCE);
  CHECK(kvc_batch_first_pos(view, 3, &number) == KVC_ERR_BAD_SEQUENCE);
  CHECK(kvc_batch_seq_release(view, 3) == KVC_ERR_BAD_SEQUENCE);
  CHECK(kvc_batch_seq_release(view, UINT32_MAX) == KVC_ERR_BAD_SEQUENCE);
  CHECK(kvc_batch_rewind(view, 3, 0) == KVC_ERR_BAD_SEQUENCE);
  CHECK(kvc_batch_seq_clone(view, 3, 0, &number) == KVC_ERR_BAD_SEQUENCE);
  CHECK(number == 7);

  const std::uint32_t a = view.seq_new();
  CHECK(kvc_batch_can_admit(view, a, 6, &can) == KVC_OK);
  CHECK(can);
  CHECK(kvc_batch_can_admit(view, a, 7, &can) == KVC_OK);
  CHECK_FALSE(can);
  CHECK(kvc_batch_can_admit(view, a, UINT32_MAX, &can) == KVC_OK);
  CHECK_FALSE(can);
  CHECK(view.declare(std::vector<std::uint32_t>(9, a)) == KVC_ERR_NEVER_FITS);
  CHECK(view.declare(std::vector<std::uint32_t>(7, a)) == KVC_ERR_NEVER_FITS);
  REQUIRE(view.declare({a, a, a, a}) == KVC_OK);
  CHECK(view.place(1, {0, 1, 2, 3}) == KVC_ERR_BAD_LAYER);
  CHECK(view.place(UINT32_MAX, {0, 1, 2, 3}) == KVC_ERR_BAD_LAYER);
  CHECK(view.place(0, {0, 1, 2}) == KVC_ERR_NO_STEP);
  CHECK(view.place(0, {0, 1, 1, 2}) == KVC_ERR_BAD_POSITION);
  CHECK(view.place(0, {0, 1, 2, UINT32_MAX}) == KVC_ERR_BAD_POSITION);
  CHECK(view.place(0, {0, 1, 2, 6}) == KVC_ERR_OUT_OF_CAPACITY);
  REQUIRE(view.place(0, {0, 1, 2, 3}) == KVC_OK);
  CHECK(view.declare({a, a, a}) == KVC_ERR_OUT_OF_CAPACITY);
  CHECK(kvc_batch_rewind(view, a, 5) == KVC_ERR_CANNOT_GROW);
  CHECK(view.place(0, {0, 1, 2, 3}) == KVC_OK);  // nothing ended the step
  CHECK(kvc_batch_seq_clone(view, a, KVC_UNBOUNDED, &number) == KVC_OK);
  CHECK(number == 1);
  CHECK(view.next_pos(1) == 4);
  for (int i = 2; i < 64; ++i) view.seq_new();
  CHECK(kvc_batch_seq_new(view, &number) == KVC_ERR_TABLE_FULL);
  CHECK(kvc_batch_seq_clone(view, a, 0, &number) == KVC_ERR_TABLE_FULL);
}

TEST_CASE("calls that ExecuTorch has no words for") {
  Viewed view(std::make_shared<cache::CellCache>(config(8, {0})));
  const std::uint32_t a = view.seq_new();
  CHECK(kvc_batch_seq_keep(view, a) == KVC_ERR_UNSUPPORTED);
  CHECK(kvc_batch_seq_remove(view, a, 0, 1) == KVC_ERR_UNSUPPORTED);
  CHECK(kvc_batch_seq_shift(view, a, 0, 1, 1) == KVC_ERR_UNSUPPORTED);
  kvc_move_t moves[1];
  std::uint32_t n = 7;
  CHECK(kvc_cells_defrag(view, 0, moves, 1, &n) == KVC_ERR_UNSUPPORTED);
  CHECK(kvc_cells_shifts(view, 0, nullptr, 0, &n) == KVC_OK);  // nothing shifts
  CHECK(n == 0);
  CHECK(kvc_cells_shifts_done(view) == KVC_OK);
  kvc_span_t span;
  const std::uint32_t position = 0;
  CHECK(kvc_rows_place_step(view, 0, &position, 1, &span, 1, &n) == KVC_ERR_WRONG_KIND);
  bool can = false;
  CHECK(kvc_can_extend(view, 1, &can) == KVC_ERR_WRONG_KIND);
  CHECK(kvc_length(view, &n) == KVC_ERR_WRONG_KIND);
}

TEST_CASE("C steps a C++ cache of private rows") {
  const auto own = std::make_shared<Listener>(config(64, {0, 4}, 2));
  Viewed view(own);
  std::uint32_t number = 0;
  CHECK(kvc_cache_kind(view, &number) == KVC_OK);
  CHECK(number == KVC_KIND_ROWS);
  const std::uint32_t a = view.seq_new(), b = view.seq_new();
  for (std::uint32_t i = 0; i < 8; i += 2) {
    REQUIRE(view.declare({a, a}) == KVC_OK);
    kvc_span_t span;
    const std::uint32_t positions[] = {i, i + 1};
    REQUIRE(kvc_rows_place_step(view, 1, positions, 2, &span, 1, &number) == KVC_OK);
    CHECK(number == 1);
    CHECK(span.seq == a);
    CHECK(span.n_tokens == 2);
    kvc_layer_t layer = {KVC_LAYER_RING, 4, 0, 0, 0, 0};
    kvc_seq_plan_t plan;
    REQUIRE(kvc_layout_plan(&layer, 2, 0, i, 2, &plan) == KVC_OK);
    CHECK(span.plan.mask == plan.mask);
    CHECK(span.plan.window == 4);
    CHECK(span.plan.rows_needed == plan.rows_needed);
    CHECK(span.plan.read_len == plan.read_len);
    CHECK(span.plan.n_read == plan.n_read);
    CHECK(span.plan.read[0].start == plan.read[0].start);
    CHECK(span.plan.read[0].pos == plan.read[0].pos);
    std::uint8_t seen[2 * 6];
    CHECK(kvc_plan_mask_bytes(&span.plan, nullptr, KVC_COLUMNS_READ, seen, sizeof seen, 6) == KVC_OK);
  }
  const std::uint32_t positions[] = {0, 8, 1};
  REQUIRE(view.declare({b, a, b}) == KVC_OK);
  kvc_span_t spans[3];
  CHECK(kvc_rows_place_step(view, 0, positions, 3, spans, 2, &number) == KVC_ERR_BUFFER_TOO_SMALL);
  CHECK(number == 3);
  CHECK(view.next_pos(b) == 0);
  CHECK(kvc_rows_place_step(view, 2, positions, 3, spans, 3, &number) == KVC_ERR_BAD_LAYER);
  CHECK(kvc_rows_place_step(view, 0, positions, 2, spans, 3, &number) == KVC_ERR_NO_STEP);
  CHECK(kvc_rows_place_step(view, 0, positions, 3, spans, 3, &number) == KVC_OK);
  CHECK(spans[1].seq == a);
  CHECK(spans[1].plan.position == 8);
  CHECK(spans[2].plan.read_len == 2);
  CHECK(kvc_rows_place_step(view, 0, positions, 3, nullptr, 0, &number) == KVC_ERR_BUFFER_TOO_SMALL);
  CHECK(kvc_batch_rewind(view, a, 3) == KVC_ERR_EVICTED);
  CHECK(kvc_batch_seq_clone(view, a, KVC_UNBOUNDED, &number) == KVC_OK);
  CHECK(own->clones == Cells{2});  // the backend's hook ran
  CHECK(kvc_batch_first_pos(view, b, &number) == KVC_OK);
  CHECK(number == 0);
  CHECK(kvc_batch_seq_release(view, b) == KVC_OK);
  CHECK(kvc_batch_seq_keep(view, a) == KVC_ERR_UNSUPPORTED);
  CHECK(kvc_batch_seq_shift(view, a, 0, 1, 1) == KVC_ERR_WRONG_KIND);
  std::uint8_t byte = 0;
  CHECK(kvc_cells_mask_bytes(view, 0, &byte, 1, 1) == KVC_ERR_WRONG_KIND);
}

TEST_CASE("of a class that implements the faces on its own, C hears less") {
  const auto own = std::make_shared<Foreign>();
  Viewed view(own);
  std::uint32_t number = 9;
  bool can = true;
  CHECK(view.declare({0}) == KVC_OK);
  CHECK(view.declare({0, 0, 0, 0}) == KVC_ERR_OUT_OF_CAPACITY);
  CHECK(kvc_batch_can_admit(view, 0, 4, &can) == KVC_OK);
  CHECK_FALSE(can);
  CHECK(kvc_batch_seq_new(view, &number) == KVC_ERR_TABLE_FULL);
  CHECK(kvc_batch_seq_clone(view, 0, 1, &number) == KVC_ERR_OUT_OF_CAPACITY);
  CHECK(kvc_batch_seq_release(view, 0) == KVC_ERR_BAD_SEQUENCE);
  CHECK(kvc_batch_rewind(view, 0, 1) == KVC_ERR_EVICTED);
  CHECK(kvc_batch_rewind(view, 0, 3) == KVC_ERR_CANNOT_GROW);
  CHECK(kvc_batch_next_pos(view, 1, &number) == KVC_ERR_BAD_SEQUENCE);
  CHECK(kvc_batch_first_pos(view, 0, &number) == KVC_ERR_UNSUPPORTED);
  CHECK(kvc_batch_free_rows(view, &number) == KVC_ERR_UNSUPPORTED);
  CHECK(view.place(0, {2}) == KVC_OK);
  CHECK(view.step.mask == KVC_MASK_NONE);
  CHECK(view.step.write_start == 1);
  CHECK(view.place(1, {2}) == KVC_ERR_NO_STEP);
  own->cell = 3;
  CHECK(view.place(0, {2}) == KVC_ERR_CORRUPT);
  own->cell = -1;
  CHECK(view.place(0, {2}) == KVC_ERR_CORRUPT);
  own->cell = 1;
  own->mask_size = 2;
  CHECK(view.place(0, {2}) == KVC_ERR_CORRUPT);
}

TEST_CASE("C keeps a C++ cache of many sequences alive") {
  auto own = std::make_shared<cache::CellCache>(config(8, {0}));
  const std::weak_ptr<cache::CellCache> watch = own;
  {
    const Viewed view(std::move(own));
    CHECK_FALSE(watch.expired());
    CHECK(view.seq_new() == 0);
  }
  CHECK(watch.expired());
}
