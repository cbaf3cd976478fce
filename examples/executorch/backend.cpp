#include "backend.hpp"

#include "attention.hpp"

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <algorithm>
#include <new>
#include <vector>

namespace {

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
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

Error to_error(kvc_status_t status) {
  switch (status) {
    case KVC_OK: return Error::Ok;
    case KVC_ERR_NOT_FOUND: return Error::NotFound;
    case KVC_ERR_WRONG_KIND: return Error::InvalidType;
    case KVC_ERR_OUT_OF_CAPACITY:
    case KVC_ERR_NEVER_FITS:
    case KVC_ERR_TABLE_FULL: return Error::OutOfResources;
    case KVC_ERR_INVALID_ARGUMENT:
    case KVC_ERR_INVALID_CONFIG:
    case KVC_ERR_BAD_LAYER:
    case KVC_ERR_BAD_POSITION:
    case KVC_ERR_STEP_TOO_LARGE:
    case KVC_ERR_NAME_TOO_LONG: return Error::InvalidArgument;
    case KVC_ERR_BUSY: return Error::AccessFailed;
    case KVC_ERR_STALE:
    case KVC_ERR_STALE_PLAN: return Error::InvalidState;
    default: return Error::Internal;
  }
}

// A loaded method: its reference to the cache, and the bytes.
struct Handle {
  kvc_cache_t* cache = nullptr;
  std::size_t n_layers = 0;
  Heads heads{};
  std::vector<Pool> pools;  // one for each layer

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
Error check_cache(const Handle& handle) {
  std::uint32_t kind = 0;
  const kvc_status_t status = kvc_cache_kind(handle.cache, &kind);
  if (status != KVC_OK) return to_error(status);
  if (kind != KVC_KIND_SEQUENCE) return Error::InvalidType;
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

// The arguments of a call.
struct Step {
  const Tensor* q;
  const Tensor* k;
  const Tensor* v;
  const Tensor* positions;
  Tensor* out;
  std::uint32_t n_tokens;
};

bool has_sizes(const Tensor& tensor, std::size_t layers, std::size_t heads, std::size_t tokens, std::size_t dim) {
  return tensor.scalar_type() == ScalarType::Float && tensor.dim() == 4 &&
         static_cast<std::size_t>(tensor.size(0)) == layers && static_cast<std::size_t>(tensor.size(1)) == heads &&
         static_cast<std::size_t>(tensor.size(2)) == tokens && static_cast<std::size_t>(tensor.size(3)) == dim;
}

// The runtime compares rank, type and number of elements with the program, nothing else.
Error read_step(const Handle& handle, Span<EValue*> args, Step& step) {
  if (args.size() != 5) return Error::InvalidProgram;
  for (EValue* arg : args) {
    if (!arg->isTensor()) return Error::InvalidType;
  }
  step = {&args[0]->toTensor(), &args[1]->toTensor(), &args[2]->toTensor(), &args[3]->toTensor(),
          &args[4]->toTensor(), 0};
  if (step.positions->scalar_type() != ScalarType::Long || step.positions->dim() != 1) return Error::InvalidArgument;
  const auto n = static_cast<std::size_t>(step.positions->size(0));
  const Heads& heads = handle.heads;
  if (n == 0 || !has_sizes(*step.q, handle.n_layers, heads.n_heads, n, heads.head_dim) ||
      !has_sizes(*step.k, handle.n_layers, heads.n_kv_heads, n, heads.head_dim) ||
      !has_sizes(*step.v, handle.n_layers, heads.n_kv_heads, n, heads.head_dim)) {
    return Error::InvalidArgument;
  }
  const std::int64_t* const position = step.positions->const_data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < n; ++i) {
    const bool follows = i == 0 || position[i] == position[i - 1] + 1;
    if (!follows || position[i] < 0 || position[i] >= UINT32_MAX) return Error::InvalidArgument;
  }
  step.n_tokens = static_cast<std::uint32_t>(n);
  return Error::Ok;
}

// Room for the rows that a plan touches.
void grow(Pool& pool, const kvc_seq_plan_t& plan, const Heads& heads) {
  if (plan.rows_needed <= pool.rows) return;
  pool.rows = kvc_grow_rows(pool.rows, plan.rows_needed, UINT32_MAX);
  const std::size_t elements = pool.rows * heads.n_kv_heads * heads.head_dim;
  pool.keys.resize(elements);
  pool.values.resize(elements);
}

// One layer of a step: grow, write, attend.
Error run_layer(BackendExecutionContext& context, Handle& handle, const Step& step, std::size_t layer,
                const kvc_seq_plan_t& plan) {
  const Heads& heads = handle.heads;
  Pool& pool = handle.pools[layer];
  grow(pool, plan, heads);
  const std::size_t query_stride = heads.n_heads * step.n_tokens * heads.head_dim;
  const std::size_t key_stride = heads.n_kv_heads * step.n_tokens * heads.head_dim;
  write_rows(pool, plan, heads, step.k->const_data_ptr<float>() + layer * key_stride,
             step.v->const_data_ptr<float>() + layer * key_stride);
  const std::size_t mask_size = std::size_t{step.n_tokens} * plan.read_len;
  auto* const mask = static_cast<std::uint8_t*>(context.allocate(mask_size));
  auto* const scores = static_cast<float*>(context.allocate(plan.read_len * sizeof(float), alignof(float)));
  if (mask == nullptr || scores == nullptr) return Error::MemoryAllocationFailed;
  const kvc_status_t status =
      kvc_plan_mask_bytes(&plan, nullptr, KVC_COLUMNS_READ, mask, mask_size, plan.read_len);
  if (status != KVC_OK) return to_error(status);
  attend(pool, plan, heads, step.q->const_data_ptr<float>() + layer * query_stride, mask, scores,
         step.out->mutable_data_ptr<float>() + layer * query_stride);
  return Error::Ok;
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
    if (error != Error::Ok) return error;
    auto* const handle = new (std::nothrow) Handle;
    if (handle == nullptr) return Error::MemoryAllocationFailed;
    handle->cache = made.cache;
    made.cache = nullptr;
    handle->n_layers = made.n_layers;
    handle->heads = made.heads;
    handle->pools.resize(made.n_layers);
    return handle;
  }

  Error execute(BackendExecutionContext& context, DelegateHandle* delegate, Span<EValue*> args) const override {
    Handle& handle = *static_cast<Handle*>(delegate);
    Step step;
    Error error = read_step(handle, args, step);
    if (error != Error::Ok) return error;
    error = executorch::runtime::resize_tensor(*step.out, step.q->sizes());
    if (error != Error::Ok) return error;
    const auto position = static_cast<std::uint32_t>(*step.positions->const_data_ptr<std::int64_t>());
    kvc_seq_plan_t plan;
    for (std::uint32_t layer = 0; layer < handle.n_layers; ++layer) {
      error = to_error(kvc_seq_plan(handle.cache, layer, position, step.n_tokens, &plan));
      if (error == Error::Ok) error = run_layer(context, handle, step, layer, plan);
      // Not committed: the same position can be tried again.
      if (error != Error::Ok) return error;
    }
    return to_error(kvc_seq_commit(handle.cache, &plan, step.n_tokens));
  }

  void destroy(DelegateHandle* delegate) const override { delete static_cast<Handle*>(delegate); }
};

// The cache that suits this backend is kvcore's own.
kvc_status_t sequence_size(void*, const kvc_config_t* config, std::size_t* out) {
  return kvc_sequence_size(config, out);
}
kvc_status_t build_sequence(void*, const kvc_config_t* config, void* storage, std::size_t size, kvc_cache_t** out) {
  return kvc_sequence_init(storage, size, config, out);
}

}  // namespace

Error register_kvcore_backend() {
  static KvcoreReferenceBackend backend;
  const Error error = executorch::runtime::register_backend(Backend{kBackendId, &backend});
  if (error != Error::Ok) return error;
  return to_error(kvc_builder_register(kvc_registry_global(), kBackendId, kSequenceKind, sequence_size,
                                       build_sequence, nullptr));
}
