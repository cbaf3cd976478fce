// The model of the example: attention layers over inputs that are made up from token numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// What the program publishes about itself.
struct Shape {
  int n_layers = 0;
  int n_heads = 0;
  int n_kv_heads = 0;
  int head_dim = 0;
  int chunk = 0;             // most tokens of a step
  std::vector<int> windows;  // of each layer; 0: it keeps all history
};

// The inputs of one step: [layer][head][token][element], and the position of each token. RoPE is applied.
struct StepInputs {
  std::vector<float> q, k, v;
  std::vector<std::int64_t> positions;
};

// Turns a query or a key by so many positions more: RoPE.
void rotate(float* head, int head_dim, double positions);

// The step of the tokens from `first` on.
StepInputs make_step(const Shape& shape, const std::vector<int>& tokens, std::size_t first);

// What attention answers for the tokens from `first` on, [layer][head][token][element]: worked out from the whole
// sequence, without a cache.
std::vector<double> full_attention(const Shape& shape, const std::vector<int>& tokens, std::size_t first);
