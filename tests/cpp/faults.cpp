// Failures that the library only has under load. Some of its calls are replaced, before the C++ header sees them.
#include <kvcore.h>

namespace fake {

static bool busy = false;
static bool full = false;
static int dropped = 0;

static kvc_status_t session_close(kvc_session_t* session) {
  return busy ? KVC_ERR_BUSY : kvc_session_close(session);
}
static void session_drop(kvc_session_t* session) {
  ++dropped;
  kvc_session_drop(session);
}
static kvc_status_t cache_retain(kvc_cache_t* cache) {
  return full ? KVC_ERR_OUT_OF_CAPACITY : kvc_cache_retain(cache);
}

}  // namespace fake

#define kvc_session_close fake::session_close
#define kvc_session_drop fake::session_drop
#define kvc_cache_retain fake::cache_retain
#include "test.hpp"

#include <utility>

namespace {

using namespace test;

struct Fixture {
  int ended = 0;
  kvc::SequenceStorage<1> storage;
  LocalRegistry registry;
  kvc::Cache cache = kvc::FlatCache<1>::build_in(storage, 8).value();
  Fixture() {
    fake::dropped = 0;
    REQUIRE(cache.on_release(count_end, &ended).ok());
  }
  ~Fixture() {
    fake::busy = false;
    fake::full = false;
  }
};

TEST_CASE_FIXTURE(Fixture, "a session that cannot be closed is still open") {
  kvc::Session session = kvc::Session::open(registry, "chat", cache).value();
  fake::busy = true;
  CHECK(session.close() == Code::Busy);
  CHECK(session.is_open());
  fake::busy = false;
  CHECK(session.close().ok());
  CHECK(registry->count().value() == 0);
}

// What the guard's call does when the lock stays held is tested in C, where a call can be interrupted.
TEST_CASE_FIXTURE(Fixture, "a destructor gives the entry to the guard's call, once, and only if it is open") {
  {
    const kvc::Session session = kvc::Session::open(registry, "chat", cache).value();
    CHECK(fake::dropped == 0);
  }
  CHECK(fake::dropped == 1);
  CHECK(registry->count().value() == 0);
  {
    kvc::Session session = kvc::Session::open(registry, "chat", cache).value();
    CHECK(session.close().ok());
    kvc::Session moved = std::move(session);
    const kvc::Session never;
  }
  CHECK(fake::dropped == 1);
}

TEST_CASE_FIXTURE(Fixture, "so does an assignment over an open session") {
  kvc::Session session = kvc::Session::open(registry, "chat", cache).value();
  session = kvc::Session::open(registry, "second", cache).value();
  CHECK(fake::dropped == 1);
  CHECK(registry->get("chat").status() == Code::NotFound);
  session = kvc::Session();
  CHECK(fake::dropped == 2);
  session = kvc::Session();
  CHECK(fake::dropped == 2);
  CHECK(registry->count().value() == 0);
}

TEST_CASE_FIXTURE(Fixture, "a copy beyond the last reference that can be counted is empty") {
  fake::full = true;
  const kvc::Cache copy = cache;
  CHECK_FALSE(copy);
  CHECK(cache.retain().status() == Code::OutOfCapacity);

  int other_ended = 0;
  kvc::SequenceStorage<1> other_storage;
  kvc::Cache assigned = kvc::FlatCache<1>::build_in(other_storage, 8).value();
  REQUIRE(assigned.on_release(count_end, &other_ended).ok());
  assigned = cache;
  CHECK_FALSE(assigned);
  CHECK(other_ended == 1);
  CHECK(cache.capacity().value() == 8);
  CHECK(ended == 0);
}

}  // namespace
