// Uses all of the header without a hosted library; only compiled.
#include "kvcore.hpp"

#if __STDC_HOSTED__
#error "compile this with -ffreestanding"
#endif

namespace {

struct Pool {
  static constexpr const char* kFaceName = "pool";
};
void drop(Pool&) {}

struct Own : kvc::ExternalSequence {
  kvc::Result<std::uint32_t> length() noexcept { return 3u; }
};

constexpr kvc::Builder kBuilder{
    "mine", "kind", [](const kvc::Config& config) noexcept { return kvc::sequence_size(config); },
    [](const kvc::Config& config, kvc::Storage at) noexcept { return kvc::sequence_in(at, config); }};

kvc::SequenceStorage<2> storage;
kvc::ExternalStorage external_storage;
kvc::Buffer<8192> registry_storage;
Pool pool;
Own own;

bool faces(const kvc::Cache& cache) {
  return cache.set_face<Pool>(pool).ok() && cache.face<Pool>().ok() && cache.drop_face<Pool>().ok() &&
         cache.set_face<Pool, drop>(pool).ok();
}

bool step(kvc::SequenceControl control, kvc::SequencePlanner planner) {
  kvc::SeqPlan plans[2];
  const auto planned = planner.plan_step(control.length().value_or(0), 1, plans);
  if (!planned.ok()) return false;
  std::uint8_t mask[64];
  std::uint32_t words[8];
  for (const kvc::SeqPlan& plan : planned.value()) {
    if (plan.writes().empty() || plan.reads().empty() || plan.mask_kind() != kvc::Mask::None) return false;
    if (!plan.positions(words).ok() || !plan.mask_bytes(mask, 64).ok() || !plan.mask_bits(words, 1).ok()) return false;
  }
  return planner.commit(plans[0]).ok() && control.rewind(0).ok() && control.can_extend(2).value_or(false) &&
         control.rewind_floor().ok() && control.capacity().ok() && control.clear().ok();
}

bool registries(const kvc::Cache& cache) {
  const kvc::Registry registry = kvc::Registry::build_in(registry_storage).value();
  kvc::Session session = kvc::Session::open(registry, cache).value();
  kvc::Session moved = static_cast<kvc::Session&&>(session);
  return registry.register_builder<kBuilder>().ok() && registry.register_sequence().ok() && moved.close().ok() &&
         registry.get("key").status() == kvc::Code::NotFound && registry.deinit().ok();
}

}  // namespace

bool use_all();
bool use_all() {
  const kvc::Layer layers[] = {kvc::Layer::ring(4, 1), kvc::Layer::flat()};
  const kvc::Config config = kvc::Config::of(64, layers);
  kvc::SequenceCache<2> cache;
  kvc::FlatCache<2> flat;
  kvc::RingCache<2> ring;
  if (!cache.init(config).ok() || !flat.init(8).ok() || !ring.init(8).ok()) return false;
  const kvc::Cache shared = kvc::SequenceCache<2>::build_in(storage, config).value();
  const kvc::Cache copy = shared;
  const kvc::Cache external = kvc::external_in(external_storage, own).value();
  return faces(copy) && registries(copy) && step(shared.sequence_control(), shared.sequence_planner()) &&
         external.sequence_control().length().ok() && kvc::unique_key().ok();
}
