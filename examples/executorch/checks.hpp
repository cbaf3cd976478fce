// What the demo found, one line each.
#pragma once

#include <executorch/runtime/core/error.h>

#include <cstdio>

class Checks {
 public:
  // A line of the report.
  bool expect(bool good, const char* what) {
    ++(good ? passed_ : failed_);
    std::printf("  %-4s %s\n", good ? "ok" : "FAIL", what);
    return good;
  }

  // An error of the runtime that has to come back.
  bool expect_error(executorch::runtime::Error got, executorch::runtime::Error wanted, const char* what) {
    const bool good = expect(got == wanted, what);
    if (!good) std::printf("       got %s\n", executorch::runtime::to_string(got));
    return good;
  }

  int passed() const { return passed_; }
  int failed() const { return failed_; }

 private:
  int passed_ = 0;
  int failed_ = 0;
};

// An output element may differ by this much from full attention.
inline constexpr double kTolerance = 1e-5;

// Each refusal must come back as an error, and the method must go on working.
void try_bad_inputs(const char* path, Checks& checks);
// The same with many sequences.
void try_bad_batches(const char* path, Checks& checks);
