#pragma once
// Errors: one exception type that carries the process's exit code. Only main catches it.
#include <source_location>
#include <stdexcept>
#include <string>

namespace sluice {

/// Exit codes of the program, the same through mpirun.
enum class ExitCode : int {
  success = 0,    ///< finished, or stopped cleanly
  internal = 1,   ///< a defect in Sluice
  usage = 2,      ///< command line, case file, or an output directory that holds results
  restart = 3,    ///< checkpoint or restart file, mismatches included
  io = 4,         ///< any other input or output
  numerics = 5,   ///< NaN, divergence, collapse of the time step
  resources = 6,  ///< a GPU that is missing or failed, too little memory, too many ranks; a rank that does not answer
};

/// An error to be shown to the user: what, where, why and what to do, in one message.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// The exception that is being handled, as an Error. Call in a catch clause.
Error current_error();

[[noreturn]] inline void throw_requirement(const char* condition, const std::string& message,
                                           std::source_location where) {
  throw Error(ExitCode::internal, message + "\n  (required: " + condition + " at " + where.file_name() + ":" +
                                      std::to_string(where.line()) + ")");
}

}  // namespace sluice

/// Always checked: a broken contract between parts of the program. Throws Error with exit code 1.
#define SLUICE_REQUIRE(condition, message)                                                 \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      ::sluice::throw_requirement(#condition, (message), std::source_location::current()); \
    }                                                                                      \
  } while (false)
