// Runs a fuzzer on the inputs that are kept in its folder, those that once failed among them, and on inputs at random,
// the same ones in every run. SLUICE_FUZZ_INPUTS sets how many.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "io/files/posix_file.hpp"
#include "tests/fuzz/fuzz_input.hpp"

namespace sluice::fuzz {
namespace {

TEST(Inputs, KeptInTheCorpus) {
  if (!std::filesystem::exists(SLUICE_CORPUS)) GTEST_SKIP() << "there are none";
  for (const auto& file : std::filesystem::directory_iterator(SLUICE_CORPUS)) {
    const std::string input = io::read_text(file.path());
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  }
}

TEST(Inputs, AtRandom) {
  const char* given = std::getenv("SLUICE_FUZZ_INPUTS");
  const long count = given != nullptr ? std::atol(given) : SLUICE_INPUTS;
  std::mt19937_64 random(1);
  for (long n = 0; n < count; ++n) {
    std::vector<std::uint8_t> input(random() % 64);
    for (std::uint8_t& byte : input) byte = static_cast<std::uint8_t>(random());
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr long most_kilobytes = 512 * 1024;
  EXPECT_LT(usage.ru_maxrss, most_kilobytes);
}

}  // namespace
}  // namespace sluice::fuzz
