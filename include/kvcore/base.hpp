/// What all of the C++ header stands on: the C header, limits, statuses and results.
#ifndef KVCORE_BASE_HPP
#define KVCORE_BASE_HPP

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

// The C header is C99, casts and all.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuseless-cast"
#endif
#endif
#include "../kvcore.h"
namespace kvc::detail {
constexpr std::size_t sequence_bytes(std::size_t n_layers) { return KVC_SEQUENCE_BYTES_FOR(n_layers); }
}  // namespace kvc::detail
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/// What `Result::value` does when there is none. Define it before including this header, the same in every file.
/// If it returns, `value` answers a value-initialised object.
#ifndef KVC_TRAP
#if defined(__GNUC__)
#define KVC_TRAP() __builtin_trap()
#else
#include <cstdlib>
#define KVC_TRAP() ::std::abort()
#endif
#endif

namespace kvc {

inline constexpr std::uint32_t kUnbounded = KVC_UNBOUNDED;  ///< A capacity that only windows bound.
inline constexpr std::size_t kAlign = KVC_ALIGN;            ///< Alignment of every storage, in bytes.
inline constexpr std::uint32_t kMaxLayers = KVC_MAX_LAYERS;  ///< Most layers of a model.
inline constexpr std::uint32_t kMaxGroups = KVC_MAX_GROUPS;  ///< Most layer groups of a model.
inline constexpr std::uint32_t kMaxSeqs = KVC_MAX_SEQS;      ///< Most sequences of a cell cache.

/// Whether this header and the library belong together. Any thread. O(1).
///
/// ```cpp
/// assert(kvc::check_header());
/// ```
inline bool check_header() noexcept { return kvc_check_header(); }

/// Why a call failed. The numbers are those of C, fixed for good; later versions may add some.
enum class Code : std::int32_t {
  Ok = KVC_OK,                                ///< Success.
  InvalidArgument = KVC_ERR_INVALID_ARGUMENT, ///< Null or misaligned pointer, zero tokens, number outside its range.
  InvalidConfig = KVC_ERR_INVALID_CONFIG,     ///< A config that contradicts itself or passes a limit.
  OutOfCapacity = KVC_ERR_OUT_OF_CAPACITY,    ///< No room now; room may come (rewind, removal, release).
  NeverFits = KVC_ERR_NEVER_FITS,             ///< Would not fit into the same cache even when empty.
  StepTooLarge = KVC_ERR_STEP_TOO_LARGE,      ///< More tokens than `max_write` allows.
  BadLayer = KVC_ERR_BAD_LAYER,               ///< No such layer.
  BadPosition = KVC_ERR_BAD_POSITION,         ///< A gap, or a position already held: a step continues its sequence.
  Evicted = KVC_ERR_EVICTED,                  ///< The target needs rows that a window has dropped.
  CannotGrow = KVC_ERR_CANNOT_GROW,           ///< Rewind beyond the length.
  StalePlan = KVC_ERR_STALE_PLAN,             ///< The cache was rewound, cleared or stepped since the plan was made.
  NotFound = KVC_ERR_NOT_FOUND,               ///< Nothing stands under that name or index.
  AlreadyExists = KVC_ERR_ALREADY_EXISTS,     ///< The name or the slot is taken.
  TableFull = KVC_ERR_TABLE_FULL,             ///< A fixed table has no free entry.
  NameTooLong = KVC_ERR_NAME_TOO_LONG,        ///< A key or name over its limit, or empty.
  WrongKind = KVC_ERR_WRONG_KIND,             ///< This cache does not offer that call.
  BufferTooSmall = KVC_ERR_BUFFER_TOO_SMALL,  ///< The caller's buffer or storage is too small.
  Busy = KVC_ERR_BUSY,                        ///< The lock stayed held; nothing changed.
  Stale = KVC_ERR_STALE,                      ///< The object was released.
  Corrupt = KVC_ERR_CORRUPT,                  ///< Damaged storage or snapshot, or no such object there.
  Unsupported = KVC_ERR_UNSUPPORTED,          ///< Not supported by this object.
  BadSequence = KVC_ERR_BAD_SEQUENCE,         ///< Unknown sequence id.
  NoStep = KVC_ERR_NO_STEP,                   ///< A placement or commit without a declared step.
  Shared = KVC_ERR_SHARED,                    ///< Would change rows that another sequence also owns.
};

/// Success, or why a call failed. It must be looked at; `ignore` says that you mean not to. It is no `bool`: ask
/// `ok`.
///
/// ```cpp
/// kvc::Status status = kvc::Code::Evicted;
/// assert(!status.ok() && status.code() == kvc::Code::Evicted && status.raw() == KVC_ERR_EVICTED);
/// assert(status.name()[8] == 'E');    // "KVC_ERR_EVICTED"
/// assert(status == kvc::Status::from_raw(8) && status != kvc::Status());
/// status.ignore();
/// ```
class [[nodiscard]] Status {
 public:
  constexpr Status() noexcept = default;                 ///< Success.
  constexpr Status(Code code) noexcept : code_(code) {}  ///< Implicit: return a `Code` where a status is wanted.
  /// What C answered; also a number that this header does not know.
  static constexpr Status from_raw(kvc_status_t raw) noexcept { return Status(static_cast<Code>(raw)); }

  constexpr bool ok() const noexcept { return code_ == Code::Ok; }  ///< Success?
  constexpr Code code() const noexcept { return code_; }            ///< For a switch.
  /// As C has it.
  constexpr kvc_status_t raw() const noexcept { return static_cast<kvc_status_t>(code_); }
  /// Such as "KVC_ERR_EVICTED"; a constant. The names are linked only if somebody calls this.
  const char* name() const noexcept { return kvc_status_name(raw()); }
  constexpr void ignore() const noexcept {}  ///< Looks at it, and does nothing.

  friend constexpr bool operator==(Status a, Status b) noexcept { return a.code_ == b.code_; }
  friend constexpr bool operator!=(Status a, Status b) noexcept { return a.code_ != b.code_; }

 private:
  Code code_ = Code::Ok;
};

namespace detail {
struct Access;
}

/// A value, or why there is none. It must be looked at. It converts to nothing, so that neither `if (can_extend(1))`
/// nor `uint32_t n = length()` compiles: ask `ok`, `value` or `value_or`.
///
/// ```cpp
/// kvc::Result<std::uint32_t> five = 5u, none = kvc::Code::NotFound;
/// assert(five.ok() && five.value() == 5 && five.status() == kvc::Code::Ok);
/// assert(!none.ok() && none.value_or(7) == 7 && none.status() == kvc::Code::NotFound);
/// ```
template <class T>
class [[nodiscard]] Result {
  static_assert(!std::is_reference_v<T> && !std::is_same_v<T, Status>, "answer a pointer, or a plain Status");
  static_assert(std::is_nothrow_default_constructible_v<T> && std::is_nothrow_move_constructible_v<T>);

 public:
  /// A value; implicit.
  constexpr Result(T value) noexcept : value_(std::move(value)) {}
  /// A failure; implicit. Success without a value is `Code::Corrupt`.
  constexpr Result(Status error) noexcept : status_(error.ok() ? Status(Code::Corrupt) : error) {}
  constexpr Result(Code error) noexcept : Result(Status(error)) {}  ///< Likewise.

  constexpr bool ok() const noexcept { return status_.ok(); }      ///< Is there a value?
  constexpr Status status() const noexcept { return status_; }     ///< Success, or why there is none.

  /// The value. Without one, `KVC_TRAP` ends the program: look at `ok` first unless failure is impossible.
  constexpr T& value() & noexcept {
    checked();
    return value_;
  }
  /// Likewise.
  constexpr const T& value() const& noexcept {
    checked();
    return value_;
  }
  /// Likewise; moves it out.
  constexpr T value() && noexcept {
    checked();
    return std::move(value_);
  }

  /// The value, or `fallback`.
  constexpr T value_or(T fallback) const& noexcept { return ok() ? value_ : std::move(fallback); }
  /// Likewise; moves it out.
  constexpr T value_or(T fallback) && noexcept { return std::move(ok() ? value_ : fallback); }

 private:
  friend struct detail::Access;
  constexpr Result() noexcept = default;
  constexpr void checked() const noexcept {
    if (!ok()) KVC_TRAP();
  }

  Status status_{};
  T value_{};
};

namespace detail {

/// Calls a C function whose last parameter takes the result.
struct Access {
  template <class T, class... Parameters, class... Arguments>
  static Result<T> ask(kvc_status_t (*call)(Parameters...), Arguments... arguments) noexcept {
    Result<T> result;
    result.status_ = Status::from_raw(call(arguments..., &result.value_));
    return result;
  }
};

/// Answers C: the status, and a value through `out`.
template <class T, class Out>
kvc_status_t put(const Result<T>& result, Out* out) noexcept {
  if (result.ok()) *out = result.value();
  return result.status().raw();
}

/// Likewise, a number of elements, of which there is room for `cap`.
inline kvc_status_t put_count(const Result<std::uint32_t>& count, std::uint32_t cap, std::uint32_t* out) noexcept {
  if (count.ok()) *out = count.value();
  return count.ok() && count.value() > cap ? KVC_ERR_BUFFER_TOO_SMALL : count.status().raw();
}

/// Whether a face, backend id or kind is 1 to `KVC_MAX_NAME` bytes long.
constexpr bool is_name(const char* name) noexcept {
  std::size_t size = 0;
  while (size <= KVC_MAX_NAME && name[size] != '\0') ++size;
  return size >= 1 && size <= KVC_MAX_NAME;
}

/// A number of elements for C. A template, because the cast is a useless one where a size has 32 bits.
template <class Size>
constexpr std::uint32_t clamp(Size size) noexcept {
  return size < UINT32_MAX ? static_cast<std::uint32_t>(size) : UINT32_MAX;
}

/// A copy with one field changed.
template <class C, class T>
constexpr C with(C object, T C::* field, T value) noexcept {
  object.*field = value;
  return object;
}

/// Keeps a parameter from deducing `T`.
template <class T>
struct Exactly {
  using type = T;
};

}  // namespace detail

}  // namespace kvc

#endif  // KVCORE_BASE_HPP
