#include "core/device/energy_meter.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "core/device/timers.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "core/support/owned_comm.hpp"

namespace sluice {

namespace {

/// Runs `action` on every rank and returns the Error(resources) of the lowest rank that has one; empty if none has.
std::string fault_of(MPI_Comm comm, const std::function<void()>& action) {
  try {
    run_collectively(comm, action);
  } catch (const Error& error) {
    if (error.code() != ExitCode::resources) throw;
    return error.what();
  }
  return "";
}

/// The texts of all lower ranks, one after another. Collective.
std::string texts_of_lower_ranks(const std::string& text, MPI_Comm comm) {
  const auto rank = static_cast<std::size_t>(rank_of(comm));
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<std::size_t>(size_of(comm)));
  check_mpi(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm), "MPI_Allgather");
  std::vector<int> begins(lengths.size() + 1);
  std::partial_sum(lengths.begin(), lengths.end(), begins.begin() + 1);
  std::string all(static_cast<std::size_t>(begins.back()), ' ');
  check_mpi(MPI_Allgatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), begins.data(), MPI_CHAR, comm),
            "MPI_Allgatherv");
  return all.substr(0, static_cast<std::size_t>(begins[rank]));
}

}  // namespace

EnergyMeter::EnergyMeter(MPI_Comm comm, const std::function<device::EnergyCounters()>& counters) : comm_(comm) {
  device::EnergyCounters found;
  fault_ = fault_of(comm, [&] { found = counters(); });
  if (!fault_.empty()) return;
  device_ = found.device;
  keep_first(found.list);
}

/// Ranks of a host may see the same devices: the lowest of them reads it.
void EnergyMeter::keep_first(const std::vector<device::EnergyCounter>& counters) {
  std::string names;
  for (const device::EnergyCounter& counter : counters) names += counter.name + '\n';
  std::istringstream lower(texts_of_lower_ranks(names, OwnedComm::of_host(comm_)));
  std::vector<std::string> taken;
  for (std::string name; std::getline(lower, name);) taken.push_back(name);
  for (const device::EnergyCounter& counter : counters)
    if (std::ranges::find(taken, counter.name) == taken.end()) readings_.push_back({counter});
  devices_ = static_cast<int>(readings_.size());
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &devices_, 1, MPI_INT, MPI_SUM, comm_), "MPI_Allreduce");
}

void EnergyMeter::start() {
  for_each([](Reading& reading) { reading.last = reading.counter.joules(); });
  joules_ = 0;
  start_ = read_ = wall_seconds();
}

void EnergyMeter::update(double interval) {
  if (wall_seconds() >= read_ + interval) add_readings();
}

Energy EnergyMeter::energy() {
  add_readings();
  Energy energy{"", device_, devices_, joules_, read_ - start_};
  energy.fault = fault_of(comm_, [&] {
    if (!fault_.empty()) throw Error(ExitCode::resources, fault_);
  });
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &energy.joules, 1, MPI_DOUBLE, MPI_SUM, comm_), "MPI_Allreduce");
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &energy.seconds, 1, MPI_DOUBLE, MPI_MAX, comm_), "MPI_Allreduce");
  return energy;
}

void EnergyMeter::add_readings() {
  for_each([&](Reading& reading) {
    const double now = reading.counter.joules();
    joules_ += now - reading.last + (now < reading.last ? reading.counter.range : 0);
    reading.last = now;
  });
  read_ = wall_seconds();
}

void EnergyMeter::for_each(const std::function<void(Reading&)>& read) {
  if (!fault_.empty()) return;
  try {
    for (Reading& reading : readings_) read(reading);
  } catch (const Error& error) {
    fault_ = error.what();
  }
}

}  // namespace sluice
