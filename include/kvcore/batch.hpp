/// Many sequences in one cache: the application's face, whatever kind of cache it is.
#ifndef KVCORE_BATCH_HPP
#define KVCORE_BATCH_HPP

#include "cache.hpp"

namespace kvc {

/// The application's face of a cache of many sequences: admission, and the verbs that change sequences. Borrowed: it
/// holds no reference and is good for as long as the cache that handed it out. Empty for a cache of one sequence.
///
/// A sequence is known by its id. A call with an id that is not in use answers `BadSequence`; one that the kind of
/// cache does not have, `WrongKind`. A verb (what changes sequences: not the questions) that succeeds ends the declared
/// step.
///
/// ```cpp
/// static kvc::Buffer<4096> storage;
/// const kvc::Config config = kvc::Config::uniform(16, 1, kvc::Layer::flat()).with_max_seqs(4);
/// kvc::Cache cache = kvc::cells_in(storage, config).value();
/// kvc::BatchControl control = cache.batch_control();
/// assert(control && control.capacity().value() == 16 && !kvc::BatchControl());
///
/// const std::uint32_t chat = control.seq_new().value();
/// assert(chat == 0 && control.can_admit(chat, 16).value() && !control.can_admit(chat, 17).value());
/// const std::uint32_t prompt[] = {chat, chat, chat};           // three tokens of one sequence
/// assert(control.declare_step(prompt).ok());
/// const std::uint32_t positions[] = {0, 1, 2};
/// std::uint32_t rows[3];
/// assert(cache.cell_planner().place_step(0, positions, rows).ok());      // by the backend
/// assert(control.seq_len(chat).value() == 3 && control.free_rows().value() == 13);
///
/// const std::uint32_t branch = control.seq_clone(chat, 2).value();       // its first two tokens
/// assert(control.next_pos(branch).value() == 2 && control.first_pos(branch).value() == 0);
/// assert(control.seq_shift(chat, 0, 1, 5) == kvc::Code::Shared);         // the branch has that cell too
/// assert(control.seq_remove(chat, 0, 1).ok() && control.first_pos(chat).value() == 1);
/// assert(control.seq_shift(chat, 2, 3, 5).ok() && control.next_pos(chat).value() == 8);
/// assert(control.rewind(chat, 2).ok() && control.rewind(chat, 5) == kvc::Code::CannotGrow);
/// assert(control.seq_keep(branch).ok() && control.seq_len(chat).status() == kvc::Code::BadSequence);
/// assert(control.seq_release(branch).ok() && control.clear().ok() && control.free_rows().value() == 16);
/// ```
class BatchControl {
 public:
  constexpr BatchControl() noexcept = default;  ///< Empty.
  /// Does the cache offer it?
  constexpr explicit operator bool() const noexcept { return cache_ != nullptr; }

  /// Declares the next step, before any compute: the sequence of each of its tokens. All of it is admitted, or nothing.
  /// It replaces an earlier declaration; a refused one leaves that standing. `InvalidArgument` (also no tokens),
  /// `BadSequence`, `StepTooLarge`, `NeverFits`, `OutOfCapacity`. O(tokens + sequences
  /// + cells freed), where only cells that windows have passed make room at worst O(rows / 32 * sequences).
  Status declare_step(span<const std::uint32_t> seq_ids) const noexcept {
    return Status::from_raw(kvc_batch_declare_step(cache_, seq_ids.data(), detail::clamp(seq_ids.size())));
  }
  /// Whether `n` more tokens of a sequence fit now, in steps of any size. `InvalidArgument` for 0. O(groups),
  /// where only cells that windows have passed make room at worst O(rows / 32 * sequences).
  Result<bool> can_admit(std::uint32_t seq, std::uint32_t n = 1) const noexcept {
    return detail::Access::ask<bool>(kvc_batch_can_admit, cache_, seq, n);
  }

  /// A new, empty sequence under the lowest free id. `TableFull`. O(sequences).
  Result<std::uint32_t> seq_new() const noexcept {
    return detail::Access::ask<std::uint32_t>(kvc_batch_seq_new, cache_);
  }
  /// A new sequence with the positions of `src` below `upto`; all of them by default. Cells are shared; of private rows
  /// the backend copies what `RowsPlanner::held` lists. `TableFull`, `Evicted` when a window has dropped what a
  /// sequence of `upto` tokens needs, `OutOfCapacity` (private rows). O(rows + sequences).
  Result<std::uint32_t> seq_clone(std::uint32_t src, std::uint32_t upto = kUnbounded) const noexcept {
    return detail::Access::ask<std::uint32_t>(kvc_batch_seq_clone, cache_, src, upto);
  }
  /// Takes the positions `from` to `to`, `to` excluded, out of a sequence of cells, which stays. `InvalidArgument` for
  /// `from` above `to`, `Evicted` for a tail when a window has dropped what is then needed, `WrongKind`. O(rows).
  Status seq_remove(std::uint32_t seq, std::uint32_t from, std::uint32_t to) const noexcept {
    return Status::from_raw(kvc_batch_seq_remove(cache_, seq, from, to));
  }
  /// Ends a sequence: all of it, and its id. O(rows).
  Status seq_release(std::uint32_t seq) const noexcept {
    return Status::from_raw(kvc_batch_seq_release(cache_, seq));
  }
  /// Ends every other sequence. O(rows + sequences).
  Status seq_keep(std::uint32_t seq) const noexcept { return Status::from_raw(kvc_batch_seq_keep(cache_, seq)); }
  /// Moves the positions `from` to `to`, `to` excluded, of a sequence of cells by `delta`; the backend has to rotate
  /// their keys, see `CellPlanner::shifts`. `InvalidArgument` for `from` above `to`, `Shared` for cells that another
  /// sequence has too, `BadPosition` for a result below 0, beyond `max_context`, or on a position that is held;
  /// `Unsupported` while a step's shifts are being carried out;
  /// `Evicted` where the next token would miss what a window has dropped; `WrongKind`. O(rows).
  Status seq_shift(std::uint32_t seq, std::uint32_t from, std::uint32_t to, std::int32_t delta) const noexcept {
    return Status::from_raw(kvc_batch_seq_shift(cache_, seq, from, to, delta));
  }
  /// Drops the positions of a sequence from `new_len` on. `CannotGrow` beyond its next position, `Evicted` when a
  /// window has dropped what is then needed. It also cancels a step: rewind each of its sequences to its old next position.
  /// O(rows).
  Status rewind(std::uint32_t seq, std::uint32_t new_len) const noexcept {
    return Status::from_raw(kvc_batch_rewind(cache_, seq, new_len));
  }

  /// Tokens that a sequence holds. O(groups).
  Result<std::uint32_t> seq_len(std::uint32_t seq) const noexcept {
    return detail::Access::ask<std::uint32_t>(kvc_batch_seq_len, cache_, seq);
  }
  /// The highest position of a sequence + 1: where its next token goes. O(1).
  Result<std::uint32_t> next_pos(std::uint32_t seq) const noexcept {
    return detail::Access::ask<std::uint32_t>(kvc_batch_next_pos, cache_, seq);
  }
  /// The lowest position that a sequence holds; `kUnbounded` when it is empty. O(groups).
  Result<std::uint32_t> first_pos(std::uint32_t seq) const noexcept {
    return detail::Access::ask<std::uint32_t>(kvc_batch_first_pos, cache_, seq);
  }
  /// Rows that no sequence holds. O(groups).
  Result<std::uint32_t> free_rows() const noexcept {
    return detail::Access::ask<std::uint32_t>(kvc_batch_free_rows, cache_);
  }
  /// Cells or rows that the cache can hold. O(1).
  Result<std::uint32_t> capacity() const noexcept { return detail::Access::ask<std::uint32_t>(kvc_capacity, cache_); }
  /// Forgets all sequences, their ids and the declared step. O(rows + sequences).
  Status clear() const noexcept { return Status::from_raw(kvc_clear(cache_)); }

 private:
  friend class AnyCache;
  constexpr explicit BatchControl(kvc_cache_t* cache) noexcept : cache_(cache) {}
  kvc_cache_t* cache_ = nullptr;
};

inline BatchControl AnyCache::batch_control() const& noexcept { return BatchControl(of_many()); }

}  // namespace kvc

#endif  // KVCORE_BATCH_HPP
