#include "src/outputs/background_checkpoint.hpp"

#include <chrono>
#include <functional>
#include <utility>

#include "core/decomp/field_copy.hpp"
#include "core/device/timers.hpp"
#include "core/support/blocked_signals.hpp"
#include "core/support/error.hpp"

namespace sluice {

namespace {

std::vector<std::pair<FieldDescriptor, const Field*>> stored_fields(const State& state) {
  std::vector<std::pair<FieldDescriptor, const Field*>> fields;
  for (const auto& [descriptor, field] : state.fields()) {
    if (descriptor.outputs.checkpoint) fields.emplace_back(descriptor, &field);
  }
  return fields;
}

WrittenCheckpoint write(MPI_Comm comm, const std::function<void(io::CheckpointWriter&)>& write_fields,
                        const CheckpointContents& contents) {
  const double start = wall_seconds();
  io::CheckpointWriter writer(comm, contents.spec, contents.block);
  write_fields(writer);
  for (const auto& [group, values] : contents.values) writer.write_values(group, values);
  WrittenCheckpoint written{contents.spec.step, contents.spec.time, 0, writer.commit(contents.keep).warnings};
  written.seconds = wall_seconds() - start;
  return written;
}

}  // namespace

WrittenCheckpoint write_checkpoint(MPI_Comm comm, const State& state, const CheckpointContents& contents) {
  const auto write_fields = [&](io::CheckpointWriter& writer) {
    for (const auto& [descriptor, field] : stored_fields(state))
      writer.write_field(descriptor, download(*field).data());
  };
  return write(comm, write_fields, contents);
}

BackgroundCheckpoint::BackgroundCheckpoint(const State& state) {
  for (const auto& [descriptor, field] : stored_fields(state)) {
    descriptors_.push_back(descriptor);
    field_size_ = static_cast<std::size_t>(field->box().volume());
  }
  fields_.reset(static_cast<real*>(device::allocate_host(descriptors_.size() * field_size_ * sizeof(real))));
  io::h5::start_library();  // its first use calls MPI
}

void BackgroundCheckpoint::start(const State& state, CheckpointContents contents) {
  SLUICE_REQUIRE(!is_running(), "a checkpoint is still being written");
  std::vector<const Field*> fields;
  for (const auto& [descriptor, field] : stored_fields(state)) fields.push_back(field);
  download(fields, fields_.get());
  const auto write_fields = [this](io::CheckpointWriter& writer) {
    const real* values = fields_.get();
    for (const FieldDescriptor& descriptor : descriptors_) {
      writer.write_field(descriptor, values);
      values += field_size_;
    }
  };
  const BlockedSignals of_thread;
  // If the system grants no thread, finish() does the work.
  written_ = std::async(std::launch::async | std::launch::deferred, [write_fields, contents = std::move(contents)] {
    return write(MPI_COMM_SELF, write_fields, contents);
  });
}

bool BackgroundCheckpoint::has_ended() const {
  return is_running() && written_.wait_for(std::chrono::seconds(0)) != std::future_status::timeout;
}

}  // namespace sluice
