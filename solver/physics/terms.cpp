// All terms that only some flows have, and what they add up to.
#include "solver/physics/terms.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "core/support/error.hpp"
#include "solver/physics/body_force.hpp"
#include "solver/physics/buoyancy.hpp"
#include "solver/physics/hartmann.hpp"
#include "solver/physics/rotation.hpp"
#include "solver/physics/sources.hpp"
#include "solver/walls/actuations.hpp"

namespace sluice {

namespace {

// A new term is one more entry here.
std::span<const Term* const> terms() {
  static const std::array list{&rotation_term(), &magnetic_field_term(), &buoyancy_term()};
  return list;
}

}  // namespace

PhysicsList all_terms() {
  static const std::vector<const Physics*> list(terms().begin(), terms().end());
  return list;
}

PhysicsList all_physics() {
  static const std::vector<const Physics*> list = [] {
    std::vector<const Physics*> all(terms().begin(), terms().end());
    all.push_back(&wall_control());
    all.insert(all.end(), all_sources().begin(), all_sources().end());
    return all;
  }();
  return list;
}

std::vector<TermRate> term_rates(const FlowParameters& flow) {
  std::vector<TermRate> rates;
  for (const Term* term : terms()) {
    if (const double rate = term->rate(flow); rate > 0) rates.push_back({term->name(), rate});
  }
  // Scalars do not depend on each other: the fastest source counts.
  TermRate fastest{};
  for (const ScalarParameters& scalar : flow.scalars) {
    const Source& source = source_of(scalar);
    if (const double rate = source.rate(scalar); rate > fastest.rate) fastest = {source.name(), rate};
  }
  if (fastest.rate > 0) rates.push_back(fastest);
  return rates;
}

double rate_of_terms(const FlowParameters& flow) {
  double sum = 0;
  for (const TermRate& term : term_rates(flow)) sum += term.rate;
  return sum;
}

std::vector<std::string> active_terms(const FlowParameters& flow) {
  std::vector<std::string> names;
  for (const Term* term : terms()) {
    if (term->active(flow)) names.push_back(term->name());
  }
  return names;
}

bool forces_are_in_scalar_budgets(const FlowParameters& flow) {
  for (const Term* term : terms()) {
    if (term->is_in_scalar_budgets(flow)) return true;
  }
  return false;
}

std::string motion_of_terms(const FlowParameters& flow) {
  for (const Term* term : terms()) {
    if (std::string motion = term->motion(flow); !motion.empty()) return motion;
  }
  return {};
}

std::string mean_force(const FlowParameters& flow) {
  for (const Term* term : terms()) {
    if (std::string reason = term->mean_force(flow); !reason.empty()) return reason;
  }
  return {};
}

MeanOperator mean_operator(const FlowParameters& flow) {
  MeanOperator sum;
  for (const Term* term : terms()) {
    const auto [factor, source] = term->mean_operator(flow);
    sum.factor += factor;
    sum.source += source;
  }
  return sum;
}

std::optional<BoundaryLayer> boundary_layer(const FlowParameters& flow) {
  for (const Term* term : terms()) {
    if (auto layer = term->boundary_layer(flow)) return layer;
  }
  return {};
}

MeanFlow mean_flow(const FlowParameters& flow) {
  MeanFlow mean;
  for (const Term* term : terms()) term->describe(flow, mean);
  if (const auto layer = boundary_layer(flow)) mean.velocity_above = layer->velocity;
  return mean;
}

std::vector<std::string> check_lines(const CheckedFlow& checked, bool reads_scalars) {
  std::vector<std::string> lines;
  for (const Term* term : terms()) {
    if (term->reads_scalars() != reads_scalars) continue;
    if (std::string line = term->check_line(checked); !line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

BodyForces::BodyForces(const Metrics& metrics, const FlowParameters& flow) {
  for (const Term* term : terms()) {
    if (auto force = term->force(metrics, flow)) forces_.push_back({std::move(force)});
  }
}

void BodyForces::remove(const BodyForce& force) {
  const auto removed = std::erase_if(forces_, [&](const Acting& acting) { return acting.force.get() == &force; });
  SLUICE_REQUIRE(removed == 1, "the force that is to be removed does not act");
}

double BodyForces::added_rate() const {
  double sum = 0;
  for (const Acting& acting : forces_) sum += acting.added_rate;
  return sum;
}

bool BodyForces::read_velocity() const {
  return std::ranges::any_of(forces_, [](const Acting& acting) { return acting.force->reads_velocity(); });
}

int BodyForces::words() const {
  int sum = 0;
  for (const Acting& acting : forces_) sum += acting.force->words();
  return sum;
}

void BodyForces::add(const VelocityToCorrect& velocity, const std::vector<TransportedField>& scalars, double alpha_dt,
                     VectorField& tendency, VectorField& star) const {
  for (const Acting& acting : forces_) acting.force->add(velocity, scalars, alpha_dt, tendency, star);
}

void BodyForces::append_tasks(const std::vector<TransportedField>& scalars, double alpha_dt, VectorField& tendency,
                              VectorField& star, RowTasks& tasks) const {
  for (const Acting& acting : forces_) tasks.push_back(acting.force->row_task(scalars, alpha_dt, tendency, star));
}

void BodyForces::set_time(double time) {
  for (const Acting& acting : forces_) acting.force->set_time(time);
}

}  // namespace sluice
