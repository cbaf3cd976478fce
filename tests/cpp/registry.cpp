#include "test.hpp"

#include <cstring>
#include <type_traits>

namespace {

using namespace test;

static_assert(sizeof(kvc::Registry) == sizeof(void*) && std::is_trivially_copyable_v<kvc::Registry>);

struct Fixture {
  int ended = 0;
  kvc::SequenceStorage<1> storage;
  LocalRegistry registry;
  kvc::Cache cache = kvc::FlatCache<1>::build_in(storage, 8).value();
  Fixture() { REQUIRE(cache.on_release(count_end, &ended).ok()); }
};

TEST_CASE_FIXTURE(Fixture, "install, get, erase") {
  CHECK(registry->count().value() == 0);
  REQUIRE(registry->install("chat", cache).ok());
  CHECK(registry->install("chat", cache) == Code::AlreadyExists);
  CHECK(registry->count().value() == 1);
  CHECK(std::strcmp(registry->key_at(0).value().c_str(), "chat") == 0);
  CHECK(registry->key_at(1).status() == Code::NotFound);
  {
    const kvc::Cache found = registry->get("chat").value();
    CHECK(found == cache);
  }
  CHECK(registry->get("nobody").status() == Code::NotFound);
  CHECK(registry->erase("chat").ok());
  CHECK(registry->erase("chat") == Code::NotFound);
  CHECK(ended == 0);
}

TEST_CASE_FIXTURE(Fixture, "any of the three owners may go first") {
  REQUIRE(registry->install("chat", cache).ok());
  kvc::Cache backend = registry->get("chat").value();
  cache.reset();
  CHECK(ended == 0);
  CHECK(registry->erase("chat").ok());
  CHECK(ended == 0);
  CHECK(backend.capacity().value() == 8);
  backend.reset();
  CHECK(ended == 1);
}

TEST_CASE_FIXTURE(Fixture, "keys have a length") {
  char key[65];
  std::memset(key, 'k', 64);
  key[64] = '\0';
  CHECK(registry->install(key, cache) == Code::NameTooLong);
  key[63] = '\0';
  CHECK(registry->install(key, cache).ok());
  CHECK(std::strcmp(registry->key_at(0).value().c_str(), key) == 0);
  CHECK(registry->install("", cache) == Code::NameTooLong);
  CHECK(registry->install(nullptr, cache) == Code::InvalidArgument);
  CHECK(registry->install("empty", kvc::Cache()) == Code::InvalidArgument);
}

TEST_CASE_FIXTURE(Fixture, "a key is copied") {
  char key[] = "first";
  REQUIRE(registry->install(key, cache).ok());
  key[0] = 'F';
  CHECK(registry->get("first").ok());
}

TEST_CASE_FIXTURE(Fixture, "closing lets go of everything") {
  RegistryStorage buffer;
  const kvc::Registry own = kvc::Registry::build_in(buffer).value();
  REQUIRE(own.install("chat", cache).ok());
  cache.reset();
  CHECK(ended == 0);
  CHECK(own.deinit().ok());
  CHECK(ended == 1);
  CHECK(own.count().status() == Code::Stale);
  CHECK(own.get("chat").status() == Code::Stale);
  CHECK(own.deinit() == Code::Stale);
}

TEST_CASE("building a registry") {
  RegistryStorage buffer;
  const kvc::Storage storage = buffer;
  CHECK(kvc::Registry::build_in({storage.data(), storage.size() - 8}).status() == Code::BufferTooSmall);
  CHECK(kvc::Registry::build_in({static_cast<char*>(storage.data()) + 4, storage.size()}).status() ==
        Code::InvalidArgument);
  const kvc::Registry registry = kvc::Registry::build_in(buffer).value();
  CHECK(registry);
  CHECK(registry == kvc::Registry::from_raw(registry.get()));
  CHECK(registry != kvc::Registry::global());
  CHECK(registry.deinit().ok());
}

TEST_CASE("an empty registry answers, but does nothing") {
  const kvc::Registry empty;
  CHECK_FALSE(empty);
  CHECK(empty.count().status() == Code::InvalidArgument);
  CHECK(empty.install("chat", kvc::Cache()) == Code::InvalidArgument);
  CHECK(empty.get("chat").status() == Code::InvalidArgument);
}

TEST_CASE("the registry of the process") {
  CHECK(kvc::Registry::global());
  CHECK(kvc::Registry::global() == kvc::Registry::global());
  CHECK(kvc::Registry::global().deinit() == Code::Unsupported);
}

TEST_CASE("unique keys") {
  const kvc::Key one = kvc::unique_key().value();
  const kvc::Key two = kvc::unique_key().value();
  CHECK(std::strncmp(one.c_str(), "cache-", 6) == 0);
  CHECK(std::strcmp(one.c_str(), two.c_str()) != 0);
}

struct Seen {
  int events[8] = {};
  kvc_status_t last = KVC_OK;
  char key[KVC_KEY_BYTES] = {};
};

void see(void* context, std::uint32_t event, kvc_status_t status, const char* key) {
  auto* seen = static_cast<Seen*>(context);
  REQUIRE(event < 8);
  ++seen->events[event];
  seen->last = status;
  if (key != nullptr) std::strcpy(seen->key, key);
}

TEST_CASE("events") {
  Seen seen;
  LocalRegistry registry;
  kvc::SequenceStorage<1> storage;
  kvc::set_event_hook(see, &seen);
  {
    const kvc::Cache cache = kvc::FlatCache<1>::build_in(storage, 8).value();
    REQUIRE(registry->install("chat", cache).ok());
    CHECK(std::strcmp(seen.key, "chat") == 0);
    CHECK(registry->get("nobody").status() == Code::NotFound);
    CHECK(seen.last == KVC_ERR_NOT_FOUND);
    CHECK(registry->erase("chat").ok());
  }
  kvc::set_event_hook(nullptr);
  CHECK(registry->get("nobody").status() == Code::NotFound);
  CHECK(seen.events[static_cast<int>(kvc::Event::Installed)] == 1);
  CHECK(seen.events[static_cast<int>(kvc::Event::Erased)] == 1);
  CHECK(seen.events[static_cast<int>(kvc::Event::Refused)] == 1);
  CHECK(seen.events[static_cast<int>(kvc::Event::Ended)] == 1);
  CHECK(seen.events[static_cast<int>(kvc::Event::Leaked)] == 0);
}

}  // namespace
