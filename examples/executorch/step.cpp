#include "step.hpp"

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Span;

namespace {

bool has_sizes(const Tensor& tensor, std::size_t layers, std::size_t heads, std::size_t tokens, std::size_t dim) {
  return tensor.scalar_type() == ScalarType::Float && tensor.dim() == 4 &&
         static_cast<std::size_t>(tensor.size(0)) == layers && static_cast<std::size_t>(tensor.size(1)) == heads &&
         static_cast<std::size_t>(tensor.size(2)) == tokens && static_cast<std::size_t>(tensor.size(3)) == dim;
}

}  // namespace

Error read_step(std::size_t n_layers, const Heads& heads, Span<EValue*> args, Step& step) {
  if (args.size() != 5) return Error::InvalidProgram;
  for (EValue* arg : args) {
    if (!arg->isTensor()) return Error::InvalidType;
  }
  step = {&args[0]->toTensor(), &args[1]->toTensor(), &args[2]->toTensor(), &args[3]->toTensor(),
          &args[4]->toTensor(), 0, {}};
  if (step.positions->scalar_type() != ScalarType::Long || step.positions->dim() != 1) return Error::InvalidArgument;
  const auto n = static_cast<std::size_t>(step.positions->size(0));
  if (n == 0 || !has_sizes(*step.q, n_layers, heads.n_heads, n, heads.head_dim) ||
      !has_sizes(*step.k, n_layers, heads.n_kv_heads, n, heads.head_dim) ||
      !has_sizes(*step.v, n_layers, heads.n_kv_heads, n, heads.head_dim)) {
    return Error::InvalidArgument;
  }
  const std::int64_t* const positions = step.positions->const_data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < n; ++i) {
    if (positions[i] < 0 || positions[i] >= UINT32_MAX) return Error::InvalidArgument;
    step.position_of.push_back(static_cast<std::uint32_t>(positions[i]));
  }
  step.n_tokens = static_cast<std::uint32_t>(n);
  return Error::Ok;
}

LayerStep layer_of(const Step& step, const Heads& heads, std::size_t layer) {
  const std::size_t queries = layer * heads.n_heads * step.n_tokens * heads.head_dim;
  const std::size_t keys = layer * heads.n_kv_heads * step.n_tokens * heads.head_dim;
  return {step.q->const_data_ptr<float>() + queries, step.k->const_data_ptr<float>() + keys,
          step.v->const_data_ptr<float>() + keys, step.out->mutable_data_ptr<float>() + queries};
}

Error allocate(executorch::runtime::BackendExecutionContext& context, std::size_t n_queries, std::size_t n_rows,
               Scratch& out) {
  out.mask_size = n_queries * n_rows;
  out.mask = static_cast<std::uint8_t*>(context.allocate(out.mask_size));
  out.scores = static_cast<float*>(context.allocate(n_rows * sizeof(float), alignof(float)));
  return out.mask != nullptr && out.scores != nullptr ? Error::Ok : Error::MemoryAllocationFailed;
}
