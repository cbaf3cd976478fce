// Ownership: references, copies, moves, storage.
#include "test.hpp"

#include <type_traits>
#include <utility>

namespace {

using namespace test;

static_assert(sizeof(kvc::Cache) == sizeof(void*));
static_assert(std::is_nothrow_copy_constructible_v<kvc::Cache> && std::is_nothrow_move_constructible_v<kvc::Cache>);
static_assert(std::is_nothrow_copy_assignable_v<kvc::Cache> && std::is_nothrow_move_assignable_v<kvc::Cache>);
static_assert(!std::is_copy_constructible_v<kvc::SequenceCache<2>> && !std::is_move_constructible_v<kvc::FlatCache<2>>);
static_assert(!std::is_copy_assignable_v<kvc::RingCache<2>> && !std::is_move_assignable_v<kvc::RingCache<2>>);
static_assert(!std::is_convertible_v<kvc::SequenceCache<2>&, const kvc::Cache&>);
static_assert(!std::is_copy_constructible_v<kvc::Buffer<8>>);
static_assert(!std::is_copy_constructible_v<kvc::AnyCache> && !std::is_default_constructible_v<kvc::AnyCache>);

struct Fixture {
  int ended = 0;
  kvc::SequenceStorage<2> storage;
  kvc::Cache cache = kvc::FlatCache<2>::build_in(storage, 64).value();
  Fixture() { REQUIRE(cache.on_release(count_end, &ended).ok()); }
};

TEST_CASE_FIXTURE(Fixture, "the last reference ends the cache, once") {
  {
    const kvc::Cache copy = cache;
    CHECK(copy == cache);
    cache.reset();
    CHECK_FALSE(cache);
    CHECK(copy != cache);
    CHECK(ended == 0);
    CHECK(copy.capacity().value() == 64);
  }
  CHECK(ended == 1);
  cache.reset();
  CHECK(ended == 1);
}

TEST_CASE_FIXTURE(Fixture, "moving moves the reference") {
  kvc::Cache moved = std::move(cache);
  CHECK(moved);
  CHECK_FALSE(cache);  // NOLINT: a moved-from cache is empty
  cache = std::move(moved);
  CHECK(cache);
  CHECK(ended == 0);
  cache = kvc::Cache();
  CHECK(ended == 1);
}

TEST_CASE_FIXTURE(Fixture, "assignment lets go of what was there") {
  int other_ended = 0;
  kvc::SequenceStorage<2> other_storage;
  kvc::Cache other = kvc::FlatCache<2>::build_in(other_storage, 8).value();
  REQUIRE(other.on_release(count_end, &other_ended).ok());
  other = cache;
  CHECK(other_ended == 1);
  CHECK(other == cache);
  cache.reset();
  CHECK(ended == 0);
  other.reset();
  CHECK(ended == 1);
}

TEST_CASE_FIXTURE(Fixture, "assignment to oneself changes nothing") {
  kvc::Cache& same = cache;
  cache = same;
  CHECK(cache);
  cache = std::move(same);
  CHECK(cache);
  CHECK(ended == 0);
  cache.reset();
  CHECK(ended == 1);
}

TEST_CASE_FIXTURE(Fixture, "references go to C and come back") {
  kvc_cache_t* raw = cache.detach();
  CHECK_FALSE(cache);
  kvc::Cache second = kvc::Cache::share(raw).value();
  cache = kvc::Cache::adopt(raw);
  CHECK(cache.get() == second.get());
  CHECK(cache.retain().value() == cache);
  second.reset();
  CHECK(ended == 0);
  cache.reset();
  CHECK(ended == 1);
}

TEST_CASE_FIXTURE(Fixture, "an ended cache has no references to give") {
  kvc_cache_t* raw = cache.get();
  cache.reset();
  CHECK(kvc::Cache::share(raw).status() == Code::Stale);
  CHECK(kvc::Cache::share(nullptr).status() == Code::InvalidArgument);
}

TEST_CASE_FIXTURE(Fixture, "one release callback") {
  CHECK(cache.on_release(count_end, &ended) == Code::AlreadyExists);
}

struct Owner {
  int ended = 0;
  kvc::SequenceStorage<1> storage;
  kvc::Cache cache = kvc::FlatCache<1>::build_in(storage, 8).value();
};

TEST_CASE("what runs at the end may use the object that let go") {
  Owner owner;
  const auto at_the_end = [](void* context, void*) {
    auto* self = static_cast<Owner*>(context);
    ++self->ended;
    self->cache.reset();
    self->cache = kvc::FlatCache<1>::build_in(self->storage, 16).value();
  };
  REQUIRE(owner.cache.on_release(at_the_end, &owner).ok());
  owner.cache.reset();
  CHECK(owner.ended == 1);
  CHECK(owner.cache.capacity().value() == 16);
}

TEST_CASE("what runs at the end may destroy the object that let go") {
  auto* owner = new Owner;
  const auto at_the_end = [](void* context, void*) { delete static_cast<Owner*>(context); };
  REQUIRE(owner->cache.on_release(at_the_end, owner).ok());
  owner->cache.reset();
}

TEST_CASE_FIXTURE(Fixture, "storage can be used again when the cache ended") {
  cache.reset();
  REQUIRE(ended == 1);
  cache = kvc::RingCache<2>::build_in(storage, 4).value();
  CHECK(cache.capacity().value() == kvc::kUnbounded);
}

TEST_CASE("an empty cache answers, but does nothing") {
  const kvc::Cache empty;
  const kvc::Cache copy = empty;  // NOLINT: that a copy of nothing is nothing
  CHECK_FALSE(copy);
  CHECK(copy == empty);
  CHECK(empty.retain().status() == Code::InvalidArgument);
  CHECK(empty.kind().status() == Code::InvalidArgument);
  CHECK(empty.capacity().status() == Code::InvalidArgument);
  CHECK(empty.clear() == Code::InvalidArgument);
  CHECK(empty.config().status() == Code::InvalidArgument);
  CHECK(empty.layer(0).status() == Code::InvalidArgument);
  CHECK_FALSE(empty.sequence_control());
  CHECK_FALSE(empty.sequence_planner());
  CHECK(kvc::SequenceControl().length().status() == Code::InvalidArgument);
  CHECK(kvc::SequenceControl().rewind(0) == Code::InvalidArgument);
  CHECK(kvc::SequencePlanner().plan(0, 0, 1).status() == Code::InvalidArgument);
  CHECK(kvc::SequencePlanner().commit(kvc::layout_plan(Layer::flat(), 0, 0, 0, 1).value()) == Code::InvalidArgument);
}

struct Pool {
  static constexpr const char* kFaceName = "test.pool";
  int drops = 0;
};
void drop_pool(Pool& pool) { ++pool.drops; }

TEST_CASE("in-object storage: built, ended with the object, built again") {
  Pool pool;
  {
    kvc::SequenceCache<3> cache;
    CHECK_FALSE(cache);
    CHECK(cache.clear() == Code::InvalidArgument);
    REQUIRE(cache.init(Config::uniform(64, 3, Layer::ring(8))).ok());
    CHECK(cache);
    CHECK(cache.init(Config::uniform(64, 3, Layer::flat())) == Code::AlreadyExists);
    CHECK(cache.layer(0).value().layer.window == 8);
    cache.reset();
    CHECK_FALSE(cache);
    cache.reset();
    REQUIRE(cache.init(Config::uniform(64, 2, Layer::flat())).ok());
    REQUIRE(cache.set_face<Pool, drop_pool>(pool).ok());
  }
  CHECK(pool.drops == 1);
}

TEST_CASE("what in-object storage refuses leaves the object empty") {
  kvc::SequenceCache<2> cache;
  CHECK(cache.init(Config::uniform(64, 30, Layer::flat())) == Code::BufferTooSmall);
  CHECK(cache.init(Config::uniform(0, 2, Layer::flat())) == Code::InvalidConfig);
  CHECK_FALSE(cache);
  CHECK(cache.init(Config::uniform(64, 2, Layer::flat())).ok());
}

TEST_CASE("the uniform caches") {
  kvc::FlatCache<4> flat;
  REQUIRE(flat.init(100).ok());
  CHECK(flat.config().value().n_layers == 4);
  CHECK(flat.layer(3).value().rows == 100);
  CHECK(flat.layer(4).status() == Code::BadLayer);
  kvc::FlatCache<4> smaller;
  REQUIRE(smaller.init(100, 2).ok());
  CHECK(smaller.layer(2).status() == Code::BadLayer);

  kvc::RingCache<4> ring;
  REQUIRE(ring.init(16).ok());
  CHECK(ring.config().value().max_write == 16);
  CHECK(ring.layer(0).value().rows == 16 + 16 - 1);
  kvc::RingCache<4> narrow;
  REQUIRE(narrow.init(16, 4, 1).ok());
  CHECK(narrow.config().value().max_write == 4);
  CHECK(narrow.layer(0).value().rows == 16 + 4 - 1);

  kvc::SequenceStorage<4> storage;
  const kvc::Cache shared = kvc::RingCache<4>::build_in(storage, 16, 4, 1).value();
  CHECK(shared.layer(0).value().rows == 16 + 4 - 1);
  kvc::SequenceStorage<4> flat_storage;
  CHECK(kvc::FlatCache<4>::build_in(flat_storage, 100, 30).status() == Code::BufferTooSmall);
  CHECK(kvc::FlatCache<4>::build_in(flat_storage, 100, 3).value().config().value().n_layers == 3);
}

TEST_CASE("storage has the size that the library asks for, whatever the number of layers") {
  CHECK(sizeof(kvc::SequenceStorage<1>) == kvc::sequence_size(Config::uniform(8, 1, Layer::flat())).value());
  CHECK(sizeof(kvc::SequenceStorage<34>) == kvc::sequence_size(Config::uniform(8, 34, Layer::flat())).value());
  CHECK(sizeof(kvc::SequenceStorage<255>) == kvc::sequence_size(Config::uniform(8, 255, Layer::flat())).value());
  CHECK(kvc::sequence_size(Config()).status() == Code::InvalidConfig);
}

TEST_CASE("storage of a size that is only known at run time") {
  kvc::SequenceStorage<4> buffer;
  const Config config = Config::uniform(8, 4, Layer::flat());
  CHECK(kvc::sequence_in({buffer.bytes, sizeof(buffer) - 1}, config).status() == Code::BufferTooSmall);
  CHECK(kvc::sequence_in({buffer.bytes + 1, sizeof(buffer)}, config).status() == Code::InvalidArgument);
  CHECK(kvc::sequence_in({nullptr, sizeof(buffer)}, config).status() == Code::InvalidArgument);
  CHECK(kvc::sequence_in(buffer, config).ok());
}

TEST_CASE("an object of static storage needs no code to begin") {
#if __cplusplus >= 202002L
  static constinit kvc::SequenceCache<2> cache;
  static constinit kvc::SequenceStorage<2> storage;
  static constinit kvc::Cache shared;
  static constinit kvc::Session session;
  CHECK_FALSE(session.is_open());
#else
  static kvc::SequenceCache<2> cache;
  static kvc::SequenceStorage<2> storage;
  static kvc::Cache shared;
#endif
  CHECK(cache.init(Config::uniform(8, 2, Layer::flat())).ok());
  shared = kvc::FlatCache<2>::build_in(storage, 8).value();
  CHECK(shared);
}

}  // namespace
