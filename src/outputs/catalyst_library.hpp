#pragma once
// Catalyst 2, whose library is loaded while the program runs: its C interface and that of Conduit, which it contains.
// Nothing of either is needed to build Sluice.
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "core/support/error.hpp"

namespace sluice {

/// The functions of libcatalyst.so that Sluice calls. A conduit_node is a void, a conduit_index_t has 64 bits, and a
/// status is an int, 0 if all is well.
struct CatalystLibrary {
  /// `file`: the library; none: it is searched for. Local. Throws Error(usage) if it cannot be loaded or lacks one of
  /// the functions. It is never unloaded.
  explicit CatalystLibrary(const std::optional<std::string>& file);

  std::string path;  ///< of the file that was loaded
  int (*initialize)(const void* parameters);
  int (*execute)(const void* parameters);
  int (*finalize)(const void* parameters);
  void* (*node_create)();
  void (*node_destroy)(void* node);
  void (*node_set_int64)(void* node, const char* path, std::int64_t value);
  void (*node_set_float64)(void* node, const char* path, double value);
  void (*node_set_text)(void* node, const char* path, const char* value);
  void (*node_refer_float32)(void* node, const char* path, float* values, std::int64_t count);
  void (*node_refer_float64)(void* node, const char* path, double* values, std::int64_t count);
};

/// A tree of values, which Conduit holds. Local.
class CatalystNode {
 public:
  explicit CatalystNode(const CatalystLibrary& library) : library_(library), node_(library.node_create()) {}
  CatalystNode(const CatalystNode&) = delete;
  CatalystNode& operator=(const CatalystNode&) = delete;
  ~CatalystNode() { library_.node_destroy(node_); }

  void set(const std::string& path, std::int64_t value) { library_.node_set_int64(node_, path.c_str(), value); }
  void set(const std::string& path, double value) { library_.node_set_float64(node_, path.c_str(), value); }
  void set(const std::string& path, const std::string& text) {
    library_.node_set_text(node_, path.c_str(), text.c_str());
  }
  /// Without a copy: the values, in host memory, must stay where they are as long as Catalyst may read them.
  void refer(const std::string& path, std::vector<float>& values) {
    library_.node_refer_float32(node_, path.c_str(), values.data(), std::ssize(values));
  }
  void refer(const std::string& path, std::vector<double>& values) {
    library_.node_refer_float64(node_, path.c_str(), values.data(), std::ssize(values));
  }

  /// Calls one of Catalyst's three functions with the tree. All ranks call it. Throws Error(`code`) if it fails;
  /// `what`: the name of the function.
  void pass_to(int (*function)(const void*), const char* what, ExitCode code) const;

 private:
  const CatalystLibrary& library_;
  void* node_;
};

}  // namespace sluice
