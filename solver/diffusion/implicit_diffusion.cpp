// Implicit diffusion along z, eq. (5), or in all directions, eq. (5a): a substep solves it for u* and for each scalar
// before the Poisson equation.
#include "solver/diffusion/implicit_diffusion.hpp"

#include <type_traits>
#include <utility>

#include "core/decomp/field_copy.hpp"
#include "core/device/parallel_for.hpp"
#include "core/stencil/second_differences.hpp"
#include "poisson/poisson_solver.hpp"

namespace sluice {

namespace {

using Side = Walls::Side;

/// f += factor value / divisor on one plane: what is given at a wall, on the right-hand side.
struct AddWallValue {
  View3<real> f;
  int plane;
  WallValue value;
  double factor, divisor;
  SLUICE_INLINE void operator()(int i, int j, int) const {
    f(i, j, plane) += static_cast<real>(factor * value(i, j) / divisor);
  }
};

/// The matrices Lz of fields. Neighbours in the list share one if both are at centres and have equal wall conditions.
struct Matrices {
  std::vector<TridiagonalRows> rows;
  std::vector<std::size_t> of_field;
};

Matrices matrices_of(const std::vector<FieldDescriptor>& fields, const Grid& grid, const Walls& walls,
                     bool periodic_z = false) {
  Matrices matrices;
  if (periodic_z) {  // HelmholtzSolver makes it periodic
    matrices.rows.push_back(second_derivative_centers(grid.z_nodes(), WallRow::neumann, WallRow::neumann));
    matrices.of_field.assign(fields.size(), 0);
    return matrices;
  }
  const FieldDescriptor* last = nullptr;
  for (const FieldDescriptor& field : fields) {
    const auto row = [&](const FieldDescriptor& of, Side side) { return walls.row(side, of); };
    const bool faces = field.location == Location::z_face;
    const bool known = last != nullptr && !faces && last->location != Location::z_face &&
                       row(field, Side::bottom) == row(*last, Side::bottom) &&
                       row(field, Side::top) == row(*last, Side::top);
    if (!known) {
      matrices.rows.push_back(
          faces ? second_derivative_faces(grid.z_nodes())
                : second_derivative_centers(grid.z_nodes(), row(field, Side::bottom), row(field, Side::top)));
    }
    matrices.of_field.push_back(matrices.rows.size() - 1);
    last = &field;
  }
  return matrices;
}

/// Adds to f, in the rows next to walls, c times what the values given there add to the second difference along z.
void add_wall_values(const Grid& grid, const Walls& walls, const FieldDescriptor& descriptor, Field& f, double c) {
  // What is known at the wall goes to the right-hand side. For a field at centres, Lz in a wall row is
  // (f_1 - f_0)/(dz_c dz_0) - 2 (f_0 - f_wall)/(dz_0 (dz_0 + 2 l)), where l is the slip length, or, for a given
  // gradient, (f_1 - f_0)/(dz_c dz_0) - (df/dz)_wall/dz_0; for w, in the row next to the wall,
  // ((w_1 - w_0)/dz_1 - (w_0 - w_wall)/dz_0)/dz_c.
  for (const Side side : Walls::sides) {
    const WallValue value = walls.value(side, descriptor);
    if (!walls.owns(side) || value.is_zero()) continue;
    const bool bottom = side == Side::bottom;
    const std::int64_t last = grid.cells()[2] - 1;
    const double dz = grid.dz(bottom ? 0 : last);
    const WallRow row = walls.row(side, descriptor);
    const int at_top = f.box().nz() - 1;
    AddWallValue add{f.view(), bottom ? 0 : at_top, value, 2 * c, dz * (dz + 2 * row.slip_length)};
    if (descriptor.location == Location::z_face) {
      add.plane = bottom ? 0 : at_top - 1;
      add.divisor = dz * (2 * grid.dz_center(bottom ? 0 : last - 1));
    } else if (row == WallRow::neumann) {
      add.factor = bottom ? -c : c;
      add.divisor = dz;
    }
    parallel_for("wall value", box_of(f.box().nx(), f.box().ny(), 1), add);
  }
}

/// The right-hand side of eq. (5a) in one cell.
template <Order order, bool faces>
struct FormRightHandSide {
  using CellType = op::CellFor<order>;
  View3<const real> old, star;
  View3<real> out;
  Metrics m;
  real c;
  SLUICE_INLINE void operator()(CellType cell) const {
    real sum = op::d2dx2<order>(old, cell, m) + op::d2dy2<order>(old, cell, m);
    if constexpr (faces) {
      sum += op::d2dz2_face(old, cell, m);
    } else {
      sum += op::d2dz2_center(old, cell, m);
    }
    out(cell.i, cell.j, cell.k) = multiply_add(c, sum, star(cell.i, cell.j, cell.k));
  }
};

}  // namespace

ImplicitDiffusion::ImplicitDiffusion(const Communicator& comm, const Decomposition& decomposition, const Grid& grid,
                                     const Walls& walls, std::vector<FieldDescriptor> fields, TridiagonalMethod method,
                                     Exchange& exchange)
    : grid_(&grid),
      walls_(&walls),
      fields_(std::move(fields)),
      matrix_of_(matrices_of(fields_, grid, walls).of_field),
      solver_(comm, decomposition, matrices_of(fields_, grid, walls).rows, static_cast<int>(fields_.size()), method,
              exchange) {}

void ImplicitDiffusion::solve(const std::vector<Field*>& stars, double c) {
  SLUICE_REQUIRE(stars.size() == fields_.size(), "as many fields as descriptors");
  std::vector<ZHelmholtzSolver::Task> tasks;
  for (std::size_t n = 0; n < stars.size(); ++n) {
    add_wall_values(*grid_, *walls_, fields_[n], *stars[n], c);
    if (fields_[n].location == Location::z_face) walls_->apply_normal(*stars[n]);
    tasks.push_back({stars[n], matrix_of_[n]});
  }
  solver_.prepare(c);
  solver_.solve(tasks);
}

void ImplicitDiffusion::find(UniformResponse& response) const {
  response.set(solver_.solve_profile(std::vector<double>(static_cast<std::size_t>(grid_->cells()[2]), 1.0)), *grid_);
}

DiffusionInAllDirections::DiffusionInAllDirections(const Grid& grid, const Metrics& metrics, const Walls& walls,
                                                   Order order, bool periodic_z, std::vector<FieldDescriptor> fields,
                                                   PoissonSolver& poisson)
    : grid_(&grid),
      metrics_(metrics),
      walls_(&walls),
      order_(order),
      periodic_z_(periodic_z),
      fields_(std::move(fields)),
      matrix_of_(matrices_of(fields_, grid, walls, periodic_z).of_field),
      solver_(poisson, matrices_of(fields_, grid, walls, periodic_z).rows) {}

MemoryNeed DiffusionInAllDirections::memory(const Decomposition& decomposition, int rank, bool velocity,
                                            TridiagonalMethod method, bool periodic_z) {
  return HelmholtzSolver::memory(decomposition, rank, velocity && !periodic_z ? 2 : 1, method, periodic_z);
}

PhaseWords DiffusionInAllDirections::words(const std::array<std::int64_t, 3>& cells, const ProcessGrid& processes,
                                           LineStrategy lines, int fields) {
  PhaseWords words = PoissonSolver::words(cells, processes, lines);
  for (auto& [phase, count] : words) count *= fields;
  words[TimedPhase::implicit_diffusion] += 5 * fields;  // forms the right-hand side, copies the solution
  return words;
}

void DiffusionInAllDirections::solve(const std::vector<const Field*>& old, const std::vector<Field*>& stars, double c,
                                     Field& work, PhaseTimers& timers) {
  SLUICE_REQUIRE(old.size() == fields_.size() && stars.size() == fields_.size(), "as many fields as descriptors");
  {
    const PhaseTimers::Scope scope(timers, TimedPhase::implicit_diffusion);
    solver_.prepare(c);
  }
  for (std::size_t n = 0; n < stars.size(); ++n) {
    Field& star = *stars[n];
    const bool faces = fields_[n].location == Location::z_face;
    const bool on_wall = faces && !periodic_z_;  // its uppermost plane, which is not coupled to the others
    {
      const PhaseTimers::Scope scope(timers, TimedPhase::implicit_diffusion);
      if (on_wall) walls_->apply_normal(star);
      add_wall_values(*grid_, *walls_, fields_[n], star, c);
      op::with_order(order_, [&](auto order) {
        const auto form = [&](auto at_faces) {
          parallel_for("diffusion", star.local_box(),
                       FormRightHandSide<order, at_faces>{old[n]->view(), std::as_const(star).view(), work.view(),
                                                          metrics_, static_cast<real>(c)});
        };
        faces ? form(std::true_type()) : form(std::false_type());
      });
    }
    solver_.solve(work, matrix_of_[n], timers);
    const PhaseTimers::Scope scope(timers, TimedPhase::implicit_diffusion);
    copy_cells(work, star);
    if (on_wall) walls_->apply_normal(star);
  }
}

void DiffusionInAllDirections::find(UniformResponse& response) const {
  response.set(solver_.solve_profile(std::vector<double>(static_cast<std::size_t>(grid_->cells()[2]), 1.0)), *grid_);
}

}  // namespace sluice
