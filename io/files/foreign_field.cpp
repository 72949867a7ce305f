#include "io/files/foreign_field.hpp"

#include <fmt/format.h>

#include "core/support/collective.hpp"

namespace sluice::io {

namespace {

h5::Dataset floating_dataset(const h5::File& file, const std::string& name) {
  if (!file.has(name)) {
    throw Error(ExitCode::restart, file.path() + ": there is no dataset " + name + "; it must hold /u, /v and /w");
  }
  h5::Dataset dataset = file.dataset(name);
  if (!dataset.is_floating()) {
    throw Error(ExitCode::restart, file.path() + ": the dataset " + name + " does not hold floating-point numbers");
  }
  return dataset;
}

}  // namespace

h5::Shape dataset_shape(const std::string& file, const std::string& dataset) {
  return floating_dataset(h5::File::open(file, ExitCode::restart), dataset).shape();
}

void read_block(const std::string& file, const std::string& dataset, const h5::Shape& start, const h5::Shape& count,
                double* data) {
  const h5::File opened = h5::File::open(file, ExitCode::restart);
  floating_dataset(opened, dataset).read(start, count, h5::Type::float64, data);
}

void read_foreign_field(MPI_Comm comm, const std::string& file, const std::string& dataset, const LocalBlock& block,
                        Precision precision, void* data) {
  run_collectively(comm, [&] {
    const h5::File opened = h5::File::open(file, ExitCode::restart);
    const h5::Dataset field = floating_dataset(opened, dataset);
    const h5::Shape expected(block.global.begin(), block.global.end());
    if (field.shape() != expected) {
      throw Error(ExitCode::restart,
                  fmt::format("{}: the dataset {} has shape ({}), but the case needs ({}): nz, ny, nx", file, dataset,
                              h5::text_of(field.shape()), h5::text_of(expected)));
    }
    if (block.empty()) return;
    const h5::Type type = precision == Precision::single_ ? h5::Type::float32 : h5::Type::float64;
    field.read({block.start.begin(), block.start.end()}, {block.count.begin(), block.count.end()}, type, data);
  });
}

}  // namespace sluice::io
