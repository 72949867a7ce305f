// The readers of slices: a restart's, which lists them in LABEL.xdmf, and that of `sluice info`.
#include <filesystem>
#include <string>
#include <vector>

#include "core/support/error.hpp"
#include "io/files/describe.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/slice_series.hpp"
#include "tests/fuzz/fuzz_input.hpp"

namespace {

using namespace sluice;
using namespace sluice::io;
using fuzz::require;

SliceDescription description_of(const std::string& directory) {
  return {directory, "z1", 'z', 1.0, {"0.1.0", "abc123", std::string(5000, 'c')}, h5::Type::float32};
}

/// Writes a slice; returns its path.
std::string write_original(const std::string& directory) {
  SliceSnapshot slice;
  slice.step = 20;
  slice.time = 1.5;
  slice.grid = plane_of(grid_lines(4, 4.0, 3, 3.0, {0, 0.5, 1.5, 2}), 2, 1);
  std::vector<std::byte> values(12 * sizeof(float));
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<std::byte>(n);
  slice.fields.push_back({{"u", "streamwise velocity", "1", Location::x_face}, values});
  slice.fields.push_back({{"p", "pressure", "1", Location::center}, values});
  SliceSeries(description_of(directory)).write(slice);
  return slice_path(directory, "z1", slice.step);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string directory = fuzz::scratch_path("slices");
  static const std::string path = write_original(directory);
  static const std::string bytes = read_text(path);
  static const std::string description = describe(path).text();
  static const std::int64_t hash = slice_hash(h5::File::open(path, ExitCode::restart));
  static const std::string xdmf = read_text(directory + "/z1.xdmf");
  fuzz::Input input(data, size);
  const std::string changed = fuzz::damaged(bytes, input);
  if (!fuzz::is_protected(bytes, changed)) return 0;
  fuzz::write_bytes(path, changed);
  fuzz::read_or_refuse([&] {
    const FileDescription found = describe(path);
    require(!found.intact() || found.text() == description, "another description");
  });
  fuzz::read_or_refuse(
      [&] { require(slice_hash(h5::File::open(path, ExitCode::restart)) == hash, "another hash of the slice"); });
  fuzz::read_or_refuse(
      [&] {
        const SliceSeries series(description_of(directory), 20);
        require(!series.warnings().empty() || read_text(directory + "/z1.xdmf") == xdmf, "another list of slices");
      },
      ExitCode::io);
  return 0;
}
