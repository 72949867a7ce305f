#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/decomp/exchange/mpi_pieces.hpp"
#include "core/support/collective.hpp"

namespace sluice {

namespace {

/// Bytes of the largest block that any rank of `comm` sends.
std::size_t largest_block(MPI_Comm comm, const BlockLayout& send) {
  unsigned long long largest = 0;
  for (const std::size_t bytes : send.bytes) largest = std::max<unsigned long long>(largest, bytes);
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm), "MPI_Allreduce");
  return largest;
}

std::string name_of(MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME] = {};
  int length = 0;
  check_mpi(MPI_Comm_get_name(comm, name, &length), "MPI_Comm_get_name");
  return name;
}

/// Sends blocks in pieces, so that the stages of one block overlap too. PieceConnection (mpi_pieces.cpp) does this; its
/// ChunkTuner chooses the piece size during the run.
/// Neighbours exchange whole blocks, since these are small.
class MpiPipelined : public MpiExchange {
 public:
  using MpiExchange::MpiExchange;

  std::vector<PieceTuning> piece_tuning() const override {
    std::vector<PieceTuning> list;
    for (const Tuned& mover : tuned_) {
      if (const auto tuner = mover.tuner.lock()) {
        list.push_back({"mpi_pipelined", mover.traffic, tuner->chunk(), tuner->whole(), !tuner->tuning(),
                        tuner->tried_sizes(), mover.bytes_sent});
      }
    }
    return list;
  }

 private:
  struct Tuned {
    std::string traffic;
    std::size_t bytes_sent;
    std::weak_ptr<const ChunkTuner> tuner;  ///< the mover may be gone
  };

  std::unique_ptr<Connection> connect(const Route& route) override {
    std::shared_ptr<ChunkTuner> tuner;
    if (route.traffic == Traffic::all_to_all) {
      tuner = std::make_shared<ChunkTuner>(largest_block(route.comm, route.send));
      const auto& bytes = route.send.bytes;
      tuned_.push_back({name_of(route.comm), std::accumulate(bytes.begin(), bytes.end(), std::size_t{0}), tuner});
    }
    return std::make_unique<PieceConnection>(route, buffers_, std::move(tuner));
  }

  std::vector<Tuned> tuned_;
};

}  // namespace

std::unique_ptr<Exchange> make_mpi_pipelined(MPI_Comm world) {
  return std::make_unique<MpiPipelined>(world);
}

}  // namespace sluice
