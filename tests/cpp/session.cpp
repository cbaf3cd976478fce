#include "test.hpp"

#include <cstring>
#include <type_traits>
#include <utility>

namespace {

using namespace test;

static_assert(!std::is_copy_constructible_v<kvc::Session> && !std::is_copy_assignable_v<kvc::Session>);
static_assert(std::is_nothrow_move_constructible_v<kvc::Session> && std::is_nothrow_move_assignable_v<kvc::Session>);

struct Fixture {
  int ended = 0;
  kvc::SequenceStorage<1> storage;
  LocalRegistry registry;
  kvc::Cache cache = kvc::FlatCache<1>::build_in(storage, 8).value();
  Fixture() { REQUIRE(cache.on_release(count_end, &ended).ok()); }
};

TEST_CASE_FIXTURE(Fixture, "open installs, the destructor erases") {
  {
    const kvc::Session session = kvc::Session::open(registry, "chat", cache).value();
    CHECK(session.is_open());
    CHECK(std::strcmp(session.key(), "chat") == 0);
    CHECK(registry->get("chat").value() == cache);
  }
  CHECK(registry->count().value() == 0);
}

TEST_CASE_FIXTURE(Fixture, "a key of its own, or a generated one") {
  const kvc::Session one = kvc::Session::open(registry, cache).value();
  const kvc::Session two = kvc::Session::open(registry, nullptr, cache).value();
  CHECK(std::strncmp(one.key(), "cache-", 6) == 0);
  CHECK(std::strcmp(one.key(), two.key()) != 0);
  CHECK(registry->count().value() == 2);
}

TEST_CASE_FIXTURE(Fixture, "what open refuses leaves nothing behind") {
  const kvc::Session session = kvc::Session::open(registry, "chat", cache).value();
  CHECK(kvc::Session::open(registry, "chat", cache).status() == Code::AlreadyExists);
  CHECK(kvc::Session::open(registry, "", cache).status() == Code::NameTooLong);
  CHECK(kvc::Session::open(registry, kvc::Cache()).status() == Code::InvalidArgument);
  CHECK(kvc::Session::open(kvc::Registry(), cache).status() == Code::InvalidArgument);
  CHECK(registry->count().value() == 1);
}

TEST_CASE_FIXTURE(Fixture, "it holds no reference; the entry does") {
  kvc::Session session = kvc::Session::open(registry, cache).value();
  cache.reset();
  CHECK(ended == 0);
  CHECK(session.close().ok());
  CHECK(ended == 1);
}

TEST_CASE_FIXTURE(Fixture, "closing twice is fine") {
  kvc::Session session = kvc::Session::open(registry, "chat", cache).value();
  CHECK(session.close().ok());
  CHECK_FALSE(session.is_open());
  CHECK(session.close().ok());
  CHECK(kvc::Session().close().ok());
  CHECK(kvc::Session().is_open() == false);
}

TEST_CASE_FIXTURE(Fixture, "it erases only what it installed") {
  kvc::SequenceStorage<1> other_storage;
  const kvc::Cache other = kvc::FlatCache<1>::build_in(other_storage, 16).value();
  {
    const kvc::Session session = kvc::Session::open(registry, "chat", cache).value();
    REQUIRE(registry->erase("chat").ok());
    REQUIRE(registry->install("chat", other).ok());
  }
  CHECK(registry->get("chat").value() == other);
}

TEST_CASE_FIXTURE(Fixture, "moving") {
  kvc::Session first = kvc::Session::open(registry, "first", cache).value();
  kvc::Session moved = std::move(first);
  CHECK_FALSE(first.is_open());  // NOLINT: a moved-from session is closed
  CHECK(std::strcmp(first.key(), "") == 0);
  CHECK(std::strcmp(moved.key(), "first") == 0);
  CHECK(first.close().ok());
  CHECK(registry->get("first").ok());

  kvc::Session second = kvc::Session::open(registry, "second", cache).value();
  second = std::move(moved);
  CHECK(registry->get("second").status() == Code::NotFound);
  CHECK(registry->get("first").ok());

  kvc::Session& same = second;
  second = std::move(same);
  CHECK(second.is_open());
  CHECK(registry->get("first").ok());
  second = kvc::Session();
  CHECK(registry->count().value() == 0);
}

TEST_CASE_FIXTURE(Fixture, "a session survives the end of its registry's life") {
  RegistryStorage buffer;
  const kvc::Registry own = kvc::Registry::build_in(buffer).value();
  static int leaked;
  leaked = 0;
  {
    kvc::Session session = kvc::Session::open(own, "chat", cache).value();
    REQUIRE(own.deinit().ok());
    CHECK(session.close() == Code::Stale);
    kvc::set_event_hook([](void*, std::uint32_t event, kvc_status_t, const char*) {
      if (event == KVC_EVENT_LEAKED) ++leaked;
    });
  }
  kvc::set_event_hook(nullptr);
  // The registry let go of the entry: nothing is left behind.
  CHECK(leaked == 0);
}

}  // namespace
