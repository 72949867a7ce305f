#pragma once
// SLUICE_ASSERT: a condition that debug builds check, in host code and in kernels.
#include <string>

#include "core/support/error.hpp"
#include "core/support/real.hpp"

namespace sluice {

/// Host: throws Error with exit code 1. GPU: prints the message with the thread and stops the kernel, after which every
/// call of CUDA returns cudaErrorAssert.
SLUICE_HD inline void fail_assertion(const char* condition, const char* message, const char* file, unsigned line,
                                     const char* function) {
#ifdef SLUICE_ON_GPU
  __assert_fail(message, file, line, function);
  static_cast<void>(condition);
#else
  throw Error(ExitCode::internal, std::string(message) + "\n  (required: " + condition + " at " + file + ":" +
                                      std::to_string(line) + ", in " + function + ")");
#endif
}

}  // namespace sluice

/// Checked with SLUICE_DEBUG only, for what is too frequent for SLUICE_REQUIRE; otherwise the condition is compiled,
/// but not evaluated.
#ifdef SLUICE_DEBUG
#define SLUICE_ASSERT(condition, message)                                                          \
  do {                                                                                             \
    if (!(condition)) ::sluice::fail_assertion(#condition, message, __FILE__, __LINE__, __func__); \
  } while (false)
#else
#define SLUICE_ASSERT(condition, message) static_cast<void>(sizeof(!(condition)))
#endif
