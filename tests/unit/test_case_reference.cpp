// docs/case-reference.md is the page that the key table generates. After a change of the table, bring the
// page up to date by running this test with the environment variable SLUICE_UPDATE_REFERENCE set.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "io/case/keys.hpp"

namespace {

const std::string page = std::string(SLUICE_SOURCE_DIR) + "/docs/case-reference.md";

std::string content_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

TEST(CaseReference, IsWhatTheKeyTableGenerates) {
  const std::string generated = sluice::io::generate_key_reference();
  if (std::getenv("SLUICE_UPDATE_REFERENCE") != nullptr) {
    std::ofstream stream(page, std::ios::binary);
    stream << generated;
    ASSERT_TRUE(stream.flush().good()) << page << " cannot be written";
  }
  EXPECT_TRUE(content_of(page) == generated) << page
                                             << " is not what the key table generates; run this test with "
                                                "SLUICE_UPDATE_REFERENCE=1 and commit the page";
}

TEST(CaseReference, HasSixCellsInEachRow) {
  std::istringstream lines(sluice::io::generate_key_reference());
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('|')) continue;
    int borders = 0;
    for (std::size_t n = 0; n < line.size(); ++n) borders += line[n] == '|' && (n == 0 || line[n - 1] != '\\') ? 1 : 0;
    EXPECT_EQ(borders, 7) << line;
  }
}

}  // namespace
