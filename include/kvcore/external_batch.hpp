/// Caches of many sequences that a C++ class implements; see `external.hpp`.
#ifndef KVCORE_EXTERNAL_BATCH_HPP
#define KVCORE_EXTERNAL_BATCH_HPP

#include "cells.hpp"
#include "rows.hpp"

namespace kvc {

/// The application's face of a class that plays a cache of many sequences: each call as `BatchControl` has it. Derive
/// from `ExternalCells` or `ExternalRows`, which add the backend's face.
struct ExternalBatch {
  Result<std::uint32_t> capacity() noexcept { return Code::WrongKind; }                    ///< Cells or rows.
  Status clear() noexcept { return Code::WrongKind; }                                      ///< Forgets all.
  Status declare_step(span<const std::uint32_t> /*seq_ids*/) noexcept { return Code::WrongKind; }  ///< Admission.
  Result<bool> can_admit(std::uint32_t /*seq*/, std::uint32_t /*n*/) noexcept { return Code::WrongKind; }  ///< Room?
  Result<std::uint32_t> seq_new() noexcept { return Code::WrongKind; }                     ///< Its id.
  /// Its id; `upto` may be `kUnbounded`.
  Result<std::uint32_t> seq_clone(std::uint32_t /*src*/, std::uint32_t /*upto*/) noexcept { return Code::WrongKind; }
  /// Takes positions out.
  Status seq_remove(std::uint32_t /*seq*/, std::uint32_t /*from*/, std::uint32_t /*to*/) noexcept {
    return Code::WrongKind;
  }
  Status seq_release(std::uint32_t /*seq*/) noexcept { return Code::WrongKind; }           ///< Ends it.
  Status seq_keep(std::uint32_t /*seq*/) noexcept { return Code::WrongKind; }              ///< Ends the others.
  /// Moves positions.
  Status seq_shift(std::uint32_t /*seq*/, std::uint32_t /*from*/, std::uint32_t /*to*/,
                   std::int32_t /*delta*/) noexcept {
    return Code::WrongKind;
  }
  Status rewind(std::uint32_t /*seq*/, std::uint32_t /*new_len*/) noexcept { return Code::WrongKind; }  ///< Back to it.
  Result<std::uint32_t> seq_len(std::uint32_t /*seq*/) noexcept { return Code::WrongKind; }      ///< Tokens held.
  Result<std::uint32_t> next_pos(std::uint32_t /*seq*/) noexcept { return Code::WrongKind; }     ///< Highest + 1.
  Result<std::uint32_t> first_pos(std::uint32_t /*seq*/) noexcept { return Code::WrongKind; }    ///< Lowest.
  Result<std::uint32_t> free_rows() noexcept { return Code::WrongKind; }                         ///< Held by nobody.
};

/// Base of a class that plays a cell cache: hide the calls that it offers with functions of the same name and
/// signature; the others answer `WrongKind`. They run without any lock, in the thread of the caller.
///
/// ```cpp file
/// struct OneCell : kvc::ExternalCells {              // one sequence of at most one token
///   bool declared = false;
///   std::uint32_t held = 0;
///   kvc::Status declare_step(kvc::span<const std::uint32_t> seq_ids) noexcept {
///     if (seq_ids.size() > 1u - held) return kvc::Code::OutOfCapacity;
///     declared = true;
///     return {};
///   }
///   kvc::Result<std::uint32_t> seq_len(std::uint32_t) noexcept { return held; }
///   kvc::Result<kvc::CellStep> place_step(std::uint32_t, kvc::span<const std::uint32_t> positions,
///                                         kvc::span<std::uint32_t> rows) noexcept {
///     if (!declared || positions.size() != 1) return kvc::Code::NoStep;
///     rows[0] = 0;
///     held = 1;
///     return kvc::CellStep{{KVC_MASK_NONE, 1, 1, 0}};
///   }
/// };
/// ```
/// ```cpp
/// OneCell own;
/// static kvc::ExternalStorage storage;
/// kvc::Cache cache = kvc::external_in(storage, own).value();
/// const std::uint32_t seq_ids[] = {0, 0}, position = 0;
/// std::uint32_t row = 7;
/// assert(cache.batch_control().declare_step(seq_ids) == kvc::Code::OutOfCapacity);
/// assert(cache.batch_control().declare_step(kvc::span<const std::uint32_t>(seq_ids).first(1)).ok());
/// assert(cache.cell_planner().place_step(0, {&position, 1}, {&row, 1}).value().read_len == 1 && row == 0);
/// assert(cache.batch_control().seq_len(0).value() == 1 && cache.clear() == kvc::Code::WrongKind);
/// assert(!cache.rows_planner());
/// ```
struct ExternalCells : ExternalBatch {
  /// As `CellPlanner::place_step`; there are as many rows as positions.
  Result<CellStep> place_step(std::uint32_t /*layer*/, span<const std::uint32_t> /*positions*/,
                              span<std::uint32_t> /*rows*/) noexcept {
    return Code::WrongKind;
  }
  /// As `CellPlanner::mask_bytes`.
  Status mask_bytes(std::uint32_t /*layer*/, span<std::uint8_t> /*out*/, std::size_t /*row_stride*/) noexcept {
    return Code::WrongKind;
  }
  /// As `CellPlanner::mask_bits`.
  Status mask_bits(std::uint32_t /*layer*/, span<std::uint32_t> /*out*/, std::size_t /*row_words*/) noexcept {
    return Code::WrongKind;
  }
  /// How many shifts are pending, whether or not `out` holds them.
  Result<std::uint32_t> shifts(std::uint32_t /*layer*/, span<Shift> /*out*/) noexcept { return Code::WrongKind; }
  Status shifts_done() noexcept { return Code::WrongKind; }  ///< They were carried out.
  /// How many moves it made, at most as many as `out` holds.
  Result<std::uint32_t> defrag(std::uint32_t /*layer*/, span<Move> /*out*/) noexcept { return Code::WrongKind; }
};

/// Base of a class that plays a private-row cache; likewise.
///
/// ```cpp file
/// struct OneRow : kvc::ExternalRows {                // every step is one span at row 0
///   kvc::Result<std::uint32_t> place_step(std::uint32_t, kvc::span<const std::uint32_t> positions,
///                                         kvc::span<kvc::SeqSpan> out) noexcept {
///     const kvc::Result<kvc::SeqPlan> plan = kvc::layout_plan(kvc::Layer::flat(), 0, 0, positions[0], 1);
///     if (!plan.ok()) return plan.status();
///     if (!out.empty()) out[0] = kvc::SeqSpan{{0, 1, plan.value()}};
///     return 1u;
///   }
/// };
/// ```
/// ```cpp
/// OneRow own;
/// static kvc::ExternalStorage storage;
/// kvc::Cache cache = kvc::external_in(storage, own).value();
/// const std::uint32_t position = 4;
/// kvc::SeqSpan parts[1];
/// assert(cache.rows_planner().place_step(0, {&position, 1}, parts).value().size() == 1);
/// assert(parts[0].plan.read_len == 5 && cache.batch_control().seq_new().status() == kvc::Code::WrongKind);
/// ```
struct ExternalRows : ExternalBatch {
  /// How many spans there are, whether or not `out` holds them; places the step only if it does.
  Result<std::uint32_t> place_step(std::uint32_t /*layer*/, span<const std::uint32_t> /*positions*/,
                                   span<SeqSpan> /*out*/) noexcept {
    return Code::WrongKind;
  }
};

namespace detail {

/// The functions of an external cache of many sequences that call the members of `T`.
template <class T>
struct BatchCalls {
  static T& self(void* object) noexcept { return *static_cast<T*>(object); }

  static kvc_status_t capacity(void* object, std::uint32_t* out) noexcept { return put(self(object).capacity(), out); }
  static kvc_status_t clear(void* object) noexcept { return Status(self(object).clear()).raw(); }
  static kvc_status_t declare_step(void* object, const std::uint32_t* seq_ids, std::uint32_t n) noexcept {
    return Status(self(object).declare_step(span<const std::uint32_t>(seq_ids, n))).raw();
  }
  static kvc_status_t can_admit(void* object, std::uint32_t seq, std::uint32_t n, bool* out) noexcept {
    return put(self(object).can_admit(seq, n), out);
  }
  static kvc_status_t seq_new(void* object, std::uint32_t* out) noexcept { return put(self(object).seq_new(), out); }
  static kvc_status_t seq_clone(void* object, std::uint32_t src, std::uint32_t upto, std::uint32_t* out) noexcept {
    return put(self(object).seq_clone(src, upto), out);
  }
  static kvc_status_t seq_remove(void* object, std::uint32_t seq, std::uint32_t from, std::uint32_t to) noexcept {
    return Status(self(object).seq_remove(seq, from, to)).raw();
  }
  static kvc_status_t seq_release(void* object, std::uint32_t seq) noexcept {
    return Status(self(object).seq_release(seq)).raw();
  }
  static kvc_status_t seq_keep(void* object, std::uint32_t seq) noexcept {
    return Status(self(object).seq_keep(seq)).raw();
  }
  static kvc_status_t seq_shift(void* object, std::uint32_t seq, std::uint32_t from, std::uint32_t to,
                                std::int32_t delta) noexcept {
    return Status(self(object).seq_shift(seq, from, to, delta)).raw();
  }
  static kvc_status_t rewind(void* object, std::uint32_t seq, std::uint32_t new_len) noexcept {
    return Status(self(object).rewind(seq, new_len)).raw();
  }
  static kvc_status_t seq_len(void* object, std::uint32_t seq, std::uint32_t* out) noexcept {
    return put(self(object).seq_len(seq), out);
  }
  static kvc_status_t next_pos(void* object, std::uint32_t seq, std::uint32_t* out) noexcept {
    return put(self(object).next_pos(seq), out);
  }
  static kvc_status_t first_pos(void* object, std::uint32_t seq, std::uint32_t* out) noexcept {
    return put(self(object).first_pos(seq), out);
  }
  static kvc_status_t free_rows(void* object, std::uint32_t* out) noexcept {
    return put(self(object).free_rows(), out);
  }

  static constexpr kvc_external_t make(std::uint32_t kind) noexcept {
    kvc_external_t calls{};
    calls.struct_size = sizeof(kvc_external_t);
    calls.kind = kind;
    calls.capacity = capacity;
    calls.clear = clear;
    calls.batch_declare_step = declare_step;
    calls.batch_can_admit = can_admit;
    calls.batch_seq_new = seq_new;
    calls.batch_seq_clone = seq_clone;
    calls.batch_seq_remove = seq_remove;
    calls.batch_seq_release = seq_release;
    calls.batch_seq_keep = seq_keep;
    calls.batch_seq_shift = seq_shift;
    calls.batch_rewind = rewind;
    calls.batch_seq_len = seq_len;
    calls.batch_next_pos = next_pos;
    calls.batch_first_pos = first_pos;
    calls.batch_free_rows = free_rows;
    return calls;
  }
};

/// With those of a cell cache.
template <class T>
struct CellCalls : BatchCalls<T> {
  using BatchCalls<T>::self;

  static kvc_status_t place_step(void* object, std::uint32_t layer, const std::uint32_t* positions, std::uint32_t n,
                                 std::uint32_t* rows, kvc_cell_step_t* out) noexcept {
    return put(self(object).place_step(layer, span<const std::uint32_t>(positions, n), span<std::uint32_t>(rows, n)),
               out);
  }
  static kvc_status_t mask_bytes(void* object, std::uint32_t layer, std::uint8_t* out, std::size_t size,
                                 std::size_t row_stride) noexcept {
    return Status(self(object).mask_bytes(layer, span<std::uint8_t>(out, size), row_stride)).raw();
  }
  static kvc_status_t mask_bits(void* object, std::uint32_t layer, std::uint32_t* out, std::size_t words,
                                std::size_t row_words) noexcept {
    return Status(self(object).mask_bits(layer, span<std::uint32_t>(out, words), row_words)).raw();
  }
  static kvc_status_t shifts(void* object, std::uint32_t layer, kvc_shift_t* out, std::uint32_t cap,
                             std::uint32_t* n) noexcept {
    return put_count(self(object).shifts(layer, span<Shift>(out, cap)), cap, n);
  }
  static kvc_status_t shifts_done(void* object) noexcept { return Status(self(object).shifts_done()).raw(); }
  static kvc_status_t defrag(void* object, std::uint32_t layer, kvc_move_t* out, std::uint32_t cap,
                             std::uint32_t* n) noexcept {
    const Result<std::uint32_t> moves = self(object).defrag(layer, span<Move>(out, cap));
    // Moves that are not listed cannot be carried out.
    return moves.ok() && moves.value() > cap ? KVC_ERR_CORRUPT : put(moves, n);
  }

  static constexpr kvc_external_t make() noexcept {
    kvc_external_t calls = BatchCalls<T>::make(KVC_KIND_CELLS);
    calls.cells_place_step = place_step;
    calls.cells_mask_bytes = mask_bytes;
    calls.cells_mask_bits = mask_bits;
    calls.cells_shifts = shifts;
    calls.cells_shifts_done = shifts_done;
    calls.cells_defrag = defrag;
    return calls;
  }
  static constexpr kvc_external_t table = make();
};

/// With those of a private-row cache.
template <class T>
struct RowsCalls : BatchCalls<T> {
  using BatchCalls<T>::self;

  static kvc_status_t place_step(void* object, std::uint32_t layer, const std::uint32_t* positions, std::uint32_t n,
                                 kvc_span_t* out, std::uint32_t cap, std::uint32_t* n_spans) noexcept {
    const span<SeqSpan> spans(static_cast<SeqSpan*>(out), cap);
    return put_count(self(object).place_step(layer, span<const std::uint32_t>(positions, n), spans), cap, n_spans);
  }

  static constexpr kvc_external_t make() noexcept {
    kvc_external_t calls = BatchCalls<T>::make(KVC_KIND_ROWS);
    calls.rows_place_step = place_step;
    return calls;
  }
  static constexpr kvc_external_t table = make();
};

}  // namespace detail

}  // namespace kvc

#endif  // KVCORE_EXTERNAL_BATCH_HPP
