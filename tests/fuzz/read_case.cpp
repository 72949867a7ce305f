// The reader of case files. The input is the text of one, then, each after a zero byte, arguments of --set. A case must
// be refused with a message of moderate length, or be reproduced by its resolved text.
#include "tests/fuzz/fuzz_input.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "core/support/error.hpp"
#include "io/case/case_file.hpp"

namespace {

using namespace sluice;

std::vector<std::string> split_at_zeros(const std::string& bytes) {
  std::vector<std::string> parts(1);
  for (const char c : bytes) {
    if (c == '\0') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

io::Case parse(const std::string& text, const std::vector<std::string>& overrides) {
  return io::parse_case(text, "case.yaml", overrides, "/cases", {io::known_exchange_methods()});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(data, data + size);
  const auto require = [&](bool good, const std::string& what) {
    if (good) return;
    fmt::print(stderr, "{}\nThe input is:\n{}\n", what, input);
    std::abort();
  };
  std::vector<std::string> overrides = split_at_zeros(input);
  const std::string text = overrides.front();
  overrides.erase(overrides.begin());
  io::Case settings;
  try {
    settings = parse(text, overrides);
  } catch (const Error& error) {
    require(error.code() == ExitCode::usage, error.what());
    require(std::string(error.what()).size() < 20 * (size + 2000), "the message is long");
    return 0;
  }
  const std::string resolved = io::resolved_yaml(settings);
  try {
    require(parse(resolved, {}) == settings, "the resolved case is another case:\n" + resolved);
  } catch (const Error& error) {
    require(false, fmt::format("the resolved case cannot be read: {}\n{}", error.what(), resolved));
  }
  return 0;
}
