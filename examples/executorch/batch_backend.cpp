#include "batch_backend.hpp"

#include "errors.hpp"

#include <numeric>

using executorch::runtime::BackendExecutionContext;
using executorch::runtime::Error;

namespace {

// Write and attend over the cells that one layer was given.
Error run_cell_layer(BackendExecutionContext& context, kvc_cache_t* cache, Pools& pools, std::uint32_t layer,
                     const Step& step) {
  std::vector<std::uint32_t> cells(step.n_tokens);
  kvc_cell_step_t placed;
  kvc_status_t status =
      kvc_cells_place_step(cache, layer, step.position_of.data(), step.n_tokens, cells.data(), &placed);
  if (status != KVC_OK) return to_error(status);
  const Heads& heads = pools.heads();
  const LayerStep part = layer_of(step, heads, layer);
  const Tokens all = {0, step.n_tokens, step.n_tokens};
  Pool& pool = pools.shared(layer);
  pool.grow(placed.read_len, heads);
  write_rows(pool, cells, heads, all, part.k, part.v);
  Scratch scratch;
  const Error error = allocate(context, step.n_tokens, placed.read_len, scratch);
  if (error != Error::Ok) return error;
  status = kvc_cells_mask_bytes(cache, layer, scratch.mask, scratch.mask_size, placed.read_len);
  if (status != KVC_OK) return to_error(status);
  std::vector<std::uint32_t> read(placed.read_len);
  std::iota(read.begin(), read.end(), 0u);
  attend(pool, read, heads, all, part.q, scratch.mask, scratch.scores, part.out);
  return Error::Ok;
}

// Write and attend over one sequence's own rows: `first` is its first token in the step.
Error run_span(BackendExecutionContext& context, Pools& pools, std::uint32_t layer, const kvc_span_t& span,
               std::size_t first, const Step& step) {
  const Heads& heads = pools.heads();
  const LayerStep part = layer_of(step, heads, layer);
  const Tokens own = {first, span.n_tokens, step.n_tokens};
  Pool& pool = pools.own(span.seq, layer);
  pool.grow(span.plan.rows_needed, heads);
  write_rows(pool, rows_of(span.plan.write, span.plan.n_write), heads, own, part.k, part.v);
  Scratch scratch;
  const Error error = allocate(context, span.n_tokens, span.plan.read_len, scratch);
  if (error != Error::Ok) return error;
  const kvc_status_t status = kvc_plan_mask_bytes(&span.plan, nullptr, KVC_COLUMNS_READ, scratch.mask,
                                                  scratch.mask_size, span.plan.read_len);
  if (status != KVC_OK) return to_error(status);
  attend(pool, rows_of(span.plan.read, span.plan.n_read), heads, own, part.q, scratch.mask, scratch.scores, part.out);
  return Error::Ok;
}

}  // namespace

Error run_cells(BackendExecutionContext& context, kvc_cache_t* cache, Pools& pools, std::size_t n_layers,
                const Step& step) {
  const Error shifted = to_error(pools.carry_out_shifts(cache));
  if (shifted != Error::Ok) return shifted;
  for (std::uint32_t layer = 0; layer < n_layers; ++layer) {
    const Error error = run_cell_layer(context, cache, pools, layer, step);
    if (error != Error::Ok) return error;
  }
  return Error::Ok;
}

Error run_rows(BackendExecutionContext& context, kvc_cache_t* cache, Pools& pools, std::size_t n_layers,
               const Step& step) {
  std::vector<kvc_span_t> spans(step.n_tokens);
  for (std::uint32_t layer = 0; layer < n_layers; ++layer) {
    std::uint32_t n_spans = 0;
    const kvc_status_t status = kvc_rows_place_step(cache, layer, step.position_of.data(), step.n_tokens, spans.data(),
                                                    step.n_tokens, &n_spans);
    if (status != KVC_OK) return to_error(status);
    std::size_t first = 0;
    for (std::uint32_t i = 0; i < n_spans; ++i) {
      const Error error = run_span(context, pools, layer, spans[i], first, step);
      if (error != Error::Ok) return error;
      first += spans[i].n_tokens;
    }
  }
  return Error::Ok;
}
