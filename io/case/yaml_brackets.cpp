#include "io/case/yaml_tree.hpp"

#include <fmt/format.h>

#include <vector>

namespace sluice::io {

namespace {

class Scanner {
 public:
  explicit Scanner(const std::string& text) : text_(text) {}

  std::optional<BracketFault> scan() {
    for (; at_ < text_.size() && !fault_; next()) see(text_[at_]);
    if (!fault_ && !open_.empty())
      fault_ = {open_.back().line, open_.back().column,
                fmt::format("the {} that opens here is not closed", open_.back().bracket)};
    return fault_;
  }

 private:
  struct Open {
    char bracket;
    int line, column;
  };

  void see(char c) {
    if (c == '#' && after_space_) return skip_comment();
    if ((c == '"' || c == '\'') && begins_value_) return skip_quoted(c);
    // In block style, a bracket within a plain value is text; within brackets, it never is.
    if ((c == '[' || c == '{') && (begins_value_ || !open_.empty())) {
      open_.push_back({c, line_, column_});
      return note(true, false);
    }
    if ((c == ']' || c == '}') && !open_.empty()) {
      close(c);
      return note(false, false);
    }
    const bool space = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (space) return note(begins_value_ || c == '\n' || after_indicator_, true);
    const bool comma = c == ',' && !open_.empty();
    after_indicator_ = c == ':' || (c == '-' && begins_value_);
    begins_value_ = comma;
    after_space_ = false;
  }

  void note(bool begins_value, bool after_space) {
    begins_value_ = begins_value;
    after_space_ = after_space;
    after_indicator_ = false;
  }

  void close(char c) {
    const Open last = open_.back();
    open_.pop_back();
    if ((last.bracket == '[') == (c == ']')) return;
    fault_ = {line_, column_,
              fmt::format("this {} cannot close the {} that opens in line {}, column {}", c, last.bracket, last.line,
                          last.column)};
  }

  void skip_comment() {
    while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') next();
  }

  void skip_quoted(char quote) {
    for (next(); at_ < text_.size() && text_[at_] != quote; next()) {
      if (quote == '"' && text_[at_] == '\\') next();
    }
    note(false, false);
  }

  void next() {
    if (at_ < text_.size() && text_[at_] == '\n') {
      ++line_;
      column_ = 0;
    }
    ++at_;
    ++column_;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
  bool begins_value_ = true;
  bool after_space_ = true;
  bool after_indicator_ = false;  ///< behind a colon or a dash, which a space makes an indicator
  std::vector<Open> open_;
  std::optional<BracketFault> fault_;
};

}  // namespace

std::optional<BracketFault> bracket_fault(const std::string& text) {
  return Scanner(text).scan();
}

}  // namespace sluice::io
