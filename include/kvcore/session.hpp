/// Sessions and events.
#ifndef KVCORE_SESSION_HPP
#define KVCORE_SESSION_HPP

#include "registry.hpp"

namespace kvc {

/// What an event hook is told.
enum class Event : std::uint32_t {
  Installed = KVC_EVENT_INSTALLED,  ///< A cache went into a registry, under the key.
  Erased = KVC_EVENT_ERASED,        ///< An entry left its registry.
  Evicted = KVC_EVENT_EVICTED,      ///< A step made a window drop positions.
  Refused = KVC_EVENT_REFUSED,      ///< A call failed with the status.
  Busy = KVC_EVENT_BUSY,            ///< A call gave up waiting for a lock.
  Leaked = KVC_EVENT_LEAKED,        ///< A session's destructor could not erase its entry, which stays.
  Ended = KVC_EVENT_ENDED,          ///< The last reference of a cache went.
};

/// Sets the event hook of the process, or none with a null pointer. It is called as (context, `KVC_EVENT_…`, status,
/// key or null), without any lock, in the context of the call that caused the event, an interrupt too; it must not
/// block. Set it before anything is shared between threads. O(1).
///
/// ```cpp
/// static unsigned ended = 0;
/// kvc::set_event_hook([](void*, std::uint32_t event, kvc_status_t, const char*) {
///   if (static_cast<kvc::Event>(event) == kvc::Event::Ended) ++ended;
/// });
/// kvc::FlatCache<1> cache;
/// assert(cache.init(8).ok());
/// cache.reset();
/// kvc::set_event_hook(nullptr);
/// assert(ended == 1);
/// ```
inline void set_event_hook(kvc_event_fn call, void* context = nullptr) noexcept {
  kvc_set_event_hook(call, context);
}

/// An entry in a registry for as long as the application works with a cache. Moves, does not copy. It holds no
/// reference, and erases only the entry that it made: what somebody else has put under the key since stays.
///
/// The destructor waits at most as long as the lock does; if the lock stays held the entry stays too, with its
/// reference, and `Event::Leaked` is reported. In an interrupt call `close` and look at the answer.
///
/// ```cpp
/// static kvc::SequenceStorage<1> storage;
/// kvc::Cache cache = kvc::FlatCache<1>::build_in(storage, 64).value();
/// {
///   kvc::Session session = kvc::Session::open(kvc::Registry::global(), cache).value();
///   assert(session.is_open() && kvc::Registry::global().get(session.key()).ok());    // the backend's way to it
///   kvc::Session moved = std::move(session);
///   assert(!session.is_open() && moved.close().ok() && moved.close().ok());
///   moved = kvc::Session::open(kvc::Registry::global(), "chat", cache).value();
/// }
/// assert(kvc::Registry::global().get("chat").status() == kvc::Code::NotFound);
/// ```
class [[nodiscard]] Session {
 public:
  constexpr Session() noexcept = default;  ///< Closed.
  /// The other is closed afterwards.
  Session(Session&& other) noexcept : raw_(std::exchange(other.raw_, kvc_session_t{})) {}
  /// Closes what was open here, as the destructor does.
  Session& operator=(Session&& other) noexcept {
    const kvc_session_t taken = std::exchange(other.raw_, kvc_session_t{});
    finish();
    raw_ = taken;
    return *this;
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { finish(); }

  /// Installs a cache under a key of yours, or a generated one that nobody took. As `Registry::install`. O(entries).
  static Result<Session> open(Registry registry, const char* key_or_null, const Cache& cache) noexcept {
    Session session;
    const Status status =
        Status::from_raw(kvc_session_open(&session.raw_, registry.get(), key_or_null, cache.get()));
    if (!status.ok()) return status;
    return Result<Session>(std::move(session));
  }
  /// Under a generated key.
  static Result<Session> open(Registry registry, const Cache& cache) noexcept { return open(registry, nullptr, cache); }
  /// As `Registry::install`: build it with `build_in`.
  template <std::size_t Bytes>
  static Result<Session> open(Registry, const char*, const SingleOwner<Bytes>&) = delete;
  template <std::size_t Bytes>
  static Result<Session> open(Registry, const SingleOwner<Bytes>&) = delete;

  /// Erases the entry, if it is still this session's. Twice is fine. `Busy`: still open, call again. `Stale`: the
  /// registry is closed. O(entries).
  Status close() noexcept { return Status::from_raw(kvc_session_close(&raw_)); }
  /// Has it an entry to erase?
  constexpr bool is_open() const noexcept { return raw_.id != 0; }
  /// The key that the backend needs; empty for a session that never was open. It lives in this object.
  constexpr const char* key() const& noexcept { return raw_.key; }
  void key() const&& = delete;  ///< Keep the session first.

 private:
  void finish() noexcept {
    if (is_open()) kvc_session_drop(&raw_);
  }

  kvc_session_t raw_{};
};

}  // namespace kvc

#endif  // KVCORE_SESSION_HPP
