// Open faces.
#include "test.hpp"

#include <cstring>

namespace {

using namespace test;

struct Pool {
  static constexpr const char* kFaceName = "test.pool";
  int rows = 0;
  int drops = 0;
};
void drop_pool(Pool& pool) { ++pool.drops; }

struct Other {
  static constexpr char kFaceName[] = "test.other";
};

/// Attached as the second base, which has another address.
struct Padding {
  int before = 1;
};
struct Backend : Padding, Pool {};

TEST_CASE("attached, found from every reference, dropped") {
  Pool pool;
  Other other;
  kvc::SequenceStorage<1> storage;
  kvc::Cache cache = kvc::FlatCache<1>::build_in(storage, 8).value();
  CHECK(cache.face<Pool>().status() == Code::NotFound);
  REQUIRE(cache.set_face<Pool>(pool).ok());
  CHECK(cache.set_face<Pool>(pool) == Code::AlreadyExists);
  REQUIRE(cache.set_face<Other>(other).ok());

  const kvc::Cache reference = cache;
  CHECK(reference.face<Pool>().value() == &pool);
  CHECK(reference.face<Other>().value() == &other);
  reference.face<Pool>().value()->rows = 3;
  CHECK(pool.rows == 3);

  CHECK(cache.drop_face<Pool>().ok());
  CHECK(cache.drop_face<Pool>() == Code::NotFound);
  CHECK(cache.face<Pool>().value_or(nullptr) == nullptr);
  CHECK(cache.face<Other>().ok());
}

TEST_CASE("the drop function runs once, on removal or at the end") {
  Pool removed, ended;
  kvc::SequenceStorage<1> storage;
  {
    kvc::Cache cache = kvc::FlatCache<1>::build_in(storage, 8).value();
    REQUIRE((cache.set_face<Pool, drop_pool>(removed).ok()));
    CHECK(cache.set_face<Pool, drop_pool>(ended) == Code::AlreadyExists);
    CHECK(ended.drops == 0);
    CHECK(cache.drop_face<Pool>().ok());
    CHECK(removed.drops == 1);
    REQUIRE((cache.set_face<Pool, drop_pool>(ended).ok()));
  }
  CHECK(removed.drops == 1);
  CHECK(ended.drops == 1);
}

TEST_CASE("a derived object goes in and comes out as the base that has the name") {
  Backend backend;
  REQUIRE(static_cast<void*>(&backend) != static_cast<void*>(static_cast<Pool*>(&backend)));
  kvc::FlatCache<1> cache;
  REQUIRE(cache.init(8).ok());
  REQUIRE((cache.set_face<Pool, drop_pool>(backend).ok()));
  CHECK(cache.face<Pool>().value() == &backend);
  cache.reset();
  CHECK(backend.drops == 1);
}

TEST_CASE("names are compared by content") {
  Pool pool;
  kvc::FlatCache<1> cache;
  REQUIRE(cache.init(8).ok());
  REQUIRE(cache.set_face<Pool>(pool).ok());
  char name[16] = {};
  std::strcpy(name, Pool::kFaceName);
  kvc::SequenceStorage<1> storage;
  const kvc::Cache shared = kvc::FlatCache<1>::build_in(storage, 8).value();
  REQUIRE(shared.set_face<Pool>(pool).ok());
  void* found = nullptr;
  CHECK(kvc_cache_face(shared.get(), name, &found) == KVC_OK);
  CHECK(found == &pool);
}

template <int N>
struct Numbered {
  static constexpr char kFaceName[] = {'n', static_cast<char>('0' + N), '\0'};
};

TEST_CASE("the table of faces has an end") {
  Numbered<0> a;
  Numbered<1> b;
  Numbered<2> c;
  Numbered<3> d;
  Numbered<4> e;
  kvc::FlatCache<1> cache;
  REQUIRE(cache.init(8).ok());
  CHECK(cache.set_face<Numbered<0>>(a).ok());
  CHECK(cache.set_face<Numbered<1>>(b).ok());
  CHECK(cache.set_face<Numbered<2>>(c).ok());
  CHECK(cache.set_face<Numbered<3>>(d).ok());
  CHECK(cache.set_face<Numbered<4>>(e) == Code::TableFull);
  CHECK(cache.face<Numbered<3>>().value() == &d);
}

TEST_CASE("an empty cache has no faces") {
  Pool pool;
  const kvc::Cache empty;
  CHECK(empty.face<Pool>().status() == Code::InvalidArgument);
  CHECK(empty.set_face<Pool>(pool) == Code::InvalidArgument);
  CHECK(empty.drop_face<Pool>() == Code::InvalidArgument);
}

static_assert(kvc::detail::is_name("a") && !kvc::detail::is_name(""));
static_assert(kvc::detail::is_name("123456789012345678901234567890123456789012345678901234567890123"));
static_assert(!kvc::detail::is_name("1234567890123456789012345678901234567890123456789012345678901234"));

}  // namespace
