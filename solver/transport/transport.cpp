// Advances the scalars: c* beside the momentum sweep, implicit diffusion and sources that hold a mean after it.
#include "solver/transport/transport.hpp"

#include <algorithm>
#include <utility>

#include "core/device/parallel_for.hpp"
#include "core/support/error.hpp"
#include "poisson/tridiagonal/line_plan.hpp"
#include "solver/physics/sources.hpp"
#include "solver/state/volume_mean.hpp"
#include "solver/transport/scalar_sweep.hpp"

namespace sluice {

namespace {

/// c += source response(z).
struct AddSource {
  View3<real> c;
  const real* response;
  real source;
  SLUICE_INLINE void operator()(int i, int j, int k) const { c(i, j, k) += source * response[k]; }
};

SourceArrays arrays_of_source(const ScalarArrays& a) {
  return {a.c, a.tendency, a.star, a.alpha_dt};
}

}  // namespace

Transport::Transport(const Communicator& comm, const Decomposition& decomposition, const Grid& grid,
                     const Metrics& metrics, const Walls& walls, const FlowParameters& flow, Exchange& exchange,
                     PoissonSolver& poisson)
    : grid_(&grid),
      comm_(comm.world()),
      metrics_(metrics),
      order_(flow.order),
      box_(decomposition.x_pencil(comm.rank())) {
  const std::vector<FieldDescriptor> fields = scalar_fields(flow);
  for (std::size_t n = 0; n < fields.size(); ++n) {
    const ScalarParameters& parameters = flow.scalars[n];
    const Source& source = source_of(parameters);
    Scalar scalar{.parameters = parameters,
                  .kappa = flow.diffusivity(parameters),
                  .star = make_field(fields[n], box_, order_),
                  .tendency = make_field(fields[n], box_, order_),
                  .implicit_z = {},
                  .implicit = {},
                  .loops = {},
                  .held_mean = source.held_mean(parameters),
                  .response = UniformResponse(box_)};
    if (auto loop = source.loop(parameters)) scalar.loops.push_back({std::move(loop)});
    if (flow.diffusion == Diffusion::implicit_z)
      scalar.implicit_z.emplace(comm, decomposition, grid, walls, std::vector{fields[n]}, flow.tridiagonal, exchange);
    if (flow.diffusion == Diffusion::implicit)
      scalar.implicit.emplace(grid, metrics, walls, order_, flow.periodic_z, std::vector{fields[n]}, poisson);
    scalars_.push_back(std::move(scalar));
  }
}

MemoryNeed Transport::memory(const Decomposition& decomposition, int rank, const FlowParameters& flow) {
  MemoryNeed need;
  for (const FieldDescriptor& field : scalar_fields(flow)) {
    need.held += 2 * field_memory(field, decomposition.x_pencil(rank), flow.order);  // c* and R
    if (flow.diffusion == Diffusion::implicit_z)
      need += ImplicitDiffusion::memory(decomposition, rank, 1, flow.tridiagonal);
    if (flow.diffusion == Diffusion::implicit)
      need += DiffusionInAllDirections::memory(decomposition, rank, false, flow.tridiagonal, flow.periodic_z);
  }
  return need;
}

PhaseWords Transport::words(const std::array<std::int64_t, 3>& cells, const ProcessGrid& processes,
                            const FlowParameters& flow, LineStrategy lines, bool first, bool last, bool corrects,
                            bool on_gpu) {
  PhaseWords words;
  for (const ScalarParameters& scalar : flow.scalars) {
    const Source& source = source_of(scalar);
    words[on_gpu ? TimedPhase::scalars : TimedPhase::momentum] += scalar_words(first, last, !on_gpu, corrects);
    if (on_gpu && source.loop(scalar)) words[TimedPhase::scalars] += SourceLoop::words;
    if (flow.diffusion == Diffusion::implicit_z) words[TimedPhase::scalars] += ImplicitDiffusion::words(lines, 1);
    if (flow.diffusion == Diffusion::implicit) {
      for (const auto& [phase, count] : DiffusionInAllDirections::words(cells, processes, lines, 1))
        words[phase] += count;
    }
    if (source.held_mean(scalar)) words[TimedPhase::scalars] += 3;  // its mean; then it is read and written
  }
  return words;
}

/// Calls action(scalar, arrays, form).
template <class Action>
void Transport::for_each_scalar(const VelocityToCorrect& velocity, const std::vector<TransportedField>& scalars,
                                const SubstepWeights& weights, const Action& action) {
  SLUICE_REQUIRE(scalars.size() == scalars_.size(), "the state has other scalars than the stepper");
  for (std::size_t n = 0; n < scalars_.size(); ++n) {
    Scalar& scalar = scalars_[n];
    const SourceInSweep source = source_of(scalar.parameters).in_sweep(scalar.parameters);
    const ScalarArrays arrays{.c = scalars[n].field.view(),
                              .tendency = scalar.tendency.view(),
                              .star = scalar.star.view(),
                              .m = metrics_,
                              .kappa = scalar.implicit ? 0 : static_cast<real>(scalar.kappa),
                              .uniform_source = static_cast<real>(source.uniform),
                              .streamwise_source = static_cast<real>(source.times_u),
                              .alpha_dt = static_cast<real>(weights.alpha_dt),
                              .beta_dt = static_cast<real>(weights.beta_dt),
                              .half_kappa_gamma_dt = static_cast<real>(weights.gamma_dt * scalar.kappa / 2),
                              .keeps_tendency = weights.keeps_tendency,
                              .velocity = velocity};
    action(scalar, arrays, SweepForm{order_, weights.beta_dt == 0, scalar.implicit_z.has_value()});
  }
}

void Transport::predict(const VelocityToCorrect& velocity, const std::vector<TransportedField>& scalars,
                        const SubstepWeights& weights) {
  for_each_scalar(velocity, scalars, weights,
                  [&](const Scalar& scalar, const ScalarArrays& arrays, const SweepForm& form) {
                    sweep_scalar(arrays, box_.local(), form);
                    for (const SourceWithLoop& source : scalar.loops)
                      source.loop->add(box_.local(), arrays_of_source(arrays));
                  });
}

void Transport::add_row_tasks(const VelocityToCorrect& velocity, const std::vector<TransportedField>& scalars,
                              const SubstepWeights& weights, RowTasks& tasks) {
  for_each_scalar(velocity, scalars, weights,
                  [&](const Scalar& scalar, const ScalarArrays& arrays, const SweepForm& form) {
                    tasks.push_back(scalar_row_task(arrays, box_.nx(), form));
                    for (const SourceWithLoop& source : scalar.loops)
                      tasks.push_back(source.loop->row_task(box_.nx(), arrays_of_source(arrays)));
                  });
}

void Transport::add_source(std::size_t scalar, std::shared_ptr<SourceLoop> source, double rate) {
  scalars_.at(scalar).loops.push_back({std::move(source), rate});
}

void Transport::remove_source(const SourceLoop& source) {
  std::size_t removed = 0;
  for (Scalar& scalar : scalars_)
    removed += std::erase_if(scalar.loops, [&](const SourceWithLoop& held) { return held.loop.get() == &source; });
  SLUICE_REQUIRE(removed == 1, "the source that is to be removed does not act");
}

/// Scalars do not depend on each other: the one with the fastest sources counts.
double Transport::added_rate() const {
  double fastest = 0;
  for (const Scalar& scalar : scalars_) {
    double sum = 0;
    for (const SourceWithLoop& source : scalar.loops) sum += source.added_rate;
    fastest = std::max(fastest, sum);
  }
  return fastest;
}

void Transport::set_time(double time) {
  for (Scalar& scalar : scalars_)
    for (const SourceWithLoop& source : scalar.loops) source.loop->set_time(time);
}

void Transport::diffuse(const std::vector<TransportedField>& scalars, double gamma_dt, Field& work,
                        PhaseTimers& timers) {
  for (std::size_t n = 0; n < scalars_.size(); ++n) {
    Scalar& scalar = scalars_[n];
    scalar.implicit->solve({&scalars[n].field}, {&scalar.star}, gamma_dt * scalar.kappa / 2, work, timers);
  }
}

void Transport::finish(double gamma_dt) {
  for (Scalar& scalar : scalars_) {
    if (scalar.implicit_z) scalar.implicit_z->solve({&scalar.star}, gamma_dt * scalar.kappa / 2);
    if (scalar.held_mean) hold_mean(scalar, gamma_dt);
  }
}

/// s = (target - <c*>) / (gamma dt <g>), c* += gamma dt s g, as the force that keeps the bulk velocity.
void Transport::hold_mean(Scalar& scalar, double gamma_dt) {
  if (scalar.implicit_z) scalar.implicit_z->find(scalar.response);
  if (scalar.implicit) scalar.implicit->find(scalar.response);
  const double missing = *scalar.held_mean - volume_mean(scalar.star, *grid_, metrics_, comm_);
  const double source = missing / scalar.response.gain(gamma_dt);
  parallel_for("scalar source", box_.local(),
               AddSource{scalar.star.view(), scalar.response.values(), static_cast<real>(gamma_dt * source)});
}

std::vector<Field*> Transport::advanced() {
  std::vector<Field*> fields;
  for (Scalar& scalar : scalars_) fields.push_back(&scalar.star);
  return fields;
}

void Transport::accept(std::vector<TransportedField>& scalars) {
  for (std::size_t n = 0; n < scalars_.size(); ++n) {
    std::swap(scalars[n].field, scalars_[n].star);
    std::swap(scalars_[n].star, scalars_[n].tendency);
  }
}

}  // namespace sluice
