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

struct OwnCells : kvc::ExternalCells {
  kvc::Result<std::uint32_t> seq_new() noexcept { return 3u; }
};
struct OwnRows : kvc::ExternalRows {};

constexpr kvc::Builder kBuilder{
    "mine", "kind", [](const kvc::Config& config) noexcept { return kvc::sequence_size(config); },
    [](const kvc::Config& config, kvc::Storage at) noexcept { return kvc::sequence_in(at, config); }};

kvc::SequenceStorage<2> storage;
kvc::ExternalStorage external_storage;
kvc::ExternalStorage external_cells_storage;
kvc::ExternalStorage external_rows_storage;
kvc::Buffer<2048> cells_storage;
kvc::Buffer<2048> rows_storage;
kvc::Buffer<8192> registry_storage;
Pool pool;
Own own;
OwnCells own_cells;
OwnRows own_rows;

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

bool sequences(kvc::BatchControl control, const std::uint32_t* seq_ids) {
  return control.can_admit(0).ok() && control.declare_step({seq_ids, 1}).ok() && control.seq_new().ok() &&
         control.seq_clone(0).ok() && control.seq_remove(0, 0, 1).ok() && control.seq_shift(0, 0, 1, 1).ok() &&
         control.seq_release(1).ok() && control.seq_keep(0).ok() && control.rewind(0, 0).ok() &&
         control.seq_len(0).ok() && control.next_pos(0).ok() && control.first_pos(0).ok() && control.free_rows().ok() &&
         control.capacity().ok() && control.clear().ok();
}

bool cells(kvc::CellPlanner planner, const std::uint32_t* positions) {
  std::uint32_t rows[8];
  std::uint8_t mask[64];
  kvc::Shift shifts[2];
  kvc::Move moves[2];
  const auto step = planner.place_step(0, {positions, 1}, rows);
  return step.ok() && step.value().mask_kind() == kvc::Mask::None && !step.value().is_scattered() &&
         planner.mask_bytes(0, mask, 64).ok() && planner.mask_bits(0, rows, 1).ok() && planner.n_shifts(0).ok() &&
         planner.shifts(0, shifts).ok() && planner.shifts_done().ok() && planner.defrag(0, moves).ok();
}

bool rows(kvc::RowsPlanner planner, const std::uint32_t* positions) {
  kvc::SeqSpan parts[2];
  kvc::Run runs[3];
  return planner.n_spans(0, {positions, 1}).ok() && planner.place_step(0, {positions, 1}, parts).ok() &&
         parts[0].seq_plan().n_tokens == 1 && planner.held(0, 0, runs).ok();
}

bool batches(const kvc::Config& config) {
  const std::uint32_t zero = 0;
  kvc::CellCache<2048> in_object;
  kvc::RowsCache<2048> other;
  if (!in_object.init(config).ok() || !other.init(config).ok()) return false;
  const kvc::Cache cell_cache = kvc::CellCache<2048>::build_in(cells_storage, config).value();
  const kvc::Cache row_cache = kvc::RowsCache<2048>::build_in(rows_storage, config).value();
  const kvc::Cache external = kvc::external_in(external_cells_storage, own_cells).value();
  const kvc::Cache external_rows = kvc::external_in(external_rows_storage, own_rows).value();
  return kvc::cells_size(config).ok() && kvc::rows_size(config).ok() && sequences(external.batch_control(), &zero) &&
         sequences(external_rows.batch_control(), &zero) && cells(cell_cache.cell_planner(), &zero) &&
         rows(row_cache.rows_planner(), &zero);
}

bool trees() {
  const std::int32_t parents[] = {-1, 0};
  std::uint32_t positions[2];
  std::uint16_t pre[2], end[2];
  kvc::Move moves[2];
  return kvc::tree_positions(parents, 0, positions).ok() && kvc::tree_intervals(parents, pre, end).ok() &&
         kvc::tree_moves(positions, parents, 1, moves).ok();
}

bool registries(const kvc::Cache& cache) {
  const kvc::Registry registry = kvc::Registry::build_in(registry_storage).value();
  kvc::Session session = kvc::Session::open(registry, cache).value();
  kvc::Session moved = static_cast<kvc::Session&&>(session);
  return registry.register_builder<kBuilder>().ok() && registry.register_sequence().ok() &&
         registry.register_cells().ok() && registry.register_rows().ok() && moved.close().ok() &&
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
         external.sequence_control().length().ok() && kvc::unique_key().ok() &&
         batches(config.with_max_seqs(2)) && trees();
}
