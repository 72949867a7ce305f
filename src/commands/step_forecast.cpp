#include "src/commands/step_forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "core/decomp/halo_exchange.hpp"
#include "core/support/error.hpp"
#include "core/support/phases.hpp"
#include "core/support/real.hpp"
#include "io/case/case.hpp"
#include "model/field_descriptor.hpp"
#include "poisson/poisson_solver.hpp"
#include "poisson/tridiagonal/line_solver.hpp"
#include "solver/physics/terms.hpp"
#include "solver/time_stepper.hpp"
#include "solver/walls/actuations.hpp"

namespace sluice {

namespace {

/// How much longer split tiles take than tiles, for the rows near the ends, which they read once more. Measured on two
/// H100s; the share depends on how far an end reaches, so it is larger for thinner slabs.
double factor_of_ends(TimedPhase phase, LineStrategy strategy) {
  if (strategy != LineStrategy::split_tiles) return 1;
  return phase == TimedPhase::tridiagonal ? 1.17 : phase == TimedPhase::implicit_diffusion ? 1.06 : 1;
}

/// A line through points (x, y), straight between neighbours. Beyond the first and the last point it goes on as from
/// the nearest point whose x differs by a factor of two or more; without such a point, as from (0, 0).
class PiecewiseLine {
 public:
  /// Of several points with the same x, the first counts.
  void add(double x, double y) { points_.emplace(x, y); }

  double at(double x) const {
    if (points_.empty()) return 0;
    const auto right = points_.lower_bound(x);
    if (right == points_.begin()) {
      const Point end = *right;
      const auto far = std::ranges::find_if(
          points_, [&](const auto& point) { return point.first > end.first && point.first >= 2 * end.first; });
      return through(end, far == points_.end() ? Point() : Point(*far), x);
    }
    if (right == points_.end()) {
      const Point end = *points_.rbegin();
      const auto near = points_.upper_bound(end.first / 2);  // the point after the one to go on from
      return through(end, near == points_.begin() ? Point() : Point(*std::prev(near)), x);
    }
    return through(*std::prev(right), *right, x);
  }

  std::size_t size() const { return points_.size(); }

 private:
  using Point = std::pair<double, double>;

  static double through(const Point& a, const Point& b, double x) {
    return std::lerp(a.second, b.second, (x - a.first) / (b.first - a.first));
  }

  std::map<double, double> points_;
};

/// Whether a phase grows with the number of points: not exchanges, which one device does not have, nor the maximum for
/// the time step.
bool grows_with_points(const std::string& name) {
  const std::optional<TimedPhase> phase = phase_named(name);
  return phase != TimedPhase::halo_exchange && phase != TimedPhase::time_step && phase != TimedPhase::transpose;
}

/// Time of a step without points, which only starts kernels: from the flow with the most measured grids, because all
/// flows start about as many kernels.
double seconds_without_points(const Machine& machine) {
  std::map<std::pair<int, std::string>, PiecewiseLine> flows;
  for (const MeasuredStep& step : machine.steps)
    if (step.precision == precision_name && step.seconds)
      flows[{step.order, step.diffusion}].add(step.points(), *step.seconds);
  const auto most = std::ranges::max_element(flows, {}, [](const auto& flow) { return flow.second.size(); });
  return most == flows.end() ? 0 : std::max(0.0, most->second.at(0));
}

/// What one device needs for the points of its own, from the steps that were measured on one.
class OneDevice {
 public:
  OneDevice(const Machine& machine, const FlowParameters& flow) : flow_(flow), on_gpu_(machine.is_gpu()) {
    const int order = flow.order == Order::fourth ? 4 : 2;
    const std::string diffusion(io::name(flow.diffusion));
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
    for (const MeasuredStep* step : steps_) {
      if (!step->seconds) continue;
      double sum = 0;
      const FlowParameters measured = measured_flow(*step);
      for (const auto& [phase, seconds] : timed_phases(measured, step->cells, step->points(), step->z_lines))
        sum += seconds;
      rest_.add(step->points(), *step->seconds - sum);
    }
    if (rest_.size() == 1) rest_.add(0, seconds_without_points(machine));
  }

  double triad() const { return largest_->triad; }

  /// Points per second of a whole step on the grid where one device is fastest.
  double best_rate() const {
    double best = 0;
    for (const MeasuredStep* step : steps_)
      if (step->seconds) best = std::max(best, step->points() / *step->seconds);
    return best;
  }

  /// Seconds of each phase for so many points of a grid of these cells; "other" is what a step takes beside those that
  /// were timed. Phases are timed in steps of their own, in which they may take longer than a whole step: they then
  /// share its time.
  std::map<std::string, double> phases(const std::array<std::int64_t, 3>& cells, double points,
                                       LineStrategy strategy) const {
    std::map<std::string, double> phases = timed_phases(flow_, cells, points, strategy);
    double sum = 0;
    for (const auto& [phase, seconds] : phases) sum += seconds;
    const double rest = rest_.at(points);
    if (rest < 0)
      for (auto& [phase, seconds] : phases) seconds *= std::max(0.0, 1 + rest / sum);
    else
      phases["other"] = rest;
    return phases;
  }

 private:
  /// What no measured step had takes as long per word as the momentum sweep, on a CPU as the systems along z, if it
  /// advances scalars, else as the triad.
  std::map<std::string, double> timed_phases(const FlowParameters& flow, const std::array<std::int64_t, 3>& cells,
                                             double points, LineStrategy strategy) const {
    std::map<std::string, double> phases;
    for (const auto& [phase, seconds] : largest_->phases)
      if (grows_with_points(phase)) phases[phase] = std::max(0.0, line_of(flow, phase, cells, strategy).at(points));
    PhaseWords measured = words(measured_flow(*largest_), largest_->z_lines);
    PhaseWords of_flow = words(flow, strategy);
    const TimedPhase like = on_gpu_ ? TimedPhase::momentum : TimedPhase::implicit_diffusion;
    const double words_of_like = of_flow[like];
    for (const auto& [phase, count] : of_flow) {
      if (count == 0 || measured[phase] > 0) continue;
      const auto known = phases.find(name_of(like));
      const bool by_phase = phase == TimedPhase::scalars && known != phases.end() && words_of_like > 0;
      phases[name_of(phase)] += count * (by_phase ? known->second / words_of_like : sizeof(real) * points / triad());
    }
    return phases;
  }

  /// Seconds of a phase against points: transforms from the grids with the nearest length, systems along z from those
  /// where they were solved in this way, or else as on the largest grid, all others from all grids.
  PiecewiseLine line_of(const FlowParameters& flow, const std::string& name, const std::array<std::int64_t, 3>& cells,
                        LineStrategy strategy) const {
    const bool along_z = words(name, flow, LineStrategy::condensed) != words(name, flow, LineStrategy::tiles);
    const std::optional<TimedPhase> phase = phase_named(name);
    const auto distance = [&](const MeasuredStep& step) {
      if (along_z) return step.z_lines == strategy ? 0.0 : step.z_lines == largest_->z_lines ? 1.0 : 2.0;
      if (phase != TimedPhase::fft_x && phase != TimedPhase::fft_y) return 0.0;
      const std::size_t axis = phase == TimedPhase::fft_x ? 0 : 1;
      return std::abs(std::log(static_cast<double>(step.cells[axis]) / static_cast<double>(cells[axis])));
    };
    double nearest = distance(*largest_);
    for (const MeasuredStep* step : steps_)
      if (step->phases.contains(name)) nearest = std::min(nearest, distance(*step));
    PiecewiseLine line;
    for (const MeasuredStep* step : steps_)
      if (step->phases.contains(name) && distance(*step) == nearest)
        line.add(step->points(), step->phases.at(name) * growth(name, flow, strategy, *step));
    return line;
  }

  /// The flow of bench step, or of this precision, order and diffusion where only phases were measured.
  FlowParameters measured_flow(const MeasuredStep& step) const {
    FlowParameters flow;
    flow.order = flow_.order;
    flow.diffusion = flow_.diffusion;
    flow.scalars.resize(static_cast<std::size_t>(step.scalars));
    return flow;
  }

  PhaseWords words(const FlowParameters& flow, LineStrategy strategy) const {
    return TimeStepper::words(largest_->cells, {}, flow, strategy, on_gpu_);
  }
  /// 0 for a phase that moves few, or that other versions of the program had.
  double words(const std::string& name, const FlowParameters& flow, LineStrategy strategy) const {
    const std::optional<TimedPhase> phase = phase_named(name);
    return phase ? words(flow, strategy)[*phase] * factor_of_ends(*phase, strategy) : 0;
  }
  /// How many times as many words a phase moves as in a measured step.
  double growth(const std::string& name, const FlowParameters& flow, LineStrategy strategy,
                const MeasuredStep& step) const {
    const double here = words(name, flow, strategy);
    const double there = words(name, measured_flow(step), step.z_lines);
    return here > 0 && there > 0 ? here / there : 1;
  }

  const FlowParameters& flow_;
  bool on_gpu_;
  std::vector<const MeasuredStep*> steps_;  ///< of this flow and precision, the largest grid first
  const MeasuredStep* largest_ = nullptr;
  PiecewiseLine rest_;  ///< seconds of a step beside those of its phases, against points; may be negative
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
    const ExchangeNeed need = PoissonSolver::memory(decomposition_, rank_, TridiagonalMethod::ptdma).rows;
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

  /// The halos of a substep: v* and w*, phi with the planes beyond its halos, and all fields. docs/exchange.md says
  /// when and how. docs/equations.md has the stencils.
  double halos(const FlowParameters& flow) const {
    const bool wide = flow.order == Order::fourth;
    const bool is_explicit = flow.diffusion == Diffusion::explicit_;
    const bool is_implicit = flow.diffusion == Diffusion::implicit;  // whose fields are exchanged after the correction
    std::vector<HaloWidth> star, all;
    for (const FieldDescriptor& field : fields_of(flow)) {
      const bool pressure = field.name == base_fields()[pressure_field].name;
      if (!pressure) star.push_back(halo_of(field, flow.order));
      if (!pressure || !is_explicit) all.push_back(halo_of(field, flow.order));
    }
    const double planes_of_phi = is_implicit ? 1 : is_explicit ? 1.5 : 2;
    return along_y({{1, 0}}, wide ? 1.5 : 0.5) + along_z({{0, 1}}, 0.5) +                             // v*, w*
           along_y({{1, 0}}, wide ? 1.5 : 1) + along_z({{reach_of(flow.order), 1}}, planes_of_phi) +  // phi
           (is_implicit ? along_z(all, 1) : along_z_in_background(star)) + along_y(all, 1);
  }

 private:
  /// The neighbours along an axis, each with `share` of the layers of a halo on one side.
  double along_y(const std::vector<HaloWidth>& widths, double share) const {
    if (processes_.py == 1) return 0;
    const int y = processes_.y_index(rank_);
    const int z = processes_.z_index(rank_);
    const double bytes = 2 * HaloExchange::side_bytes(box(), 1, widths, false) * share;
    return seconds(
        bytes, bytes,
        {processes_.rank((y + 1) % processes_.py, z), processes_.rank((y + processes_.py - 1) % processes_.py, z)});
  }

  std::vector<int> z_neighbours() const {
    std::vector<int> ranks;
    for (const int z : {processes_.z_index(rank_) - 1, processes_.z_index(rank_) + 1}) {
      if (z >= 0 && z < processes_.pz) ranks.push_back(processes_.rank(processes_.y_index(rank_), z));
    }
    return ranks;
  }

  bool near(int other) const { return other / machine_.devices_per_host == rank_ / machine_.devices_per_host; }

  /// Devices of a host exchange while phi is solved for. What is left are the messages that begin and end this.
  double along_z_in_background(const std::vector<HaloWidth>& widths) const {
    const std::vector<int> others = z_neighbours();
    const bool in_host = std::ranges::all_of(others, [&](int other) { return near(other); });
    return in_host ? seconds(0, 0, others) : along_z(widths, 1);
  }

  double along_z(const std::vector<HaloWidth>& widths, double share) const {
    if (processes_.pz == 1) return 0;
    const std::vector<int> others = z_neighbours();
    const double bytes = HaloExchange::side_bytes(box(), 2, widths, true) * share * static_cast<double>(others.size());
    return seconds(bytes, bytes, others);
  }

  Box3 box() const { return decomposition_.x_pencil(rank_); }

  /// An exchange of `bytes`, the same part with each of the others, of an array of `array_bytes`. Links work at the
  /// same time, and at the same time as the loop that reads and writes the array. What leaves the host is packed before
  /// and unpacked afterwards.
  double seconds(double bytes, double array_bytes, const std::vector<int>& ranks) const {
    double near_count = 0;
    double far_count = 0;
    for (const int other : ranks) {
      if (other != rank_) (near(other) ? near_count : far_count) += 1;
    }
    if (near_count + far_count == 0) return 0;
    const double far_bytes = bytes * far_count / (near_count + far_count);
    const double in_memory = 2 * array_bytes / triad_;
    const double in_links = std::max(time_of(near_count, machine_.host, "host", bytes - far_bytes),
                                     time_of(far_count, machine_.network, "network", far_bytes));
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
  const OneDevice device(machine, flow);
  const ProcessGrid& processes = decomposition.processes();
  std::int64_t largest = 0;
  for (int rank = 0; rank < processes.size(); ++rank)
    largest = std::max(largest, decomposition.x_pencil(rank).volume());
  std::map<std::string, double> phases = device.phases(decomposition.cells(), static_cast<double>(largest), strategy);

  // The ranks of a host in the middle have neighbours on all sides, in their host and in others.
  std::map<TimedPhase, double> exchanges;
  const auto raise = [&](TimedPhase phase, double seconds) {
    exchanges[phase] = std::max(exchanges[phase], Rk3::substeps * seconds);
  };
  const int middle = processes.rank(0, processes.pz / 2) / machine.devices_per_host * machine.devices_per_host;
  for (int rank = middle; rank < std::min(middle + machine.devices_per_host, processes.size()); ++rank) {
    const RankExchanges of_rank(machine, decomposition, device.triad(), rank);
    // Poisson equation; velocity and scalars, where diffusion is implicit in all directions
    const double solves = flow.diffusion == Diffusion::implicit ? 4 + static_cast<double>(flow.scalars.size()) : 1;
    raise(TimedPhase::transpose, solves * of_rank.transposes());
    raise(TimedPhase::tridiagonal, solves * of_rank.lines(spectral_lines(decomposition, rank), strategy, 2, 1));
    if (flow.diffusion == Diffusion::implicit_z)
      raise(TimedPhase::implicit_diffusion, of_rank.lines(field_lines(decomposition, rank), strategy, 1, 3));
    if (flow.diffusion == Diffusion::implicit_z)
      raise(TimedPhase::scalars,
            static_cast<double>(flow.scalars.size()) * of_rank.lines(field_lines(decomposition, rank), strategy, 1, 1));
    raise(TimedPhase::halo_exchange, of_rank.halos(flow));
  }
  for (const auto& [phase, seconds] : exchanges) phases[name_of(phase)] += seconds;

  // The sum of u* in each substep and the time step's maximum.
  const double hosts = std::ceil(static_cast<double>(processes.size()) / machine.devices_per_host);
  const double sums =
      hosts > 1 && machine.network ? (Rk3::substeps + 1) * std::ceil(std::log2(hosts)) * machine.network->seconds : 0;
  phases["sums over hosts"] = sums;

  StepForecast forecast;
  std::ranges::copy_if(phases, std::back_inserter(forecast.phases), [](const auto& phase) { return phase.second > 0; });
  std::ranges::stable_sort(forecast.phases, std::greater(), [](const auto& phase) { return phase.second; });
  const auto points =
      static_cast<double>(decomposition.cells()[0] * decomposition.cells()[1] * decomposition.cells()[2]);
  forecast.efficiency = points / forecast.seconds() / (device.best_rate() * processes.size());
  return forecast;
}

std::vector<std::string> left_out_of_forecast(const FlowParameters& flow, bool on_gpu) {
  std::vector<std::string> parts = on_gpu ? std::vector<std::string>{} : active_terms(flow);
  if (has_responses(flow)) std::ranges::copy(names_of_responses(), std::back_inserter(parts));
  bool varies = false;
  for (const WallCondition& wall : {flow.bottom, flow.top}) {
    for (std::size_t n = 0; n < wall.velocity.size(); ++n) varies = varies || !wall.total_velocity(n).is_constant();
  }
  if (varies) parts.emplace_back("the velocity of the walls");
  if (flow.periodic_z) parts.emplace_back("the end values of lines along z");
  return parts;
}

}  // namespace sluice
