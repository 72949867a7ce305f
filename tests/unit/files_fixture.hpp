#pragma once
// What the tests of files that one process writes share.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/support/error.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/posix_file.hpp"

namespace sluice::io::files_test {

namespace fs = std::filesystem;

/// A directory of the test's own, removed at its end.
class FilesTest : public testing::Test {
 protected:
  FilesTest() {
    directory_ = fs::temp_directory_path() / "sluice-files-XXXXXX";
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
  }
  ~FilesTest() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  std::string directory_;
};

/// The exit code of the Error that the action throws; 0 if it throws none.
template <typename Action>
int code_of(const Action& action, std::string* message = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return static_cast<int>(error.code());
  }
  return 0;
}

/// The extents of a dataset, slowest first.
inline h5::Shape dataset_shape(const std::string& file, const std::string& dataset) {
  return h5::File::open(file, ExitCode::restart).dataset(dataset).shape();
}

inline void write_plain(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline void flip_byte(const std::string& path, const void* pattern, std::size_t size) {
  std::string bytes = read_text(path);
  const std::size_t place = bytes.find(std::string_view(static_cast<const char*>(pattern), size));
  ASSERT_NE(place, std::string::npos);
  bytes[place] = static_cast<char>(bytes[place] ^ 1);
  write_plain(path, bytes);
}

/// A checkpoint of 3 x 4 x 5 cells; returns its path.
inline std::string write_small_checkpoint(const std::string& directory, std::int64_t step) {
  const Extents global{3, 4, 5};
  std::vector<double> data(60, 0.3);
  for (std::size_t n = 1; n < data.size(); ++n) data[n] = static_cast<double>(n);
  CheckpointWriter writer(
      MPI_COMM_SELF, {directory, step, 1.5, {"0.1.0", "abc123", "case"}, grid_lines(5, 5.0, 4, 4.0, {0, 0.5, 1.5, 2})},
      {global, whole_box(global)});
  writer.write_field({"u", "streamwise velocity / U_b", "1", Location::x_face}, data.data());
  writer.write_field({"v", "spanwise velocity / U_b", "1", Location::y_face}, data.data());
  writer.write_field({"w", "wall-normal velocity / U_b", "1", Location::z_face}, data.data());
  writer.write_field({"p", "pressure / (rho U_b^2)", "1", Location::center}, data.data());
  Values state;
  state.set("dt", 0.0123);
  writer.write_values("/state", state);
  return writer.commit(2).path;
}

}  // namespace sluice::io::files_test
