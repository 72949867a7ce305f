#pragma once
// What the tests of checkpoints share: decompositions, fields whose values tell where they belong, and ways
// to damage a file.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/snapshot.hpp"

namespace sluice::io::checkpoint_test {

namespace fs = std::filesystem;

inline const MPI_Comm world = MPI_COMM_WORLD;

inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(world, &rank);
  return rank;
}

inline int world_size() {
  int size = 1;
  MPI_Comm_size(world, &size);
  return size;
}

/// A directory that all ranks know and rank 0 removes.
class SharedDirectory {
 public:
  SharedDirectory() {
    if (world_rank() == 0) {
      path_ = fs::temp_directory_path() / "sluice-checkpoint-XXXXXX";
      EXPECT_NE(mkdtemp(path_.data()), nullptr);
    }
    broadcast(path_, world);
  }
  ~SharedDirectory() {
    MPI_Barrier(world);
    if (world_rank() == 0) fs::remove_all(path_);
  }
  SharedDirectory(const SharedDirectory&) = delete;
  SharedDirectory& operator=(const SharedDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::pair<std::int64_t, std::int64_t> share(std::int64_t n, int part, int parts) {
  return {n * part / parts, n * (part + 1) / parts};
}

/// Rank `rank` of a py x pz grid of pencils; ranks beyond it hold nothing.
inline LocalBlock pencil(const Extents& global, int py, int pz, int rank) {
  if (rank >= py * pz) return {global, {}};
  const auto [y0, y1] = share(global[1], rank % py, py);
  const auto [z0, z1] = share(global[0], rank / py, pz);
  return {global, {{0, y0, z0}, {global[2], y1, z1}}};
}

/// A value that tells where it belongs.
inline double index_value(int field, const Extents& global, std::int64_t k, std::int64_t j, std::int64_t i) {
  return field * 1e7 + static_cast<double>((k * global[1] + j) * global[2] + i) + 0.125;
}

template <typename Real>
std::vector<Real> index_block(int field, const LocalBlock& block) {
  std::vector<Real> data;
  const Box3& box = block.box;
  for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k) {
    for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
      for (std::int64_t i = box.lo[0]; i < box.hi[0]; ++i) {
        data.push_back(static_cast<Real>(index_value(field, block.global, k, j, i)));
      }
    }
  }
  return data;
}

inline const std::array<FieldDescriptor, 4> fields{
    FieldDescriptor{"u", "streamwise velocity / U_b", "1", Location::x_face},
    FieldDescriptor{"v", "spanwise velocity / U_b", "1", Location::y_face},
    FieldDescriptor{"w", "wall-normal velocity / U_b", "1", Location::z_face},
    FieldDescriptor{"p", "pressure / (rho U_b^2)", "1", Location::center}};

inline GridLines test_grid(const Extents& global) {
  std::vector<double> z;
  for (std::int64_t k = 0; k <= global[0]; ++k) {
    z.push_back(1 +
                std::tanh(1.6 * (2.0 * static_cast<double>(k) / static_cast<double>(global[0]) - 1)) / std::tanh(1.6));
  }
  return grid_lines(global[2], 12.5, global[1], 4.25, z);
}

inline Values test_state() {
  Values state;
  state.set("dt", 0.1 + 0.2);
  state.set("forcing", -std::numeric_limits<double>::denorm_min());
  state.set("z_blocks", 3);
  state.set("exchange", "mpi_p2p");
  state.set("next_outputs", std::vector<double>{1.5, 2.5, std::nextafter(3.0, 4.0)});
  state.set("empty", std::vector<double>{});
  state.set("counts", std::vector<std::int64_t>{1, -2, std::int64_t{1} << 60});
  return state;
}

inline std::string long_case() {
  return std::string(200000, 'c') + "\ntitle: more than 64 KB\n";
}

struct WriteOptions {
  Extents global{11, 10, 9};
  int py = 1;
  int pz = 1;
  int keep = 2;
  WriterSpec writer = {};
};

template <typename Real>
CheckpointWriter::Committed write_checkpoint(const std::string& directory, std::int64_t step, const WriteOptions& o) {
  const LocalBlock block = pencil(o.global, o.py, o.pz, world_rank());
  CheckpointSpec spec{directory,
                      step,
                      0.1 * static_cast<double>(step),
                      {"0.1.0", "abc123", long_case()},
                      test_grid(o.global),
                      h5::type_of<Real>,
                      o.writer};
  CheckpointWriter writer(world, spec, block);
  std::vector<Real> buffer;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    buffer = index_block<Real>(static_cast<int>(f), block);
    writer.write_field(fields[f], buffer.data());
  }
  writer.write_values("/state", test_state());
  return writer.commit(o.keep);
}

template <typename Real>
void expect_contents(const std::string& path, const Extents& global, int py, int pz) {
  const CheckpointReader reader(world, path);
  EXPECT_EQ(reader.fields().shape, global);
  EXPECT_EQ(reader.resolved_case(), long_case());
  EXPECT_EQ(reader.grid(), test_grid(global));
  EXPECT_TRUE(reader.values("/state") == test_state());
  const LocalBlock block = pencil(global, py, pz, world_rank());
  for (std::size_t f = 0; f < fields.size(); ++f) {
    std::vector<Real> data(static_cast<std::size_t>(block.box.volume()));
    reader.read_field(fields[f].name, block, h5::type_of<Real>, data.data());
    EXPECT_EQ(data, index_block<Real>(static_cast<int>(f), block)) << fields[f].name;
  }
}

/// The exit code of the Error that `action` throws on this rank, which must be the same on all ranks; 0 if it
/// throws none.
inline int agreed_code(const std::function<void()>& action) {
  int code = 0;
  try {
    action();
  } catch (const Error& error) {
    code = static_cast<int>(error.code());
  }
  int lowest = 0;
  int highest = 0;
  MPI_Allreduce(&code, &lowest, 1, MPI_INT, MPI_MIN, world);
  MPI_Allreduce(&code, &highest, 1, MPI_INT, MPI_MAX, world);
  EXPECT_EQ(lowest, highest) << "ranks disagree on the failure";
  return code;
}

inline std::vector<std::string> file_names(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

inline void on_root(const std::function<void()>& action) {
  if (world_rank() == 0) action();
  MPI_Barrier(world);
}

/// Inverts one byte of the file, where the eight bytes of `value` lie.
inline void damage_value(const std::string& path, double value) {
  std::string bytes = read_text(path);
  std::array<char, sizeof(value)> pattern{};
  std::memcpy(pattern.data(), &value, sizeof(value));
  const std::size_t place = bytes.find(std::string_view(pattern.data(), pattern.size()));
  ASSERT_NE(place, std::string::npos);
  bytes[place + 1] = static_cast<char>(~bytes[place + 1]);
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace sluice::io::checkpoint_test
