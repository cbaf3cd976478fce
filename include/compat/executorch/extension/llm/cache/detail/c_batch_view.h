/// A C++ cache of many sequences as C sees it: kvcore's calls through ExecuTorch's faces.
#ifndef KVCORE_COMPAT_CACHE_C_BATCH_VIEW_H
#define KVCORE_COMPAT_CACHE_C_BATCH_VIEW_H

#include <executorch/extension/llm/cache/batched_sequence_cache.h>
#include <executorch/extension/llm/cache/cell_cache.h>
#include <executorch/extension/llm/cache/detail/c_plan.h>
#include <executorch/extension/llm/cache/detail/guarded.h>

#include <algorithm>
#include <climits>
#include <utility>
#include <vector>

namespace executorch {
namespace extension {
namespace llm {
namespace cache {
namespace detail {

/// The faces of a cache of many sequences, and what C's calls answer from them.
///
/// A refusal of kvcore, on which `CellCache` and `BatchedSequenceCache` stand, comes out as the status that it was.
/// What a class refuses on its own has one status for each call. Calls that ExecuTorch's faces have no words for are
/// `KVC_ERR_UNSUPPORTED`; nothing ever shifts there, so that there are no shifts to list.
class CBatchView {
 public:
  explicit CBatchView(Cache& cache)
      : control_(cache.as<BatchControl>()),
        cells_(cache.as<CellStepper>()),
        spans_(cache.as<SeqSpanStepper>()),
        core_(cache.as<BatchCore>()) {}

  BatchControl* control() const { return control_; }
  std::uint32_t kind() const { return cells_ != nullptr ? KVC_KIND_CELLS : KVC_KIND_ROWS; }

  /// Enters the calls, for objects of a `View` that has a `batch()`.
  template <class View>
  void fill(kvc_external_t& table) const {
    if (control_ != nullptr) fill_control<View>(table);
    if (cells_ != nullptr) fill_cells<View>(table);
    if (spans_ != nullptr) {
      table.rows_place_step = [](void* object, std::uint32_t layer, const std::uint32_t* positions, std::uint32_t n,
                                 kvc_span_t* out, std::uint32_t cap, std::uint32_t* n_spans) noexcept -> std::int32_t {
        return at<View>(object).place_spans(layer, positions, n, out, cap, n_spans);
      };
    }
  }

 private:
  template <class View>
  static CBatchView& at(void* object) {
    return static_cast<View*>(object)->batch();
  }

  template <class View>
  void fill_control(kvc_external_t& table) const {
    table.batch_declare_step = [](void* object, const std::uint32_t* ids, std::uint32_t n) noexcept -> std::int32_t {
      return at<View>(object).declare_step(ids, n);
    };
    table.batch_can_admit = [](void* object, std::uint32_t seq, std::uint32_t n, bool* out) noexcept -> std::int32_t {
      return at<View>(object).can_admit(seq, n, out);
    };
    table.batch_seq_new = [](void* object, std::uint32_t* out) noexcept -> std::int32_t {
      return at<View>(object).made([](BatchControl& c) { return c.seq_new(); }, KVC_ERR_TABLE_FULL, out);
    };
    table.batch_seq_clone = [](void* object, std::uint32_t src, std::uint32_t upto,
                               std::uint32_t* out) noexcept -> std::int32_t {
      if (src > INT_MAX) return KVC_ERR_BAD_SEQUENCE;
      const std::optional<int> end = upto > INT_MAX ? std::nullopt : std::optional<int>(static_cast<int>(upto));
      const auto clone = [=](BatchControl& c) { return c.seq_clone(static_cast<std::int32_t>(src), end); };
      return at<View>(object).made(clone, KVC_ERR_OUT_OF_CAPACITY, out);
    };
    table.batch_seq_release = [](void* object, std::uint32_t seq) noexcept -> std::int32_t {
      if (seq > INT_MAX) return KVC_ERR_BAD_SEQUENCE;
      return at<View>(object).done([=](BatchControl& c) { return c.seq_rm(static_cast<std::int32_t>(seq)); },
                                   KVC_ERR_BAD_SEQUENCE);
    };
    table.batch_rewind = [](void* object, std::uint32_t seq, std::uint32_t new_len) noexcept -> std::int32_t {
      return at<View>(object).rewind(seq, new_len);
    };
    table.batch_seq_len = [](void* object, std::uint32_t seq, std::uint32_t* out) noexcept -> std::int32_t {
      return at<View>(object).told([](BatchControl& c, std::int32_t id) { return c.seq_len(id); }, seq, out);
    };
    table.batch_next_pos = [](void* object, std::uint32_t seq, std::uint32_t* out) noexcept -> std::int32_t {
      return at<View>(object).told([](BatchControl& c, std::int32_t id) { return c.next_pos(id); }, seq, out);
    };
    // Of kvcore's own caches behind the faces.
    table.batch_first_pos = [](void* object, std::uint32_t seq, std::uint32_t* out) noexcept -> std::int32_t {
      const BatchCore* const core = at<View>(object).core_;
      return core != nullptr ? kvc_batch_first_pos(core->cache(), seq, out) : KVC_ERR_UNSUPPORTED;
    };
    table.batch_free_rows = [](void* object, std::uint32_t* out) noexcept -> std::int32_t {
      const BatchCore* const core = at<View>(object).core_;
      return core != nullptr ? kvc_batch_free_rows(core->cache(), out) : KVC_ERR_UNSUPPORTED;
    };
    table.batch_seq_keep = [](void*, std::uint32_t) noexcept -> std::int32_t { return KVC_ERR_UNSUPPORTED; };
  }

  template <class View>
  void fill_cells(kvc_external_t& table) const {
    table.batch_seq_remove = [](void*, std::uint32_t, std::uint32_t, std::uint32_t) noexcept -> std::int32_t {
      return KVC_ERR_UNSUPPORTED;
    };
    table.batch_seq_shift = [](void*, std::uint32_t, std::uint32_t, std::uint32_t,
                               std::int32_t) noexcept -> std::int32_t { return KVC_ERR_UNSUPPORTED; };
    table.cells_place_step = [](void* object, std::uint32_t layer, const std::uint32_t* positions, std::uint32_t n,
                                std::uint32_t* cells, kvc_cell_step_t* out) noexcept -> std::int32_t {
      return at<View>(object).place_cells(layer, positions, n, cells, out);
    };
    table.cells_mask_bytes = [](void* object, std::uint32_t layer, std::uint8_t* out, std::size_t size,
                                std::size_t row_stride) noexcept -> std::int32_t {
      const auto set = [out](std::size_t at) { out[at] = 1; };
      return at<View>(object).mask(layer, out, size, row_stride, row_stride, set);
    };
    table.cells_mask_bits = [](void* object, std::uint32_t layer, std::uint32_t* out, std::size_t words,
                               std::size_t row_words) noexcept -> std::int32_t {
      const auto set = [out](std::size_t at) { out[at / 32] |= 1u << at % 32; };
      return at<View>(object).mask(layer, out, words, row_words, row_words * 32, set);
    };
    table.cells_shifts = [](void*, std::uint32_t, kvc_shift_t*, std::uint32_t,
                            std::uint32_t* n) noexcept -> std::int32_t {
      *n = 0;
      return KVC_OK;
    };
    table.cells_shifts_done = [](void*) noexcept -> std::int32_t { return KVC_OK; };
    table.cells_defrag = [](void*, std::uint32_t, kvc_move_t*, std::uint32_t, std::uint32_t*) noexcept -> std::int32_t {
      return KVC_ERR_UNSUPPORTED;
    };
  }

  /// The status of a call that C++ answered with `good`: `otherwise` for a refusal that is not kvcore's.
  static kvc_status_t status_of(bool good, kvc_status_t otherwise) {
    if (good) return KVC_OK;
    return refusal() != KVC_OK ? refusal() : otherwise;
  }

  template <class Call>
  kvc_status_t done(Call call, kvc_status_t otherwise) const {
    refusal() = KVC_OK;
    return status_of(call(*control_), otherwise);
  }

  /// A call that makes a sequence.
  template <class Call>
  kvc_status_t made(Call call, kvc_status_t otherwise, std::uint32_t* out) const {
    refusal() = KVC_OK;
    const std::optional<std::int32_t> seq = call(*control_);
    if (seq) *out = static_cast<std::uint32_t>(*seq);
    return status_of(seq.has_value(), otherwise);
  }

  /// A number that a call tells of a sequence. An unknown one is 0 there.
  template <class Call>
  kvc_status_t told(Call call, std::uint32_t seq, std::uint32_t* out) const {
    if (seq > INT_MAX) return KVC_ERR_BAD_SEQUENCE;
    refusal() = KVC_OK;
    const int number = call(*control_, static_cast<std::int32_t>(seq));
    if (refusal() != KVC_OK) return refusal();
    if (number < 0) return KVC_ERR_BAD_SEQUENCE;
    *out = static_cast<std::uint32_t>(number);
    return KVC_OK;
  }

  kvc_status_t declare_step(const std::uint32_t* ids, std::uint32_t n) const {
    if (std::any_of(ids, ids + n, [](std::uint32_t id) { return id > INT_MAX; })) return KVC_ERR_BAD_SEQUENCE;
    const std::vector<std::int32_t> seq_ids(ids, ids + n);
    return done([&](BatchControl& c) { return c.declare_step(seq_ids); }, KVC_ERR_OUT_OF_CAPACITY);
  }

  kvc_status_t can_admit(std::uint32_t seq, std::uint32_t n, bool* out) const {
    if (seq > INT_MAX) return KVC_ERR_BAD_SEQUENCE;
    refusal() = KVC_OK;
    const bool can = n <= INT_MAX && control_->can_admit(static_cast<std::int32_t>(seq), static_cast<int>(n));
    if (!can && refusal() != KVC_OK) return refusal();
    *out = can;
    return KVC_OK;
  }

  kvc_status_t rewind(std::uint32_t seq, std::uint32_t new_len) const {
    std::uint32_t next = 0;
    const kvc_status_t known = told([](BatchControl& c, std::int32_t id) { return c.next_pos(id); }, seq, &next);
    if (known != KVC_OK) return known;
    // ExecuTorch's cell cache takes it for a rewind to where it is.
    if (new_len > next) return KVC_ERR_CANNOT_GROW;
    const auto back = [=](BatchControl& c) {
      return c.rewind(static_cast<std::int32_t>(seq), static_cast<int>(new_len));
    };
    return done(back, KVC_ERR_EVICTED);
  }

  /// The positions of a step for C++; what does not fit there is in no cache.
  static bool to_positions(const std::uint32_t* positions, std::uint32_t n, std::vector<std::int32_t>& out) {
    const auto is_too_far = [](std::uint32_t position) { return position > INT_MAX; };
    if (n > INT_MAX || std::any_of(positions, positions + n, is_too_far)) return false;
    out.assign(positions, positions + n);
    return true;
  }

  static bool is_sound(const CellStep& step, std::size_t n) {
    const auto is_read = [&step](std::int32_t cell) { return cell >= 0 && cell < step.read_len; };
    return step.read_len >= 0 && step.cells.size() == n &&
           step.mask_bits.size() == n * static_cast<std::size_t>(step.read_len) &&
           std::all_of(step.cells.begin(), step.cells.end(), is_read);
  }

  kvc_status_t place_cells(std::uint32_t layer, const std::uint32_t* positions, std::uint32_t n, std::uint32_t* cells,
                           kvc_cell_step_t* out) const {
    std::vector<std::int32_t> wanted;
    if (layer > INT_MAX) return KVC_ERR_BAD_LAYER;
    if (!to_positions(positions, n, wanted)) return KVC_ERR_BAD_POSITION;
    refusal() = KVC_OK;
    const CellStep* const step = cells_->place_step(static_cast<int>(layer), wanted.data(), static_cast<int>(n));
    if (step == nullptr) return status_of(false, KVC_ERR_NO_STEP);
    if (!is_sound(*step, n)) return KVC_ERR_CORRUPT;
    bool in_row = true;
    for (std::uint32_t i = 0; i < n; ++i) {
      cells[i] = static_cast<std::uint32_t>(step->cells[i]);
      in_row = in_row && cells[i] == cells[0] + i;
    }
    *out = {mask_kind(*step, in_row), n, static_cast<std::uint32_t>(step->read_len), in_row ? cells[0] : KVC_UNBOUNDED};
    positions_.with([&](std::vector<std::int32_t>& newest) { newest = std::move(wanted); });
    return KVC_OK;
  }

  static std::uint32_t mask_kind(const CellStep& step, bool in_row) {
    const auto columns = static_cast<std::size_t>(step.read_len), n = step.cells.size();
    for (std::size_t i = 0; i < n && in_row; ++i) {
      const std::size_t seen = columns - n + 1 + i;
      for (std::size_t j = 0; j < columns && in_row; ++j) {
        in_row = (step.mask_bits[i * columns + j] != 0) == (j < seen);
      }
    }
    return !in_row ? KVC_MASK_EXPLICIT : n == 1 ? KVC_MASK_NONE : KVC_MASK_CAUSAL;
  }

  /// Writes the mask of the newest step: lines of `stride` elements and `columns` columns, of which `set` sets some.
  template <class T, class Set>
  kvc_status_t mask(std::uint32_t layer, T* out, std::size_t size, std::size_t stride, std::size_t columns,
                    Set set) const {
    if (layer > INT_MAX) return KVC_ERR_BAD_LAYER;
    const std::vector<std::int32_t> positions = positions_.get();
    if (positions.empty()) return KVC_ERR_NO_STEP;
    refusal() = KVC_OK;
    const auto n = static_cast<int>(positions.size());
    const CellStep* const step = cells_->place_step(static_cast<int>(layer), positions.data(), n);
    if (step == nullptr) return status_of(false, KVC_ERR_NO_STEP);
    if (!is_sound(*step, positions.size())) return KVC_ERR_CORRUPT;
    const auto read_len = static_cast<std::size_t>(step->read_len);
    if (columns < read_len || size / positions.size() < stride) return KVC_ERR_BUFFER_TOO_SMALL;
    std::fill_n(out, positions.size() * stride, T{0});
    for (std::size_t i = 0; i < positions.size(); ++i) {
      for (std::size_t j = 0; j < read_len; ++j) {
        if (step->mask_bits[i * read_len + j] != 0) set(i * columns + j);
      }
    }
    return KVC_OK;
  }

  kvc_status_t place_spans(std::uint32_t layer, const std::uint32_t* positions, std::uint32_t n, kvc_span_t* out,
                           std::uint32_t cap, std::uint32_t* n_spans) const {
    // ExecuTorch's plans do not tell the window, without which C has no mask.
    if (core_ == nullptr) return KVC_ERR_UNSUPPORTED;
    refusal() = KVC_OK;
    const std::optional<std::uint32_t> window = core_->windows().of(layer > INT_MAX ? -1 : static_cast<int>(layer));
    std::vector<std::int32_t> wanted;
    if (!window) return KVC_ERR_BAD_LAYER;
    if (!to_positions(positions, n, wanted)) return KVC_ERR_BAD_POSITION;
    if (cap < n) {
      // How many there are tells kvcore, which places nothing when they do not fit.
      std::uint32_t count = 0;
      const kvc_status_t counted = kvc_rows_place_step(core_->cache(), *window, positions, n, nullptr, 0, &count);
      if (counted != KVC_ERR_BUFFER_TOO_SMALL) return counted;
      if (count > cap) {
        *n_spans = count;
        return counted;
      }
    }
    const std::vector<SeqSpan>* const spans =
        spans_->place_step(static_cast<int>(layer), wanted.data(), static_cast<int>(n));
    if (spans == nullptr) return status_of(false, KVC_ERR_NO_STEP);
    if (spans->size() > cap) return KVC_ERR_CORRUPT;
    return to_c_spans(*spans, wanted, *window, out, n_spans);
  }

  kvc_status_t to_c_spans(const std::vector<SeqSpan>& spans, const std::vector<std::int32_t>& positions,
                          std::uint32_t window, kvc_span_t* out, std::uint32_t* n_spans) const {
    std::vector<kvc_span_t> made(spans.size());
    std::size_t first = 0;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const SeqSpan& span = spans[i];
      if (span.q_len < 1 || positions.size() - first < static_cast<std::size_t>(span.q_len)) return KVC_ERR_CORRUPT;
      made[i].seq = static_cast<std::uint32_t>(span.seq_id);
      made[i].n_tokens = static_cast<std::uint32_t>(span.q_len);
      const auto width = static_cast<int>(core_->windows().layers()[window].window);
      if (!to_c_plan(span.plan, positions[first], span.q_len, width, static_cast<int>(window), made[i].plan)) {
        return KVC_ERR_CORRUPT;
      }
      first += static_cast<std::size_t>(span.q_len);
    }
    std::copy(made.begin(), made.end(), out);
    *n_spans = static_cast<std::uint32_t>(made.size());
    return KVC_OK;
  }

  BatchControl* control_;
  CellStepper* cells_;
  SeqSpanStepper* spans_;
  BatchCore* core_;
  Guarded<std::vector<std::int32_t>> positions_;  // of the newest step that C placed in cells
};

}  // namespace detail
}  // namespace cache
}  // namespace llm
}  // namespace extension
}  // namespace executorch

#endif  // KVCORE_COMPAT_CACHE_C_BATCH_VIEW_H
