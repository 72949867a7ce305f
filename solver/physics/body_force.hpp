#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "model/parameters.hpp"
#include "solver/correction/velocity.hpp"
#include "solver/grid/grid.hpp"
#include "solver/momentum/row_task.hpp"
#include "solver/state/state.hpp"

namespace sluice {

/// A force per mass that acts in the whole volume, a part of the tendency R of eqs. (1) and (5). Loops of its own add
/// it, so that flows without it pay nothing: on a CPU a task of the momentum sweep, on a GPU sweeps after it. Each
/// touches only the components on which the force acts.
class BodyForce {
 public:
  virtual ~BodyForce() = default;
  BodyForce(const BodyForce&) = delete;
  BodyForce& operator=(const BodyForce&) = delete;

  /// tendency += F(u), star += alpha dt F(u); see Momentum::predict. A force that reads the velocity needs it
  /// corrected. The velocity and the scalars need valid halos; no halo is written. Local.
  virtual void add(const VelocityToCorrect& velocity, const std::vector<TransportedField>& scalars, double alpha_dt,
                   VectorField& tendency, VectorField& star) const = 0;
  /// Whether it depends on the velocity.
  virtual bool reads_velocity() const = 0;
  /// Words per cell that add() reads and writes.
  virtual int words() const = 0;
  /// Adds it to each row, with the same bits; the row provides the velocity. All arguments and this object must outlive
  /// the task.
  virtual RowTask row_task(const std::vector<TransportedField>& scalars, double alpha_dt, VectorField& tendency,
                           VectorField& star) const = 0;
  /// Called before each substep with the time at its start, at which the force is evaluated. Local.
  virtual void set_time(double /*time*/) {}

 protected:
  BodyForce() = default;
};

/// The forces on a flow.
class BodyForces {
 public:
  /// Those of its terms.
  BodyForces(const Metrics& metrics, const FlowParameters& flow);
  /// rate: its part of 1/dt_lim.
  void append(std::shared_ptr<BodyForce> force, double rate) { forces_.push_back({std::move(force), rate}); }
  /// Removes a force that was appended.
  void remove(const BodyForce& force);
  /// Sum of the rates of all that were appended.
  double added_rate() const;

  bool active() const { return !forces_.empty(); }

  /// Whether any of them does.
  bool read_velocity() const;
  /// Sum of BodyForce::words.
  int words() const;
  /// BodyForce::add of each.
  void add(const VelocityToCorrect& velocity, const std::vector<TransportedField>& scalars, double alpha_dt,
           VectorField& tendency, VectorField& star) const;
  /// Appends BodyForce::row_task of each.
  void append_tasks(const std::vector<TransportedField>& scalars, double alpha_dt, VectorField& tendency,
                    VectorField& star, RowTasks& tasks) const;
  /// BodyForce::set_time of each.
  void set_time(double time);

 private:
  struct Acting {
    std::shared_ptr<BodyForce> force;
    double added_rate = 0;  ///< beside those of the terms
  };
  std::vector<Acting> forces_;
};

}  // namespace sluice
