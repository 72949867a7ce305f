#include "src/outputs/ensemble_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/device/memory.hpp"
#include "core/device/timers.hpp"
#include "core/device/together.hpp"
#include "core/support/collective.hpp"
#include "io/case/ensemble.hpp"
#include "src/run/arrival.hpp"
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
  select_device(world);
  std::vector<std::string> warnings;
  run_on_root(world, [&] {
    if (options.directory->restart.empty())  // before anything in the output directory is changed
      for (const CaseInput& member : members) require_startable(check_formulas(member.settings, grid, 0, 0));
    warnings = prepare_ensemble_directory(*options.directory, settings_, guard.own.lock);
  });
  log_.emplace(log, own_);
  for (const std::string& warning : warnings) log_->line("warning: " + warning);
  if (rank_of(world) == 0) say_what_runs();
  require_memory_of_all(members, grid);
  run_collectively(world, [&] { make_members(members, options); });
  run_on_root(world, [&] { write_ensemble_record(settings_); });
}

void EnsembleRun::say_what_runs() {
  const auto& cells = settings_.cells;
  log_->line(fmt::format("Sluice: {}", settings_.title));
  log_->line(fmt::format("{} member(s) of {} x {} x {} cells each on {} process(es), {} precision, {}",
                         settings_.ensemble.members, cells[0], cells[1], cells[2], size_of(world_), precision_name,
                         device::description()));
  const nlohmann::json record = nlohmann::json::parse(io::ensemble_record(settings_));
  if (settings_.ensemble.members > 1 && record["varied"].empty())
    log_->line("warning: the members do not differ: give them seeds, or keys in ensemble.vary");
}

void EnsembleRun::require_memory_of_all(const std::vector<CaseInput>& members, const Grid& grid) {
  double bytes = 0;
  for (int number = first_; number < end_; ++number) {
    const io::Case& settings = members[static_cast<std::size_t>(number)].settings;
    const Decomposition decomposition(settings.cells, ProcessGrid{1, 1}, settings.z_blocks);
    bytes += memory_of_ranks(settings.flow, decomposition, settings.exchange).front() +
             output_memory(settings, grid, decomposition.x_pencil(0), 1, false);
  }
  require_memory(bytes, world_, "fewer members, or a coarser grid");
}

void EnsembleRun::make_members(const std::vector<CaseInput>& members, StartOptions options) {
  options.shared = &shared_;
  const std::vector<std::string> names = io::member_names(settings_);
  for (int number = first_; number < end_; ++number) {
    const auto n = static_cast<std::size_t>(number);
    try {
      Member& member = members_.emplace_back();
      member.number = number;
      member.name = names[n];
      member.run = std::make_unique<RunLoop>(members[n], options, guard_.members.emplace_back(), own_);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: {}", names[n], error.what()));
    }
  }
}

void EnsembleRun::run() {
  started_ = wall_seconds();
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
  if (rank_of(world_) == 0) {
    requests_.clear();
    log_->line(fmt::format("Ensemble: {} after {}", outcome, readable_duration(wall_seconds() - started_)));
  }
  if (failures.empty()) return;
  std::string text = outcome + ":";
  const std::vector<std::string> names = io::member_names(settings_);
  for (const Failure& failure : failures)
    text += fmt::format("\n{}: {}", names[static_cast<std::size_t>(failure.member)], failure.message);
  throw Error(static_cast<ExitCode>(failures.front().code), text);
}

void EnsembleRun::run_member(Member& member) {
  try {
    run_collectively(MPI_COMM_SELF, [&] { step_to_end(member); });  // any exception becomes an Error
  } catch (const Error& error) {
    failed(member, error);
  }
  member.ended = true;
  --shared_.running;
  say_that_all_began();
}

void EnsembleRun::step_to_end(Member& member) {
  RunLoop& run = *member.run;
  run.begin();
  member.began = true;
  say_that_all_began();
  device::end_turn();
  while (!run.at_end() && run.attend() == StopReason::none) {
    run.step();
    requests_.pass_on();
    report_progress();
    device::end_turn();
  }
  run.finish();
}

void EnsembleRun::failed(const Member& member, const Error& error) {
  failures_.push_back({member.number, static_cast<int>(error.code()), error.what()});
  log_->line(fmt::format("{} failed: {}{}", member.name, first_line(error.what()),
                         shared_.running > 1 ? "; the others go on" : ""));
}

std::string EnsembleRun::prefix() const {
  return size_of(world_) == 1 ? "" : fmt::format("{} to {}: ", members_.front().name, members_.back().name);
}

void EnsembleRun::say_that_all_began() {
  const auto is_settled = [](const Member& member) { return member.began || member.ended; };
  if (all_began_ || !std::ranges::all_of(members_, is_settled)) return;
  all_began_ = true;
  started_ = logged_ = wall_seconds();
  const auto began = std::ranges::count_if(members_, &Member::began);
  const auto goes_on = [](const Member& member) { return member.run->from_checkpoint(); };
  const auto restarted = std::ranges::count_if(members_, goes_on);
  log_->line(fmt::format("{}{} member(s) started{}", prefix(), began,
                         restarted > 0 ? fmt::format(", {} from checkpoints", restarted) : ""));
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
    if (member.began && !member.ended) running.push_back(&member);
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
