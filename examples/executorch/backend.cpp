#include "backend.hpp"

#include "batch_backend.hpp"
#include "errors.hpp"

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <cstring>
#include <new>
#include <vector>

namespace {

using executorch::runtime::ArrayRef;
using executorch::runtime::Backend;
using executorch::runtime::BackendExecutionContext;
using executorch::runtime::BackendInitContext;
using executorch::runtime::BackendInterface;
using executorch::runtime::CompileSpec;
using executorch::runtime::DelegateHandle;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::Result;
using executorch::runtime::Span;

// A loaded method: its reference to the cache, and the bytes.
struct Handle {
  kvc_cache_t* cache = nullptr;
  std::uint32_t kind = 0;
  std::size_t n_layers = 0;
  Heads heads{};
  std::vector<Pool> pools;     // of one sequence: one for each layer
  Pools* batched = nullptr;    // of many sequences: the cache's

  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (cache != nullptr) kvc_cache_release(cache);
  }
};

// The shape that the program was compiled for: layers, heads, KV heads and head size, of two bytes each.
Error read_shape(ArrayRef<CompileSpec> specs, Handle& handle) {
  for (const CompileSpec& spec : specs) {
    if (std::strcmp(spec.key, "shape") != 0) continue;
    if (spec.value.nbytes != 8) return Error::InvalidProgram;
    const auto* const bytes = static_cast<const std::uint8_t*>(spec.value.buffer);
    const auto number = [bytes](int index) -> std::size_t {
      return bytes[2 * index] + std::size_t{256} * bytes[2 * index + 1];
    };
    handle.n_layers = number(0);
    handle.heads = {number(1), number(2), number(3)};
    const bool sound = handle.n_layers > 0 && handle.heads.n_kv_heads > 0 && handle.heads.head_dim > 0 &&
                       handle.heads.n_heads % handle.heads.n_kv_heads == 0;
    return sound ? Error::Ok : Error::InvalidProgram;
  }
  return Error::InvalidProgram;
}

// Whether the cache serves this program. An external cache does not tell its layers; then plans will.
Error check_cache(Handle& handle) {
  const kvc_status_t status = kvc_cache_kind(handle.cache, &handle.kind);
  if (status != KVC_OK) return to_error(status);
  if (handle.kind != KVC_KIND_SEQUENCE && handle.kind != KVC_KIND_CELLS && handle.kind != KVC_KIND_ROWS) {
    return Error::InvalidType;
  }
  for (std::uint32_t layer = 0; layer < handle.n_layers; ++layer) {
    kvc_layer_info_t info;
    const kvc_status_t known = kvc_cache_layer(handle.cache, layer, &info);
    if (known == KVC_ERR_WRONG_KIND) return Error::Ok;
    if (known != KVC_OK) return to_error(known);
    if (info.layer.n_kv_heads != handle.heads.n_kv_heads || info.layer.head_dim != handle.heads.head_dim) {
      return Error::InvalidArgument;
    }
  }
  return Error::Ok;
}

// Where the bytes go.
Error find_pools(Handle& handle) {
  if (handle.kind != KVC_KIND_SEQUENCE) return Pools::of(handle.cache, handle.n_layers, handle.heads, handle.batched);
  handle.pools.resize(handle.n_layers);
  return Error::Ok;
}

// One layer of a step of one sequence: grow, write, attend.
Error run_layer(BackendExecutionContext& context, Handle& handle, const Step& step, std::size_t layer,
                const kvc_seq_plan_t& plan) {
  const Heads& heads = handle.heads;
  const LayerStep part = layer_of(step, heads, layer);
  const Tokens all = {0, step.n_tokens, step.n_tokens};
  Pool& pool = handle.pools[layer];
  pool.grow(plan.rows_needed, heads);
  write_rows(pool, rows_of(plan.write, plan.n_write), heads, all, part.k, part.v);
  Scratch scratch;
  const Error error = allocate(context, step.n_tokens, plan.read_len, scratch);
  if (error != Error::Ok) return error;
  const kvc_status_t status =
      kvc_plan_mask_bytes(&plan, nullptr, KVC_COLUMNS_READ, scratch.mask, scratch.mask_size, plan.read_len);
  if (status != KVC_OK) return to_error(status);
  attend(pool, rows_of(plan.read, plan.n_read), heads, all, part.q, scratch.mask, scratch.scores, part.out);
  return Error::Ok;
}

// A step of one sequence.
Error run_sequence(BackendExecutionContext& context, Handle& handle, const Step& step) {
  const std::uint32_t position = step.position_of.front();
  for (std::uint32_t i = 0; i < step.n_tokens; ++i) {
    if (step.position_of[i] - position != i) return Error::InvalidArgument;
  }
  kvc_seq_plan_t plan;
  for (std::uint32_t layer = 0; layer < handle.n_layers; ++layer) {
    Error error = to_error(kvc_seq_plan(handle.cache, layer, position, step.n_tokens, &plan));
    if (error == Error::Ok) error = run_layer(context, handle, step, layer, plan);
    // Not committed: the same position can be tried again.
    if (error != Error::Ok) return error;
  }
  return to_error(kvc_seq_commit(handle.cache, &plan, step.n_tokens));
}

class KvcoreReferenceBackend final : public BackendInterface {
 public:
  bool is_available() const override { return kvc_check_header(); }

  Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                               ArrayRef<CompileSpec> specs) const override {
    processed->Free();
    Handle made;
    Error error = read_shape(specs, made);
    if (error != Error::Ok) return error;
    const Result<const char*> key = context.get_runtime_spec<const char*>(kCacheKey);
    if (!key.ok()) return key.error();
    error = to_error(kvc_registry_get(kvc_registry_global(), *key, &made.cache));
    if (error == Error::Ok) error = check_cache(made);
    if (error == Error::Ok) error = find_pools(made);
    if (error != Error::Ok) return error;
    auto* const handle = new (std::nothrow) Handle;
    if (handle == nullptr) return Error::MemoryAllocationFailed;
    std::swap(handle->cache, made.cache);
    handle->kind = made.kind;
    handle->n_layers = made.n_layers;
    handle->heads = made.heads;
    handle->pools = std::move(made.pools);
    handle->batched = made.batched;
    return handle;
  }

  Error execute(BackendExecutionContext& context, DelegateHandle* delegate, Span<EValue*> args) const override {
    Handle& handle = *static_cast<Handle*>(delegate);
    Step step;
    Error error = read_step(handle.n_layers, handle.heads, args, step);
    if (error != Error::Ok) return error;
    error = executorch::runtime::resize_tensor(*step.out, step.q->sizes());
    if (error != Error::Ok) return error;
    switch (handle.kind) {
      case KVC_KIND_CELLS: return run_cells(context, handle.cache, *handle.batched, handle.n_layers, step);
      case KVC_KIND_ROWS: return run_rows(context, handle.cache, *handle.batched, handle.n_layers, step);
      default: return run_sequence(context, handle, step);
    }
  }

  void destroy(DelegateHandle* delegate) const override { delete static_cast<Handle*>(delegate); }
};

// The caches that suit this backend are kvcore's own.
using Size = kvc_status_t (*)(const kvc_config_t*, std::size_t*);
using Init = kvc_status_t (*)(void*, std::size_t, const kvc_config_t*, kvc_cache_t**);

template <Size size>
kvc_status_t size_of(void*, const kvc_config_t* config, std::size_t* out) {
  return size(config, out);
}
template <Init init>
kvc_status_t build(void*, const kvc_config_t* config, void* storage, std::size_t size, kvc_cache_t** out) {
  return init(storage, size, config, out);
}

template <Size size, Init init>
kvc_status_t register_kind(const char* kind) {
  return kvc_builder_register(kvc_registry_global(), kBackendId, kind, size_of<size>, build<init>, nullptr);
}

// Lets the bytes of a cache, if there are any yet, do something.
template <class Use>
Error with_pools(kvc_cache_t* cache, Use use) {
  void* pools = nullptr;
  const kvc_status_t found = kvc_cache_face(cache, Pools::kFaceName, &pools);
  if (found == KVC_ERR_NOT_FOUND) return Error::Ok;
  return to_error(found == KVC_OK ? use(*static_cast<Pools*>(pools)) : found);
}

}  // namespace

Error register_kvcore_backend() {
  static KvcoreReferenceBackend backend;
  const Error error = executorch::runtime::register_backend(Backend{kBackendId, &backend});
  if (error != Error::Ok) return error;
  kvc_status_t status = register_kind<kvc_sequence_size, kvc_sequence_init>(kSequenceKind);
  if (status == KVC_OK) status = register_kind<kvc_cells_size, kvc_cells_init>(kCellsKind);
  if (status == KVC_OK) status = register_kind<kvc_rows_size, kvc_rows_init>(kRowsKind);
  return to_error(status);
}

Error copy_clone(kvc_cache_t* cache, std::uint32_t src, std::uint32_t dst) {
  return with_pools(cache, [=](Pools& pools) { return pools.clone(cache, src, dst); });
}

Error compact_cells(kvc_cache_t* cache) {
  return with_pools(cache, [=](Pools& pools) { return pools.compact(cache); });
}
