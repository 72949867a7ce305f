#include "src/outputs/catalyst_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>

namespace sluice {

namespace {

constexpr const char* key = "output.catalyst.library";

/// With the numbers of its interface: ParaView installs the library under some of these names.
constexpr std::array library_names{"libcatalyst.so", "libcatalyst.so.3", "libcatalyst.so.2"};

/// The files beside the folders that libcatalyst.so searches for implementations of Catalyst. These are usually in
/// lib/catalyst, and libcatalyst.so in lib.
std::vector<std::string> files_near_implementations() {
  std::vector<std::string> files;
  const char* const folders = std::getenv("CATALYST_IMPLEMENTATION_PATHS");
  std::istringstream list(folders != nullptr ? folders : "");
  for (std::string folder; std::getline(list, folder, ':');) {
    if (folder.empty()) continue;
    for (const char* place : {"/../", "/"})
      for (const char* name : library_names) files.push_back(folder + place + name);
  }
  return files;
}

/// Visible to all libraries: Catalyst finds its implementations beside the file of its own functions, which it looks up
/// in this way, and they use its functions.
void* open(const std::string& file) {
  return dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

std::string reason() {
  const char* const text = dlerror();
  return text != nullptr ? text : "unknown reason";
}

void* load(const std::optional<std::string>& file) {
  if (file) {
    if (void* const handle = open(*file)) return handle;
    throw Error(ExitCode::usage, fmt::format("{}: {} cannot be loaded: {}; give the file libcatalyst.so of Catalyst 2 "
                                             "or of ParaView, or say output.catalyst=none",
                                             key, *file, reason()));
  }
  for (const std::string& near : files_near_implementations()) {
    std::error_code ignored;
    if (!std::filesystem::exists(near, ignored)) continue;
    if (void* const handle = open(near)) return handle;
    throw Error(ExitCode::usage, fmt::format("{}: {} cannot be loaded: {}", key, near, reason()));
  }
  for (const char* name : library_names) {
    if (void* const handle = open(name)) return handle;
  }
  throw Error(ExitCode::usage,
              fmt::format("{}: libcatalyst.so is not found, neither near the folders of the environment variable "
                          "CATALYST_IMPLEMENTATION_PATHS ({}) nor where the system looks for libraries; set this key "
                          "to the file, or say output.catalyst=none",
                          key, std::getenv("CATALYST_IMPLEMENTATION_PATHS") != nullptr ? "set" : "not set"));
}

/// The function of this name; its path goes to `path`.
template <class Function>
void find(void* handle, const char* name, Function*& function, std::string& path) {
  void* const symbol = dlsym(handle, name);
  Dl_info info{};
  if (symbol != nullptr && dladdr(symbol, &info) != 0 && info.dli_fname != nullptr) path = info.dli_fname;
  if (symbol == nullptr)
    throw Error(ExitCode::usage, fmt::format("{}: {} has no function {}; Catalyst 2.0 is needed, as in ParaView 5.10 "
                                             "or later",
                                             key, path.empty() ? "the library" : path, name));
  function = reinterpret_cast<Function*>(symbol);
}

/// catalyst_status; implementations have numbers of their own from 100 on.
std::string_view meaning_of(int status) {
  switch (status) {
    case 1:
      return "no implementation of Catalyst is loaded";
    case 2:
      return "an implementation of Catalyst is loaded already";
    case 3:
      return "the implementation is not found: CATALYST_IMPLEMENTATION_PATHS must name the folder of "
             "libcatalyst-paraview.so, or CATALYST_IMPLEMENTATION_NAME another implementation";
    case 4:
      return "the implementation is no library of Catalyst";
    case 5:
      return "the implementation lacks functions";
    case 6:
      return "the implementation has another version";
    default:
      return "see what it printed";
  }
}

}  // namespace

CatalystLibrary::CatalystLibrary(const std::optional<std::string>& file) : path(file.value_or("")) {
  void* const handle = load(file);
  find(handle, "catalyst_initialize", initialize, path);
  find(handle, "catalyst_execute", execute, path);
  find(handle, "catalyst_finalize", finalize, path);
  int (*results)(void*) = nullptr;  // not called: earlier libraries, whose functions return no status, lack it
  find(handle, "catalyst_results", results, path);
  find(handle, "catalyst_conduit_node_create", node_create, path);
  find(handle, "catalyst_conduit_node_destroy", node_destroy, path);
  find(handle, "catalyst_conduit_node_set_path_int64", node_set_int64, path);
  find(handle, "catalyst_conduit_node_set_path_float64", node_set_float64, path);
  find(handle, "catalyst_conduit_node_set_path_char8_str", node_set_text, path);
  find(handle, "catalyst_conduit_node_set_path_external_float32_ptr", node_refer_float32, path);
  find(handle, "catalyst_conduit_node_set_path_external_float64_ptr", node_refer_float64, path);
}

void CatalystNode::pass_to(int (*function)(const void*), const char* what, ExitCode code) const {
  const int status = function(node_);
  if (status != 0)
    throw Error(code, fmt::format("output.catalyst: {} of {} fails with status {}: {}", what, library_.path, status,
                                  meaning_of(status)));
}

}  // namespace sluice
