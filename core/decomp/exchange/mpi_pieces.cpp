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

void PieceConnection::cut_blocks(const Pieces& pieces) {
  if (pieces == pieces_) return;
  pieces_ = pieces;
  const int size = size_of(comm_);
  const int rank = rank_of(comm_);
  outgoing_.clear();
  outgoing_pieces_.clear();
  incoming_pieces_.clear();
  std::size_t largest_count = 1;
  for (int distance = 1; distance < size; ++distance) {
    const int target = (rank + distance) % size;
    const std::size_t first = outgoing_pieces_.size();
    cut(send_, target, pieces.bytes, outgoing_pieces_);
    const std::size_t end = outgoing_pieces_.size();
    if (end > first) outgoing_.push_back({target, distance, first, end});
    largest_count = std::max(largest_count, end - first);
    cut(receive_, (rank + size - distance) % size, pieces.bytes, incoming_pieces_);
  }
  overlapping_ = static_cast<int>(std::clamp<std::size_t>(limit() / largest_count, 1, missing_.size()));
  if (ready_.size() < outgoing_pieces_.size()) ready_.resize(outgoing_pieces_.size());
  requests_.assign(incoming_pieces_.size() + outgoing_pieces_.size(), MPI_REQUEST_NULL);
  completed_.resize(requests_.size());
}

void PieceConnection::begin() {
  start_ = wall_seconds();
  const std::size_t largest = std::min(largest_piece, max_message_bytes());
  Pieces pieces = tuner_ ? tuner_->pieces() : Pieces{largest};
  pieces.bytes = std::clamp(pieces.bytes / sizeof(real) * sizeof(real), sizeof(real), largest);
  cut_blocks(pieces);
  // Post receives first. The memory they overwrite must have been read: a host image by the last copies to the device,
  // a device buffer by earlier loops.
  buffers_->taken_in.wait();
  loops_.record();
  to_device_.wait_for(loops_);
  if (device::is_gpu() && !buffers_->receive_image.staged()) loops_.wait();
  std::fill(missing_.begin(), missing_.end(), 0);
  for (const Piece& piece : incoming_pieces_) ++missing_[static_cast<std::size_t>(piece.peer)];
  for (Outgoing& block : outgoing_) block.packed = false;
  posted_ = received_ = sent_ = sends_ended_ = 0;
  stages_received_ = 0;
  receive_in_order();
}

void PieceConnection::receive_in_order() {
  for (; posted_ < incoming_pieces_.size() && !is_full(posted_ - received_); ++posted_)
    receive(incoming_pieces_[posted_], requests_[posted_]);
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

PieceConnection::Waiting PieceConnection::send_what_is_ready() {
  const int size = size_of(comm_);
  const int rank = rank_of(comm_);
  while (stages_received_ + 1 < size &&
         missing_[static_cast<std::size_t>((rank + size - stages_received_ - 1) % size)] == 0)
    ++stages_received_;
  for (const Outgoing& block : outgoing_) {
    if (sent_ >= block.end) continue;
    if (!block.packed) return Waiting::for_device;
    if (limit() > 0 && block.distance > stages_received_ + overlapping_) return Waiting::for_messages;
    for (; sent_ < block.end; ++sent_) {
      if (is_full(sent_ - sends_ended_)) return Waiting::for_messages;
      if (!ready_[sent_].done()) return Waiting::for_device;
      send(outgoing_pieces_[sent_], requests_[incoming_pieces_.size() + sent_]);
    }
  }
  return Waiting::for_messages;
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
  const std::size_t incoming = incoming_pieces_.size();
  while (sent_ < outgoing_pieces_.size() || received_ < incoming) {
    const auto look = send_what_is_ready() == Waiting::for_device ? MPI_Testsome : MPI_Waitsome;
    const bool sends_count = limit() > 0 && sent_ < outgoing_pieces_.size();
    int count = 0;
    check_mpi(look(static_cast<int>(sends_count ? requests_.size() : incoming), requests_.data(), &count,
                   completed_.data(), MPI_STATUSES_IGNORE),
              "waiting for blocks");
    if (count == MPI_UNDEFINED) continue;  // none is in flight
    for (int n = 0; n < count; ++n) {
      const auto which = static_cast<std::size_t>(completed_[static_cast<std::size_t>(n)]);
      if (which >= incoming) {
        ++sends_ended_;
        continue;
      }
      ++received_;
      take_in(incoming_pieces_[which], arrived);
    }
    receive_in_order();
  }
  check_mpi(MPI_Waitall(static_cast<int>(outgoing_pieces_.size()), requests_.data() + incoming, MPI_STATUSES_IGNORE),
            "MPI_Waitall");
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
