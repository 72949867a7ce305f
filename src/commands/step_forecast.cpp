#include "src/commands/step_forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "core/decomp/halo_exchange.hpp"
#include "core/decomp/transpose_need.hpp"
#include "core/support/error.hpp"
#include "core/support/phases.hpp"
#include "core/support/real.hpp"
#include "model/field_descriptor.hpp"
#include "poisson/tridiagonal/line_solver.hpp"
#include "solver/physics/terms.hpp"
#include "solver/rk3.hpp"
#include "solver/walls/actuations.hpp"
#include "src/bench/phase_words.hpp"

namespace sluice {

namespace {

/// How much longer split tiles take than tiles, for the rows near the ends, which they read and write once more.
/// Measured on two H100s; the share depends on how far changes of the ends reach, so it is larger for thinner slabs.
double factor_of_ends(TimedPhase phase, LineStrategy strategy) {
  if (strategy != LineStrategy::split_tiles) return 1;
  return phase == TimedPhase::tridiagonal ? 1.17 : phase == TimedPhase::implicit_diffusion ? 1.06 : 1;
}

/// Phases that do not grow with the number of points, or that one device does not have.
bool is_proportional(const std::string& name) {
  const std::optional<TimedPhase> phase = phase_named(name);
  return phase != TimedPhase::halo_exchange && phase != TimedPhase::time_step && phase != TimedPhase::transpose;
}

/// Where a line through the times of a large and a small grid meets 0 points; none if the grids cannot tell.
std::optional<double> seconds_without_points(const MeasuredStep& large, const MeasuredStep& small) {
  const bool alike = large.precision == small.precision && large.order == small.order &&
                     large.diffusion == small.diffusion && large.z_lines == small.z_lines;
  if (!alike || !large.seconds || !small.seconds || large.points() < 2 * small.points()) return std::nullopt;
  const double per_point = (*large.seconds - *small.seconds) / (large.points() - small.points());
  return *small.seconds - per_point * small.points();
}

/// What one device needs for the points of its own: seconds per point of each phase, and seconds of a step beside them.
class OneDevice {
 public:
  OneDevice(const Machine& machine, const FlowParameters& flow, const std::array<std::int64_t, 3>& cells)
      : flow_(flow), cells_(cells) {
    const int order = flow.order == Order::fourth ? 4 : 2;
    const std::string diffusion = flow.diffusion == Diffusion::implicit_z ? "implicit_z" : "explicit";
    for (const MeasuredStep& step : machine.steps) {
      const bool fits =
          (step.order == order || step.order == 0) && (step.diffusion == diffusion || step.diffusion.empty());
      if (step.precision == precision_name && fits) steps_.push_back(&step);
    }
    std::ranges::stable_sort(steps_, std::greater(), &MeasuredStep::points);
    const auto largest =
        std::ranges::find_if(steps_, [](const MeasuredStep* step) { return step->seconds && !step->phases.empty(); });
    if (largest == steps_.end())
      throw Error(ExitCode::usage,
                  fmt::format("the machine file has no step of order {}, diffusion {} and {} precision: measure it on "
                              "one device by `sluice bench step --order {} --diffusion {} --json FILE`, and add FILE "
                              "to its steps",
                              order, diffusion, precision_name, order, diffusion));
    largest_ = *largest;
    double sum = 0;
    for (const auto& [phase, seconds] : largest_->phases) sum += is_proportional(phase) ? seconds : 0;
    fixed_ = std::max(0.0, seconds_without_points(machine).value_or(*largest_->seconds - sum));
    if (sum > 0) scale_ = (*largest_->seconds - fixed_) / sum;
  }

  const MeasuredStep& largest() const { return *largest_; }
  /// Of a step of any size: the start of kernels, loops too short to fill the device.
  double fixed() const { return fixed_; }

  /// Seconds of each phase for so many points.
  std::map<std::string, double> phases(double points, LineStrategy strategy) const {
    std::map<std::string, double> phases;
    for (const auto& [phase, seconds] : largest_->phases) {
      if (!is_proportional(phase)) continue;
      const MeasuredStep& source = source_of(phase, strategy);
      const double per_point = source.phases.at(phase) / source.points();
      phases[phase] = scale_ * per_point * points * words(phase, strategy) / words(phase, source.z_lines);
    }
    return phases;
  }

 private:
  /// Of steps like the largest one; otherwise of any, because all start about as many kernels.
  std::optional<double> seconds_without_points(const Machine& machine) const {
    std::optional<double> of_any;
    for (const MeasuredStep& small : machine.steps) {
      if (const auto seconds = sluice::seconds_without_points(*largest_, small)) return seconds;
      for (const MeasuredStep& large : machine.steps) {
        if (large.precision != largest_->precision) continue;
        if (const auto seconds = sluice::seconds_without_points(large, small)) of_any = seconds;
      }
    }
    return of_any;
  }

  /// The measurement to take a phase from: transforms from the grid with the nearest length, systems along z from the
  /// largest where they were solved in this way, all others from the largest of all.
  const MeasuredStep& source_of(const std::string& name, LineStrategy strategy) const {
    const bool along_z = words(name, LineStrategy::condensed) != words(name, LineStrategy::tiles);
    const std::optional<TimedPhase> phase = phase_named(name);
    const auto distance = [&](const MeasuredStep& step) {
      if (along_z) return step.z_lines == strategy ? 0.0 : 1.0;
      if (phase != TimedPhase::fft_x && phase != TimedPhase::fft_y) return 0.0;
      const std::size_t axis = phase == TimedPhase::fft_x ? 0 : 1;
      return std::abs(std::log(static_cast<double>(step.cells[axis]) / static_cast<double>(cells_[axis])));
    };
    const MeasuredStep* nearest = largest_;
    for (const MeasuredStep* step : steps_)
      if (step->phases.contains(name) && distance(*step) < distance(*nearest)) nearest = step;
    return *nearest;
  }

  /// 1 for a phase that other versions of the program had.
  double words(const std::string& name, LineStrategy strategy) const {
    const std::optional<TimedPhase> phase = phase_named(name);
    if (!phase) return 1;
    const auto all = min_words("step", largest_->cells, flow_, {}, strategy);
    const auto found = all.find(*phase);
    return found == all.end() || found->second == 0 ? 1 : found->second * factor_of_ends(*phase, strategy);
  }

  const FlowParameters& flow_;
  std::array<std::int64_t, 3> cells_;       ///< of the case
  std::vector<const MeasuredStep*> steps_;  ///< of this flow and precision, the largest grid first
  const MeasuredStep* largest_ = nullptr;
  double fixed_ = 0;
  double scale_ = 1;  ///< of phases, so that their sum is the time of a whole step, in which they are not timed
};

/// Seconds of the exchanges of one rank in a step.
class RankExchanges {
 public:
  RankExchanges(const Machine& machine, const Decomposition& decomposition, double triad, int rank)
      : machine_(machine),
        decomposition_(decomposition),
        processes_(decomposition.processes()),
        triad_(triad),
        rank_(rank) {}

  /// Transposes between x and y pencils, both ways.
  double transposes() const {
    if (processes_.py == 1) return 0;
    const ExchangeNeed need = transpose_need<std::complex<real>>(decomposition_.spectral_x_pencil(rank_),
                                                                 decomposition_.spectral_y_pencil(rank_));
    std::vector<int> others;
    for (int y = 0; y < processes_.py; ++y) others.push_back(processes_.rank(y, processes_.z_index(rank_)));
    return 2 * seconds(need.messages, need.transposed, others);
  }

  /// Values of z lines made whole for solves of `systems` systems, and returned. `components`: of a coefficient of the
  /// lines.
  double lines(const LineBoxes& boxes, LineStrategy strategy, int components, int systems) const {
    if (processes_.pz == 1) return 0;
    LinePlan plan = plan_lines(decomposition_, processes_.z_index(rank_), strategy);
    if (plan.is_condensed()) plan.systems = systems;
    const ExchangeNeed need = line_solver_need(boxes, plan, components).columns;
    std::vector<int> others;
    for (int z = 0; z < processes_.pz; ++z) others.push_back(processes_.rank(processes_.y_index(rank_), z));
    const double exchanges = 2.0 * systems / plan.systems;
    return exchanges * seconds(need.messages, need.transposed, others);
  }

  /// The halos of a substep: v* and w*, phi, and then all fields. docs/equations.md has the stencils.
  double halos(const FlowParameters& flow) const {
    const bool wide = flow.order == Order::fourth;
    std::vector<FieldDescriptor> fields = fields_of(flow);
    if (flow.diffusion == Diffusion::explicit_) fields.erase(fields.begin() + pressure_field);
    std::vector<HaloWidth> widths;
    for (const FieldDescriptor& field : fields) widths.push_back(halo_of(field, flow.order));
    return along_y({{1, 0}}, wide ? 1.5 : 0.5) + along_z({{0, 1}}, 0.5) +                 // v*, w*
           along_y({{1, 0}}, wide ? 1.5 : 1) + along_z({{reach_of(flow.order), 1}}, 1) +  // phi
           along_y(widths, 1) + along_z(widths, 1);
  }

 private:
  /// The neighbours along an axis, each with `share` of the layers of a halo on one side.
  double along_y(const std::vector<HaloWidth>& widths, double share) const {
    if (processes_.py == 1) return 0;
    const int y = processes_.y_index(rank_);
    const int z = processes_.z_index(rank_);
    const double bytes = HaloExchange::memory(box(), {processes_.py, 1}, widths).halos.messages * share;
    return seconds(
        bytes, bytes,
        {processes_.rank((y + 1) % processes_.py, z), processes_.rank((y + processes_.py - 1) % processes_.py, z)});
  }

  double along_z(const std::vector<HaloWidth>& widths, double share) const {
    if (processes_.pz == 1) return 0;
    std::vector<int> others;
    for (const int z : {processes_.z_index(rank_) - 1, processes_.z_index(rank_) + 1}) {
      if (z >= 0 && z < processes_.pz) others.push_back(processes_.rank(processes_.y_index(rank_), z));
    }
    const double both_sides = HaloExchange::memory(box(), {1, processes_.pz}, widths).halos.messages * share;
    const double bytes = both_sides / 2 * static_cast<double>(others.size());
    return seconds(bytes, bytes, others);
  }

  Box3 box() const { return decomposition_.x_pencil(rank_); }

  /// An exchange of `bytes`, the same part with each of the others, of an array of `array_bytes`. Links work at the
  /// same time, and at the same time as the loop that reads and writes the array. What leaves the host is packed before
  /// and unpacked afterwards.
  double seconds(double bytes, double array_bytes, const std::vector<int>& ranks) const {
    double near = 0;
    double far = 0;
    for (const int other : ranks) {
      if (other == rank_) continue;
      (other / machine_.devices_per_host == rank_ / machine_.devices_per_host ? near : far) += 1;
    }
    if (near + far == 0) return 0;
    const double far_bytes = bytes * far / (near + far);
    const double in_memory = 2 * array_bytes / triad_;
    const double in_links = std::max(time_of(near, machine_.host, "host", bytes - far_bytes),
                                     time_of(far, machine_.network, "network", far_bytes));
    return std::max(in_memory, in_links) + 4 * far_bytes / triad_;
  }

  static double time_of(double messages, const std::optional<Link>& link, const char* name, double bytes) {
    if (messages == 0) return 0;
    if (!link)
      throw Error(
          ExitCode::usage,
          fmt::format("the machine file has no links.{}, which so many devices need: docs/forecast.md says how to "
                      "measure it",
                      name));
    return link->seconds + (messages - 1) * link->seconds_per_further + bytes / link->bytes_per_second;
  }

  const Machine& machine_;
  const Decomposition& decomposition_;
  ProcessGrid processes_;
  double triad_;
  int rank_;
};

}  // namespace

double StepForecast::seconds() const {
  double sum = 0;
  for (const auto& [phase, seconds] : phases) sum += seconds;
  return sum;
}

StepForecast forecast_step(const Machine& machine, const FlowParameters& flow, const Decomposition& decomposition) {
  return forecast_step(machine, flow, decomposition, line_strategy(decomposition, flow.tridiagonal, machine.is_gpu()));
}

StepForecast forecast_step(const Machine& machine, const FlowParameters& flow, const Decomposition& decomposition,
                           LineStrategy strategy) {
  const OneDevice device(machine, flow, decomposition.cells());
  const ProcessGrid& processes = decomposition.processes();
  std::int64_t largest = 0;
  for (int rank = 0; rank < processes.size(); ++rank)
    largest = std::max(largest, decomposition.x_pencil(rank).volume());
  std::map<std::string, double> phases = device.phases(static_cast<double>(largest), strategy);

  // The ranks of a host in the middle have neighbours on all sides, in their host and in others.
  std::map<TimedPhase, double> exchanges;
  const auto raise = [&](TimedPhase phase, double seconds) {
    exchanges[phase] = std::max(exchanges[phase], Rk3::substeps * seconds);
  };
  const int middle = processes.rank(0, processes.pz / 2) / machine.devices_per_host * machine.devices_per_host;
  for (int rank = middle; rank < std::min(middle + machine.devices_per_host, processes.size()); ++rank) {
    const RankExchanges of_rank(machine, decomposition, device.largest().triad, rank);
    raise(TimedPhase::transpose, of_rank.transposes());
    raise(TimedPhase::tridiagonal, of_rank.lines(spectral_lines(decomposition, rank), strategy, 2, 1));
    if (flow.diffusion == Diffusion::implicit_z)
      raise(TimedPhase::implicit_diffusion, of_rank.lines(field_lines(decomposition, rank), strategy, 1, 3));
    raise(TimedPhase::halo_exchange, of_rank.halos(flow));
  }
  for (const auto& [phase, seconds] : exchanges) phases[name_of(phase)] += seconds;

  // The sum of u* in each substep and the time step's maximum.
  const double hosts = std::ceil(static_cast<double>(processes.size()) / machine.devices_per_host);
  const double sums =
      hosts > 1 && machine.network ? (Rk3::substeps + 1) * std::ceil(std::log2(hosts)) * machine.network->seconds : 0;
  phases["start of kernels"] = device.fixed();
  phases["sums over hosts"] = sums;

  StepForecast forecast;
  std::ranges::copy_if(phases, std::back_inserter(forecast.phases), [](const auto& phase) { return phase.second > 0; });
  std::ranges::stable_sort(forecast.phases, std::greater(), [](const auto& phase) { return phase.second; });
  const auto points =
      static_cast<double>(decomposition.cells()[0] * decomposition.cells()[1] * decomposition.cells()[2]);
  const double of_one = device.largest().points() / *device.largest().seconds;
  forecast.efficiency = points / forecast.seconds() / (of_one * processes.size());
  return forecast;
}

bool is_incomplete_forecast(const FlowParameters& flow) {
  return !flow.scalars.empty() || flow.periodic_z || !active_terms(flow).empty() ||
         flow.forcing.kind == ForcingKind::power || has_responses(flow);
}

}  // namespace sluice
