// Case files damaged at random, the same ones in every run: each is refused with a message or read correctly.
// SLUICE_FUZZ_INPUTS sets how many.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "io/case/keys.hpp"
#include "tests/fuzz/fuzz_input.hpp"

namespace sluice {
namespace {

// SLUICE_SOURCE_DIR's cases, and texts that use what these do not.
std::vector<std::string> corpus() {
  std::vector<std::filesystem::path> files;
  for (const auto& folder : std::filesystem::directory_iterator(SLUICE_SOURCE_DIR "/cases")) {
    files.push_back(folder.path() / "case.yaml");
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  const std::string start = "flow: {reynolds: {tau: 180}}\ndomain: {size: [4*pi, 4*pi/3, 2]}\n";
  const std::string end = "grid: {cells: [16, 12, 32]}\ntime: {steps: 9, dt: 1e-3}\n";
  texts.push_back(start + end +
                  "title: \"a \\\"b\\\" \\x01 \\u00e9\"\nwalls: {bottom: &a {velocity: [1, 0, 0]}, top: *a}\n");
  texts.push_back(start + end +
                  "title: |\n  don't\n  stop\noutput: {statistics: none, slices: [{normal: x, at: 0, every: 1}]}\n");
  texts.push_back(start + end + std::string("\0time.dt=0.1\0parallel={grid: [2, 3], exchange: {rows: mpi_p2p}}", 62));
  texts.push_back(start + end + "initial: {type: fields, file: 'it''s.h5'}\nparallel: {grid: [1000000, 1000000]}\n");
  return texts;
}

std::vector<std::string> fragments() {
  std::vector<std::string> parts{"'",        "\"",
                                 "\\",       "\n",
                                 "\n  ",     "\r\n",
                                 ": ",       "- ",
                                 "? ",       "[",
                                 "]",        "{",
                                 "}",        ",",
                                 "&a ",      "*a",
                                 "!!x ",     "|\n",
                                 ">-\n",     "#",
                                 "---\n",    "...\n",
                                 "%",        "\t",
                                 "~",        "null",
                                 "none",     "auto",
                                 "pi",       "/0",
                                 "1e308",    "1e-320",
                                 "-1",       "nan",
                                 "0x1",      "9223372036854775808",
                                 "\xff",     "\xef\xbb\xbf",
                                 "\xc3\xa9", "1:00:00"};
  parts.push_back(std::string("\0", 1));
  for (const io::Key& key : io::case_keys()) {
    parts.push_back(key.name() + ": ");
    parts.push_back(std::string("\0", 1) + key.path + "=");
  }
  return parts;
}

class Mutator {
 public:
  std::string next() {
    std::string text = texts_[below(texts_.size())];
    for (std::size_t n = below(6); n > 0; --n) mutate(text);
    return text;
  }

 private:
  // Unlike the standard library's distributions, the same everywhere.
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }

  void mutate(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = below(text.size() - at + 1);
    switch (below(6)) {
      case 0:
        text.insert(at, parts_[below(parts_.size())]);
        break;
      case 1:
        text.replace(at, std::min<std::size_t>(length, 1), parts_[below(parts_.size())]);
        break;
      case 2:
        text.erase(at, std::min<std::size_t>(length, 1 + below(30)));
        break;
      case 3:
        text.insert(below(text.size() + 1), text.substr(at, std::min<std::size_t>(length, 200)));
        break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      default: {
        const std::string& other = texts_[below(texts_.size())];
        text = text.substr(0, at) + other.substr(std::min(at, other.size()));
      }
    }
  }

  std::mt19937_64 random_{1};
  std::vector<std::string> texts_ = corpus();
  std::vector<std::string> parts_ = fragments();
};

TEST(MutatedCases, AreRefusedOrReadCorrectly) {
  const char* given = std::getenv("SLUICE_FUZZ_INPUTS");
  const long count = given != nullptr ? std::atol(given) : 40000;  // about ten seconds in a Release build
  Mutator mutator;
  for (long n = 0; n < count; ++n) {
    const std::string input = mutator.next();
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  }
}

}  // namespace
}  // namespace sluice
