// Failures that the library only has under load. Two of its calls are replaced, before the C++ header sees them.
#include <kvcore.h>

namespace fake {

static bool busy = false;
static bool full = false;

static kvc_status_t session_close(kvc_session_t* session) {
  return busy ? KVC_ERR_BUSY : kvc_session_close(session);
}
static kvc_status_t cache_retain(kvc_cache_t* cache) {
  return full ? KVC_ERR_OUT_OF_CAPACITY : kvc_cache_retain(cache);
}

}  // namespace fake

#define kvc_session_close fake::session_close
#define kvc_cache_retain fake::cache_retain
#include "test.hpp"

#include <cstring>

namespace {

using namespace test;

struct Fixture {
  int ended = 0;
  kvc::SequenceStorage<1> storage;
  LocalRegistry registry;
  kvc::Cache cache = kvc::FlatCache<1>::build_in(storage, 8).value();
  Fixture() { REQUIRE(cache.on_release(count_end, &ended).ok()); }
  ~Fixture() {
    fake::busy = false;
    fake::full = false;
    kvc::set_event_hook(nullptr);
  }
};

struct Leaks {
  int count = 0;
  kvc_status_t status = KVC_OK;
  char key[KVC_KEY_BYTES] = {};
};

void on_event(void* context, std::uint32_t event, kvc_status_t status, const char* key) {
  if (event != KVC_EVENT_LEAKED) return;
  auto* leaks = static_cast<Leaks*>(context);
  ++leaks->count;
  leaks->status = status;
  std::strcpy(leaks->key, key);
}

TEST_CASE_FIXTURE(Fixture, "a session that cannot be closed is still open") {
  kvc::Session session = kvc::Session::open(registry, "chat", cache).value();
  fake::busy = true;
  CHECK(session.close() == Code::Busy);
  CHECK(session.is_open());
  fake::busy = false;
  CHECK(session.close().ok());
  CHECK(registry->count().value() == 0);
}

TEST_CASE_FIXTURE(Fixture, "a destructor that cannot erase leaves the entry, which owns its reference, and tells") {
  Leaks leaks;
  kvc::set_event_hook(on_event, &leaks);
  {
    const kvc::Session session = kvc::Session::open(registry, "chat", cache).value();
    fake::busy = true;
  }
  CHECK(leaks.count == 1);
  CHECK(leaks.status == KVC_ERR_BUSY);
  CHECK(std::strcmp(leaks.key, "chat") == 0);
  cache.reset();
  CHECK(ended == 0);
  CHECK(registry->get("chat").value().capacity().value() == 8);
  CHECK(registry->erase("chat").ok());
  CHECK(ended == 1);
}

TEST_CASE_FIXTURE(Fixture, "so does an assignment over an open session, and a destructor without a hook") {
  Leaks leaks;
  kvc::set_event_hook(on_event, &leaks);
  {
    kvc::Session session = kvc::Session::open(registry, "chat", cache).value();
    fake::busy = true;
    session = kvc::Session();
    CHECK(leaks.count == 1);
    CHECK_FALSE(session.is_open());
    fake::busy = false;
    session = kvc::Session::open(registry, "second", cache).value();
    kvc::set_event_hook(nullptr);
    fake::busy = true;
  }
  CHECK(leaks.count == 1);
  CHECK(registry->count().value() == 2);
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
