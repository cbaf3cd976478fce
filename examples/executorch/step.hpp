// The arguments of one call of the backend.
#pragma once

#include "attention.hpp"

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

// One step, [layer][head][token][element] and a position for each token.
struct Step {
  const executorch::aten::Tensor* q;
  const executorch::aten::Tensor* k;
  const executorch::aten::Tensor* v;
  const executorch::aten::Tensor* positions;
  executorch::aten::Tensor* out;
  std::uint32_t n_tokens;
  std::vector<std::uint32_t> position_of;  // each token's
};

// The arguments as a step, if they are one for a model of these sizes. The runtime itself compares rank, type and
// number of elements with the program, nothing else.
executorch::runtime::Error read_step(std::size_t n_layers, const Heads& heads,
                                     executorch::runtime::Span<executorch::runtime::EValue*> args, Step& step);

// One layer of a step.
struct LayerStep {
  const float* q;
  const float* k;
  const float* v;
  float* out;
};
LayerStep layer_of(const Step& step, const Heads& heads, std::size_t layer);

// Memory that lives until the call is over, for the masks and scores of some queries.
struct Scratch {
  std::uint8_t* mask;
  std::size_t mask_size;
  float* scores;
};
executorch::runtime::Error allocate(executorch::runtime::BackendExecutionContext& context, std::size_t n_queries,
                                    std::size_t n_rows, Scratch& out);
