#include "core/support/error.hpp"

#include <exception>
#include <new>
#include <system_error>

#include "core/support/output.hpp"

namespace sluice {

Error current_error() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {ExitCode::resources, "out of memory: use more processes or nodes, or a coarser grid"};
  } catch (const std::system_error& error) {
    if (const auto failed = output_error(error.code().value())) return *failed;
    return {ExitCode::internal,
            std::string("internal error: ") + error.what() + "; please report this, with the case file"};
  } catch (const std::exception& error) {
    return {ExitCode::internal,
            std::string("internal error: ") + error.what() + "; please report this, with the case file"};
  } catch (...) {
    return {ExitCode::internal, "internal error: an exception of unknown type; please report this, with the case file"};
  }
}

}  // namespace sluice
