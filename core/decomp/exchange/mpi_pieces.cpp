#include "core/decomp/exchange/mpi_pieces.hpp"

#include <algorithm>
#include <utility>

#include "core/device/memory.hpp"
#include "core/device/timers.hpp"
#include "core/support/collective.hpp"

namespace sluice {

namespace {

constexpr std::size_t largest_piece = std::size_t{1} << 30;

}  // namespace

PieceConnection::PieceConnection(const Route& route, MpiBuffers& buffers, std::shared_ptr<ChunkTuner> tuner)
    : MpiConnection(route, buffers), tuner_(std::move(tuner)), missing_(receive_.bytes.size()) {}

void PieceConnection::cut_blocks(std::size_t piece_bytes) {
  if (piece_bytes == piece_bytes_) return;
  piece_bytes_ = piece_bytes;
  const int size = size_of(comm_);
  const int rank = rank_of(comm_);
  outgoing_.clear();
  outgoing_pieces_.clear();
  incoming_pieces_.clear();
  for (int step = 1; step < size; ++step) {
    const int target = (rank + step) % size;
    const std::size_t first = outgoing_pieces_.size();
    cut(send_, target, piece_bytes, outgoing_pieces_);
    if (outgoing_pieces_.size() > first) outgoing_.push_back({target, first, outgoing_pieces_.size()});
    cut(receive_, (rank + size - step) % size, piece_bytes, incoming_pieces_);
  }
  if (ready_.size() < outgoing_pieces_.size()) ready_.resize(outgoing_pieces_.size());
  sends_.assign(outgoing_pieces_.size(), MPI_REQUEST_NULL);
  receives_.assign(incoming_pieces_.size(), MPI_REQUEST_NULL);
  completed_.resize(incoming_pieces_.size());
}

void PieceConnection::begin() {
  start_ = wall_seconds();
  const std::size_t largest = std::min(largest_piece, max_message_bytes());
  const std::size_t chunk = tuner_ ? tuner_->chunk() : largest;
  cut_blocks(std::clamp(chunk / sizeof(real) * sizeof(real), sizeof(real), largest));
  // Post receives first. The memory they overwrite must have been read: a host image by the last copies to the device,
  // a device buffer by earlier loops.
  buffers_->taken_in.wait();
  loops_.record();
  to_device_.wait_for(loops_);
  if (device::is_gpu() && !buffers_->receive_image.staged()) loops_.wait();
  std::fill(missing_.begin(), missing_.end(), 0);
  for (std::size_t n = 0; n < incoming_pieces_.size(); ++n) {
    const Piece& piece = incoming_pieces_[n];
    ++missing_[static_cast<std::size_t>(piece.peer)];
    receive(piece, receives_[n]);
  }
  for (Outgoing& block : outgoing_) block.packed = false;
  sent_ = 0;
}

void PieceConnection::packed(int peer) {
  const auto block = std::ranges::find(outgoing_, peer, &Outgoing::peer);
  if (block == outgoing_.end() || block->packed) return;
  block->packed = true;
  loops_.record();
  to_host_.wait_for(loops_);
  for (std::size_t n = block->first; n < block->end; ++n) {
    const Piece& piece = outgoing_pieces_[n];
    buffers_->send_image.fetch(piece.offset, piece.bytes, to_host_);  // nothing to do where MPI reads the buffer itself
    to_host_.record(ready_[n]);
  }
  send_what_is_ready();
}

void PieceConnection::send_what_is_ready() {
  for (const Outgoing& block : outgoing_) {
    if (sent_ >= block.end) continue;
    if (!block.packed) return;
    for (; sent_ < block.end; ++sent_) {
      const Piece& piece = outgoing_pieces_[sent_];
      if (!ready_[sent_].done()) return;
      send(piece, sends_[sent_]);
    }
  }
}

void PieceConnection::take_in(const Piece& piece, const std::function<void(int)>& arrived) {
  buffers_->receive_image.flush(piece.offset, piece.bytes, to_device_);
  if (--missing_[static_cast<std::size_t>(piece.peer)] > 0) return;
  to_device_.record(buffers_->taken_in);
  device::loops_wait_for(buffers_->taken_in);
  arrived(piece.peer);
}

void PieceConnection::depart() {
  for (const Outgoing& block : outgoing_) packed(block.peer);
}

void PieceConnection::run(const std::function<void(int)>& arrived) {
  std::size_t received = 0;
  while (sent_ < outgoing_pieces_.size() || received < incoming_pieces_.size()) {
    send_what_is_ready();
    int count = 0;
    const auto look = sent_ < outgoing_pieces_.size() ? MPI_Testsome : MPI_Waitsome;
    check_mpi(
        look(static_cast<int>(receives_.size()), receives_.data(), &count, completed_.data(), MPI_STATUSES_IGNORE),
        "waiting for blocks");
    if (count == MPI_UNDEFINED) continue;  // no receives are left
    for (int n = 0; n < count; ++n) {
      take_in(incoming_pieces_[static_cast<std::size_t>(completed_[static_cast<std::size_t>(n)])], arrived);
    }
    received += static_cast<std::size_t>(count);
  }
  check_mpi(MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  to_device_.record(buffers_->taken_in);
  if (tuner_) tune(wall_seconds() - start_);
}

void PieceConnection::tune(double seconds) {
  auto time = tuner_->finished(seconds);
  if (!time) return;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &*time, 1, MPI_DOUBLE, MPI_MAX, comm_), "MPI_Allreduce");
  tuner_->agree(*time);
}

}  // namespace sluice
