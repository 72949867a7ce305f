#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "core/decomp/exchange/mpi_pieces.hpp"
#include "core/support/collective.hpp"

namespace sluice {

namespace {

/// For the blocks that each rank of `comm` sends.
std::shared_ptr<ChunkTuner> tuner_for(MPI_Comm comm, const BlockLayout& send) {
  std::array<unsigned long long, 2> most{};  // bytes of a block, and blocks
  for (const std::size_t bytes : send.bytes) {
    most[0] = std::max<unsigned long long>(most[0], bytes);
    most[1] += bytes > 0 ? 1 : 0;
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, most.data(), 2, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm), "MPI_Allreduce");
  return std::make_shared<ChunkTuner>(most[0], most[1]);
}

std::string name_of(MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME] = {};
  int length = 0;
  check_mpi(MPI_Comm_get_name(comm, name, &length), "MPI_Comm_get_name");
  return name;
}

/// Sends blocks in pieces, so that the stages of one block overlap too. PieceConnection (mpi_pieces.cpp) does this; its
/// ChunkTuner chooses the size of the pieces and the number in flight during the run.
/// Neighbours exchange whole blocks, since these are small.
class MpiPipelined : public MpiExchange {
 public:
  using MpiExchange::MpiExchange;

  std::vector<PieceTuning> piece_tuning() const override {
    std::vector<PieceTuning> list;
    for (const Tuned& mover : tuned_) {
      if (const auto tuner = mover.tuner.lock()) {
        list.push_back({"mpi_pipelined", mover.traffic, tuner->pieces(), tuner->whole(), !tuner->tuning(),
                        tuner->tunings(), tuner->tried(), mover.bytes_sent});
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
      tuner = tuner_for(route.comm, route.send);
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
