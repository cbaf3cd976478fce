/// Caches of one sequence that a C++ class implements; see `external.hpp`.
#ifndef KVCORE_EXTERNAL_SEQUENCE_HPP
#define KVCORE_EXTERNAL_SEQUENCE_HPP

#include "plan.hpp"

namespace kvc {

/// Base of a class that plays a one-sequence cache: hide the calls that it offers with functions of the same name and
/// signature; the others answer `WrongKind`. They run without any lock, in the thread of the caller. `plan_step`
/// answers the number of groups, and writes plans only if they all fit.
///
/// ```cpp file
/// struct Counter : kvc::ExternalSequence {
///   std::uint32_t tokens = 0;
///   kvc::Result<std::uint32_t> length() noexcept { return tokens; }
///   kvc::Status clear() noexcept { tokens = 0; return {}; }
/// };
/// ```
/// ```cpp
/// Counter counter;
/// counter.tokens = 7;
/// static kvc::ExternalStorage storage;
/// kvc::Cache cache = kvc::external_in(storage, counter).value();
/// assert(cache.sequence_control().length().value() == 7 && cache.clear().ok() && counter.tokens == 0);
/// assert(cache.sequence_control().rewind(0) == kvc::Code::WrongKind);
/// ```
struct ExternalSequence {
  /// As `SequenceControl::capacity`; so the others, each like the call of that name.
  Result<std::uint32_t> capacity() noexcept { return Code::WrongKind; }
  Status clear() noexcept { return Code::WrongKind; }                                           ///< Empties it.
  Result<bool> can_extend(std::uint32_t /*n*/) noexcept { return Code::WrongKind; }             ///< Room for n?
  Result<std::uint32_t> length() noexcept { return Code::WrongKind; }                           ///< Tokens held.
  Status rewind(std::uint32_t /*new_len*/) noexcept { return Code::WrongKind; }                 ///< Takes it back.
  Result<std::uint32_t> rewind_floor() noexcept { return Code::WrongKind; }                     ///< How far.
  /// As `SequencePlanner::plan`.
  Result<SeqPlan> plan(std::uint32_t /*layer*/, std::uint32_t /*position*/, std::uint32_t /*n*/) noexcept {
    return Code::WrongKind;
  }
  /// How many groups there are, whether or not `out` holds them.
  Result<std::uint32_t> plan_step(std::uint32_t /*position*/, std::uint32_t /*n*/, span<SeqPlan> /*out*/) noexcept {
    return Code::WrongKind;
  }
  /// As `SequencePlanner::commit`.
  Status commit(const SeqPlan& /*plan*/, std::uint32_t /*accepted*/) noexcept { return Code::WrongKind; }
};

namespace detail {

/// The functions of an external cache of one sequence that call the members of `T`.
template <class T>
struct SequenceCalls {
  static T& self(void* object) noexcept { return *static_cast<T*>(object); }

  static kvc_status_t capacity(void* object, std::uint32_t* out) noexcept { return put(self(object).capacity(), out); }
  static kvc_status_t clear(void* object) noexcept { return Status(self(object).clear()).raw(); }
  static kvc_status_t can_extend(void* object, std::uint32_t n, bool* out) noexcept {
    return put(self(object).can_extend(n), out);
  }
  static kvc_status_t length(void* object, std::uint32_t* out) noexcept { return put(self(object).length(), out); }
  static kvc_status_t rewind(void* object, std::uint32_t new_len) noexcept {
    return Status(self(object).rewind(new_len)).raw();
  }
  static kvc_status_t rewind_floor(void* object, std::uint32_t* out) noexcept {
    return put(self(object).rewind_floor(), out);
  }
  static kvc_status_t plan(void* object, std::uint32_t layer, std::uint32_t position, std::uint32_t n,
                           kvc_seq_plan_t* out) noexcept {
    return put(self(object).plan(layer, position, n), out);
  }
  static kvc_status_t plan_step(void* object, std::uint32_t position, std::uint32_t n, kvc_seq_plan_t* plans,
                                std::uint32_t cap, std::uint32_t* n_groups) noexcept {
    const span<SeqPlan> out(static_cast<SeqPlan*>(plans), cap);
    return put_count(self(object).plan_step(position, n, out), cap, n_groups);
  }
  static kvc_status_t commit(void* object, const kvc_seq_plan_t* plan, std::uint32_t accepted) noexcept {
    return Status(self(object).commit(SeqPlan{*plan}, accepted)).raw();
  }

  static constexpr kvc_external_t make() noexcept {
    kvc_external_t calls{};
    calls.struct_size = sizeof(kvc_external_t);
    calls.kind = KVC_KIND_SEQUENCE;
    calls.capacity = capacity;
    calls.clear = clear;
    calls.can_extend = can_extend;
    calls.length = length;
    calls.rewind = rewind;
    calls.rewind_floor = rewind_floor;
    calls.seq_plan = plan;
    calls.seq_plan_step = plan_step;
    calls.seq_commit = commit;
    return calls;
  }
  static constexpr kvc_external_t table = make();
};

}  // namespace detail

}  // namespace kvc

#endif  // KVCORE_EXTERNAL_SEQUENCE_HPP
