#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "core/decomp/exchange/array_part.hpp"
#include "core/decomp/exchange/remote_mover.hpp"

namespace sluice {

/// The copies of a move of one rank.
class RemoteCopies {
 public:
  struct Copy {
    int peer;
    ArrayPart from, to;
    bool whole_rows;  ///< of both arrays, so that a plane is one piece of memory
  };

  RemoteCopies(RemoteRoute route, int rank) : route_(std::move(route)), rank_(rank) {}

  const RemoteRoute& route() const { return route_; }
  /// Bytes of this rank's shared arrays.
  std::size_t shared_bytes() const;
  /// Whether this rank accesses the shared arrays of `peer`, or `peer` those of this rank.
  bool accesses(int peer) const { return !common(rank_, peer).empty(); }
  bool is_accessed_by(int peer) const { return !common(peer, rank_).empty(); }
  /// The copies between `piece` of the arrays at `own` and those at `shared`, of `peer`.
  void add_to(std::vector<Copy>& copies, std::byte* own, std::byte* shared, int peer, const Box3& piece) const;

 private:
  /// What `rank` moves to or from the shared arrays of `owner`.
  Box3 common(int rank, int owner) const {
    return intersect(route_.own_boxes()[static_cast<std::size_t>(rank)],
                     route_.shared_boxes()[static_cast<std::size_t>(owner)]);
  }

  RemoteRoute route_;
  int rank_;
};

}  // namespace sluice
