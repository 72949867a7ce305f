#pragma once
// Collects all problems of a case file, so that one message reports them together.
#include <string>
#include <string_view>
#include <vector>

#include "core/support/plain_text.hpp"

namespace sluice::io {

/// Location where a value was written.
struct Place {
  static constexpr int file = 0;
  static constexpr int table = -1;

  int source = file;  ///< file, table (a default), or n > 0: the n-th --set argument
  int line = 1;       ///< from 1
  int column = 1;     ///< from 1
};

class Problems {
 public:
  /// `what`: the kind of file, for the message.
  Problems(std::string file_name, std::vector<std::string> overrides, std::string what = "case");

  /// Reports that the value of key `path` (empty: the file as a whole) is wrong.
  void add(const Place& place, const std::string& path, const std::string& what);

  /// True if no problem or doubt is recorded for this key, a part of it, or a section that contains it.
  bool good(std::string_view path) const;

  /// Records that an unknown key was probably meant to be this one. Its absence is then not reported, and no rule uses
  /// its default.
  void doubt(const std::string& path) { doubted_.push_back(path); }
  bool doubted(const std::string& path) const;

  /// Throws Error(ExitCode::usage) if there are problems, with one line for each of the first 20 in file
  /// order.
  void raise() const;

 private:
  struct Problem {
    Place place;
    std::string path;
    std::string what;
  };
  std::string line_of(const Problem& problem) const;

  std::string file_name_;
  std::vector<std::string> overrides_;
  std::string what_;
  std::vector<Problem> problems_;
  std::vector<std::string> doubted_;
};

}  // namespace sluice::io
