// Opposition control: w of a wall against w at some distance from it.
#include "solver/walls/opposition_control.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/decomp/host_access.hpp"
#include "core/device/buffer.hpp"
#include "core/device/parallel_for.hpp"
#include "core/support/collective.hpp"
#include "core/support/plain_text.hpp"

namespace sluice {

namespace {

/// The rows of a plane one after the other, y halo included.
struct PlaneRows {
  int nx, first_j;
  SLUICE_INLINE std::ptrdiff_t operator()(int i, int j) const {
    return static_cast<std::ptrdiff_t>(j - first_j) * nx + i;
  }
};

/// w of one plane.
struct PackPlane {
  WToCorrect w;
  int plane;
  real* rows;
  PlaneRows at;
  SLUICE_INLINE void operator()(int i, int j, int) const { rows[at(i, j)] = w.at(i, j, plane); }
};

struct UnpackPlane {
  const real* rows;
  PlaneRows at;
  View3<real> wall;
  SLUICE_INLINE void operator()(int i, int j, int) const { wall(i, j, 0) = rows[at(i, j)]; }
};

double height_of(const Actuation& actuation) {
  return actuation.further.of<OppositionParameters>().height;
}

class OppositionResponse final : public WallResponse {
 public:
  explicit OppositionResponse(const ResponseSetup& setup)
      : WallResponse(setup),
        face_(detection_face(setup.grid, setup.side, height_of(setup.actuation()))),
        message_(static_cast<std::size_t>(rows().volume())) {
    const std::vector<Box3> boxes =
        setup.comm.column_boxes([&](int rank) { return setup.decomposition.x_pencil(rank); });
    for (std::size_t z = 0; z < boxes.size(); ++z) {
      if (boxes[z].lo[2] <= face_ && face_ < boxes[z].hi[2]) detector_ = static_cast<int>(z);
    }
    const int here = setup.comm.z_index();
    first_plane_ = boxes[static_cast<std::size_t>(here)].lo[2];
    actor_ = setup.side == Walls::Side::bottom ? 0 : static_cast<int>(boxes.size()) - 1;
    if (detector_ != actor_ && (here == detector_ || here == actor_))
      image_ = HostImage(message_.data(), message_.bytes());
  }
  static double memory(const Box3& box, Order order) {
    return static_cast<double>(rows(box, order).volume()) * sizeof(real);
  }

  void respond(const VelocityToCorrect& velocity, const Metrics& metrics) override {
    bring(velocity.w(metrics));
    if (owns_wall()) parallel_for("detected w", rows(), UnpackPlane{message_.data(), in_message(), w().view()});
    oppose_fluctuation(setup().actuation().amplitude);
  }

 private:
  PlaneRows in_message() const { return {static_cast<int>(rows().extent(0)), static_cast<int>(rows().lo[1])}; }

  /// Brings the detected plane into message_ on the ranks that own the wall.
  void bring(const WToCorrect& w) {
    const Communicator& comm = setup().comm;
    const int here = comm.z_index();
    if (here == detector_) {
      const int k = static_cast<int>(face_ - first_plane_);
      parallel_for("detect w", rows(), PackPlane{w, k, message_.data(), in_message()});
    }
    if (detector_ == actor_ || (here != detector_ && here != actor_)) return;
    const std::size_t bytes = message_.bytes();
    constexpr int tag = 0;
    if (here == detector_) {
      device::synchronize();
      image_.fetch(0, bytes);
      check_mpi(MPI_Send(image_.data(), static_cast<int>(bytes), MPI_BYTE, actor_, tag, comm.column()), "MPI_Send");
    } else {
      check_mpi(
          MPI_Recv(image_.data(), static_cast<int>(bytes), MPI_BYTE, detector_, tag, comm.column(), MPI_STATUS_IGNORE),
          "MPI_Recv");
      image_.flush(0, bytes);
    }
  }

  std::int64_t face_;
  std::int64_t first_plane_ = 0;  ///< of the rank
  int detector_ = 0, actor_ = 0;  ///< ranks in the column that own the detection plane and the wall
  Buffer<real> message_;          ///< the detected plane
  HostImage image_;
};

class OppositionControl final : public WallActuation {
 public:
  std::string name() const override { return "opposition_control"; }
  std::string meaning() const override { return "w on the wall is -amplitude times w at a height above it"; }

  std::vector<ParameterKey> keys(const KeysOfWall& wall) const override {
    return {{.path = "amplitude",
             .value = ParameterValue{wall.common(&Actuation::amplitude)},
             .required = true,
             .unit = "1",
             .meaning = "the fraction of w that the wall opposes, usually 1."},
            {.path = "height",
             .value = ParameterValue{wall.parameter(&OppositionParameters::height)},
             .range = {.minimum = {0}, .above = true},
             .required = true,
             .unit = "h",
             .meaning = "Distance from the wall of the plane where w is detected, the nearest one of the grid.",
             .example = "0.08",
             .commented = true}};
  }
  std::vector<Synonym> synonyms() const override {
    return {{"z+", "height"}, {"z_plus", "height"}, {"y+", "height"}, {"y_plus", "height"}};
  }

  bool responds() const override { return true; }

  void use_outer_units(Actuation& actuation, const WallUnits& units) const override {
    actuation.further.edit<OppositionParameters>().height *= units.length();
  }

  void check(const Actuation& actuation, const std::string& path, const RuleReport& report) const override {
    const double height = height_of(actuation);
    if (!report.good("domain.size") || height < report.facts.size[2]) return;
    report.note(path + ".height",
                fmt::format("{} h from the wall is outside the domain; allowed: > 0 and < {}; for a height in wall "
                            "units, set units: wall and re_tau",
                            format_real(height), format_real(report.facts.size[2])));
  }

  std::unique_ptr<WallResponse> response(const ResponseSetup& setup) const override {
    return std::make_unique<OppositionResponse>(setup);
  }
  double memory(const Box3& box, Order order) const override { return OppositionResponse::memory(box, order); }

  std::string check_text(const CheckedWall& wall) const override {
    const auto face = static_cast<std::size_t>(detection_face(wall.grid, wall.side, height_of(wall.actuation)));
    const double z = wall.grid.z_nodes()[face + 1];
    const double distance = wall.side == Walls::Side::bottom ? z : wall.grid.length_z() - z;
    return fmt::format("opposes w of the plane at {:.4g} h from it, z+ {:.3g} with {}", distance,
                       distance * wall.units.per_length(), wall.units_name);
  }
};

}  // namespace

std::int64_t detection_face(const Grid& grid, Walls::Side side, double height) {
  const double z = side == Walls::Side::bottom ? height : grid.length_z() - height;
  const auto distance = [&](std::int64_t k) { return std::abs(grid.z_nodes()[static_cast<std::size_t>(k) + 1] - z); };
  std::int64_t nearest = 0;
  for (std::int64_t k = 1; k + 1 < grid.cells()[2]; ++k) {
    if (distance(k) < distance(nearest)) nearest = k;
  }
  return nearest;
}

const WallActuation& opposition_control() {
  static const OppositionControl type;
  return type;
}

}  // namespace sluice
