// Something to say.
#pragma once

#include <vector>

// Tokens that are different for each speaker, turn and place.
inline std::vector<int> speech(int speaker, int turn, int n) {
  std::vector<int> tokens;
  for (int i = 0; i < n; ++i) tokens.push_back((speaker * 131 + turn * 31 + i * 7) % 997);
  return tokens;
}
