#include "src/outputs/ensemble_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/device/memory.hpp"
#include "core/device/select.hpp"
#include "core/device/timers.hpp"
#include "core/device/together.hpp"
#include "core/support/collective.hpp"
#include "io/case/ensemble.hpp"
#include "src/run/arrival.hpp"
#include "src/run/energy_report.hpp"
#include "src/run/formula_check.hpp"
#include "src/run/memory_estimate.hpp"

namespace sluice {

namespace {

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// The texts of all ranks, in their order. Collective.
std::vector<std::string> gather(const std::string& text, MPI_Comm comm) {
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<std::size_t>(size_of(comm)));
  check_mpi(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm), "MPI_Allgather");
  std::vector<int> starts;
  int total = 0;
  for (const int one : lengths) starts.push_back(std::exchange(total, total + one));
  std::string all(static_cast<std::size_t>(total), ' ');
  check_mpi(MPI_Allgatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR, comm),
            "MPI_Allgatherv");
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank)
    texts.push_back(all.substr(static_cast<std::size_t>(starts[rank]), static_cast<std::size_t>(lengths[rank])));
  return texts;
}

}  // namespace

EnsembleRun::EnsembleRun(const CaseInput& common, const std::vector<CaseInput>& members, const StartOptions& options,
                         EnsembleGuard& guard, MPI_Comm world)
    : settings_(common.settings),
      world_(world),
      own_(OwnedComm::split(world, rank_of(world), 0)),
      guard_(guard),
      requests_(common.settings) {
  const int count = settings_.ensemble.members;
  const int processes = size_of(world);
  if (processes > count) {
    throw Error(ExitCode::usage, fmt::format("{} processes for {} member{}: each member of an ensemble runs on one "
                                             "process; start at most {}",
                                             processes, count, count == 1 ? "" : "s", count));
  }
  first_ = count * rank_of(world) / processes;
  end_ = count * (rank_of(world) + 1) / processes;
  shared_.runs = shared_.running = end_ - first_;
  const Grid grid = make_grid(settings_, common.stretching_text);
  const std::string log = settings_.output.directory + "/log.txt";
  shared_.watchdog =
      std::make_shared<Watchdog>(world, settings_.watchdog, shared_.runs * largest_output(settings_, grid), log);
  guard_.own.watchdog = shared_.watchdog;
  device::select(world);
  energy_.emplace(world);
  std::vector<std::string> warnings;
  run_on_root(world, [&] {
    if (options.directory->restart.empty())  // before anything in the output directory is changed
      for (const CaseInput& member : members) require_startable(check_formulas(member.settings, grid, 0, 0));
    warnings = claim_ensemble_directory(*options.directory, settings_, guard.own.lock);
  });
  log_.emplace(log, own_);
  for (const std::string& warning : warnings) log_->line("warning: " + warning);
  if (rank_of(world) == 0) say_what_runs();
  require_memory_of_all(members, grid);
  run_collectively(world, [&] { claim_directories(members, *options.directory); });
  run_collectively(world, [&] { make_members(members, options); });
}

void EnsembleRun::say_what_runs() {
  const auto& cells = settings_.cells;
  log_->line(fmt::format("Sluice: {}", settings_.title));
  log_->line(fmt::format("{} member(s) of {} x {} x {} cells each on {} process(es), {} precision, {}",
                         settings_.ensemble.members, cells[0], cells[1], cells[2], size_of(world_), precision_name,
                         device::description()));
  if (const std::string twins = io::first_equal_members(settings_); !twins.empty())
    log_->line(fmt::format("warning: {} do not differ: give them seeds, or keys in ensemble.vary", twins));
}

void EnsembleRun::require_memory_of_all(const std::vector<CaseInput>& members, const Grid& grid) {
  const auto bytes = [&] {
    double sum = 0;
    for (int number = first_; number < end_; ++number) {
      const io::Case& settings = members[static_cast<std::size_t>(number)].settings;
      const Decomposition decomposition(settings.cells, ProcessGrid{1, 1}, settings.z_blocks);
      sum += memory_of_ranks(settings.flow, decomposition, settings.exchange).front() +
             output_memory(settings, grid, decomposition.x_pencil(0), 1, false);
    }
    return sum;
  };
  require_memory(bytes, world_, "fewer members, or a coarser grid");
}

void EnsembleRun::claim_directories(const std::vector<CaseInput>& members, const DirectoryOptions& options) {
  const std::vector<std::string> names = io::member_names(settings_);
  for (int number = first_; number < end_; ++number) {
    const auto n = static_cast<std::size_t>(number);
    Member& member = members_.emplace_back();
    member.number = number;
    member.name = names[n];
    guard_.members.emplace_back();
    claim_member_directory(member.name, options, members[n].settings, guard_.members.back().lock);
  }
}

void EnsembleRun::make_members(const std::vector<CaseInput>& members, StartOptions options) {
  options.shared = &shared_;
  for (std::size_t n = 0; n < members_.size(); ++n) {
    Member& member = members_[n];
    const CaseInput& input = members[static_cast<std::size_t>(member.number)];
    with_member_name(member.name,
                     [&] { member.run = std::make_unique<RunLoop>(input, options, guard_.members[n], own_); });
  }
}

void EnsembleRun::load_members() {
  std::vector<std::function<void()>> tasks;
  for (const Member& member : members_)
    tasks.emplace_back([this, &member] { attempt(member, [&] { member.run->load(); }); });
  device::run_together(tasks);
  const std::vector<Failure> failures = all_failures();
  throw_failures(failures, fmt::format("{} of {} members cannot start, so none does", failures.size(),
                                       settings_.ensemble.members));
  started_ = logged_ = wall_seconds();
  const auto goes_on = [](const Member& member) { return member.run->from_checkpoint(); };
  const auto restarted = std::ranges::count_if(members_, goes_on);
  log_->line(fmt::format("{}{} member(s) start{}", prefix(), members_.size(),
                         restarted > 0 ? fmt::format(", {} from checkpoints", restarted) : ""));
}

void EnsembleRun::run() {
  load_members();
  run_on_root(world_, [&] { take_over_ensemble_directory(settings_); });
  energy_->start();
  std::vector<std::function<void()>> tasks;
  for (Member& member : members_) tasks.emplace_back([this, &member] { run_member(member); });
  device::run_together(tasks);
  members_.clear();
  if (size_of(world_) > 1) {  // this process may wait for the others as long as they run
    for (RunGuard& guard : guard_.members) guard.watchdog.reset();
    guard_.own.watchdog.reset();
    shared_.watchdog.reset();
  }
  if (!all_arrive(world_, std::numeric_limits<double>::infinity()))
    throw Error(ExitCode::resources, "MPI has failed at the end of an ensemble; the members have ended");
  finish();
}

void EnsembleRun::finish() {
  const std::vector<Failure> failures = all_failures();
  const std::string outcome = failures.empty()
                                  ? std::string("all members ended")
                                  : fmt::format("{} of {} members failed", failures.size(), settings_.ensemble.members);
  const auto& cells = settings_.cells;
  const double points = static_cast<double>(cells[0]) * static_cast<double>(cells[1]) * static_cast<double>(cells[2]);
  const Energy energy = energy_->energy();
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &steps_, 1, MPI_DOUBLE, MPI_SUM, world_), "MPI_Allreduce of steps");
  if (rank_of(world_) == 0) {
    requests_.clear();
    if ((device::is_gpu() || energy.fault.empty()) && steps_ > 0)
      log_->line(energy_text(energy, {.point_steps = steps_ * points}));
    log_->line(fmt::format("Ensemble: {} after {}", outcome, readable_duration(wall_seconds() - started_)));
  }
  throw_failures(failures, outcome);
}

void EnsembleRun::throw_failures(const std::vector<Failure>& failures, const std::string& outcome) const {
  if (failures.empty()) return;
  std::string text = outcome + ":";
  const std::vector<std::string> names = io::member_names(settings_);
  for (const Failure& failure : failures)
    text += fmt::format("\n{}: {}", names[static_cast<std::size_t>(failure.member)], failure.message);
  throw Error(static_cast<ExitCode>(failures.front().code), text);
}

void EnsembleRun::run_member(Member& member) {
  const bool good = attempt(member, [&] { step_to_end(member); });
  member.ended = true;
  --shared_.running;
  if (!good)
    log_->line(fmt::format("{} failed: {}{}", member.name, first_line(failures_.back().message),
                           shared_.running > 0 ? "; the others go on" : ""));
}

void EnsembleRun::step_to_end(Member& member) {
  RunLoop& run = *member.run;
  run.begin();
  device::end_turn();
  while (!run.at_end() && run.attend() == StopReason::none) {
    run.step();
    ++steps_;
    energy_->update();
    requests_.pass_on();
    report_progress();
    device::end_turn();
  }
  run.finish();
}

bool EnsembleRun::attempt(const Member& member, const std::function<void()>& action) {
  try {
    run_collectively(MPI_COMM_SELF, action);  // any exception becomes an Error
    return true;
  } catch (const Error& error) {
    failures_.push_back({member.number, static_cast<int>(error.code()), error.what()});
    return false;
  }
}

std::string EnsembleRun::prefix() const {
  return size_of(world_) == 1 ? "" : fmt::format("{} to {}: ", members_.front().name, members_.back().name);
}

void EnsembleRun::report_progress() {
  constexpr double status_interval = 0.5;  // seconds
  const double now = wall_seconds();
  const bool line = settings_.output.log_seconds && now >= logged_ + *settings_.output.log_seconds;
  const bool status = log_->has_terminal() && now >= updated_ + status_interval;
  if (!line && !status) return;
  const std::string text = prefix() + progress();
  if (line) {
    logged_ = now;
    log_->line(text);
  } else {
    updated_ = now;
    log_->status(text);
  }
}

std::string EnsembleRun::progress() const {
  std::vector<const Member*> running;
  for (const Member& member : members_)
    if (!member.ended) running.push_back(&member);
  const auto step_of = [](const Member* member) { return member->run->simulation().step(); };
  const auto [slowest, fastest] = std::ranges::minmax(running, {}, step_of);
  double left = 0;
  for (const Member* member : running) {
    const auto steps = static_cast<double>(std::max<std::int64_t>(1, member->run->times().steps));
    left = std::max(left, steps_left(member->run->simulation(), {}) * (wall_seconds() - started_) / steps);
  }
  const auto place_of = [&](const Member* member) {
    return fmt::format("{} at step {}, time {:.4f}", member->name, step_of(member), member->run->simulation().time());
  };
  std::string text = fmt::format("{} of {} members run: ", running.size(), members_.size()) + place_of(slowest);
  if (slowest != fastest) text += "; " + place_of(fastest);
  return text + fmt::format("; {} left", readable_duration(left));
}

std::vector<EnsembleRun::Failure> EnsembleRun::all_failures() {
  auto own = nlohmann::json::array();
  for (const Failure& failure : failures_) own.push_back({failure.member, failure.code, failure.message});
  const std::string text = own.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  std::vector<Failure> all;
  for (const std::string& of_rank : gather(text, world_)) {
    for (const auto& failure : nlohmann::json::parse(of_rank))
      all.push_back({failure[0].get<int>(), failure[1].get<int>(), failure[2].get<std::string>()});
  }
  std::ranges::sort(all, {}, &Failure::member);
  return all;
}

}  // namespace sluice
