// What the tests of caches of many sequences share.
#pragma once

#include "support.h"

#include <executorch/extension/llm/cache/batched_sequence_cache.h>
#include <executorch/extension/llm/cache/cell_cache.h>

#include <string>

// A step of one sequence's next n tokens, placed for one layer: declared, then placed at its next positions.
template <class Target>
auto append(Target& target, int32_t seq, int n, int layer_index = 0) {
  const int first = target.next_pos(seq);
  std::vector<int32_t> positions;
  for (int i = 0; i < n; ++i) positions.push_back(first + i);
  const bool declared = target.declare_step(std::vector<int32_t>(static_cast<std::size_t>(n), seq));
  return declared ? target.place_step(layer_index, positions.data(), n) : nullptr;
}

// Places positions for a layer.
template <class Target>
auto place(Target& target, int layer_index, const std::vector<int32_t>& positions) {
  return target.place_step(layer_index, positions.data(), static_cast<int>(positions.size()));
}

// The mask as text, a line for each token: "110".
inline std::vector<std::string> mask(const cache::CellStep& step) {
  std::vector<std::string> lines;
  const auto columns = static_cast<std::size_t>(step.read_len);
  REQUIRE(step.mask_bits.size() == static_cast<std::size_t>(step.length) * columns);
  for (std::size_t at = 0; at < step.mask_bits.size(); at += columns) {
    std::string line;
    for (std::size_t j = 0; j < columns; ++j) line += static_cast<char>('0' + step.mask_bits[at + j]);
    lines.push_back(line);
  }
  return lines;
}

using Lines = std::vector<std::string>;
using Cells = std::vector<int32_t>;
