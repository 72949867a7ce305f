#pragma once
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/decomp/view3.hpp"
#include "core/support/box3.hpp"
#include "model/physics.hpp"
#include "solver/momentum/row_task.hpp"

namespace sluice {

/// What the sweep of a scalar adds to R at each cell: uniform + times_u u, with u interpolated to the centre.
struct SourceInSweep {
  double uniform = 0;
  double times_u = 0;
};

/// What the loop of a source reads and writes: the scalar c, R and c*.
struct SourceArrays {
  View3<const real> c;
  View3<real> tendency, star;
  real alpha_dt;

  SourceArrays seen_from(int j, int k) const {
    return {c.seen_from(j, k), tendency.seen_from(j, k), star.seen_from(j, k), alpha_dt};
  }
};

/// A source s that is added by a loop of its own, after the sweep of the scalar: R += s(c), c* += alpha dt s(c).
/// Scalars without such a source pay nothing.
class SourceLoop {
 public:
  virtual ~SourceLoop() = default;
  SourceLoop(const SourceLoop&) = delete;
  SourceLoop& operator=(const SourceLoop&) = delete;

  /// Words per cell that add() reads and writes: c, R, c*.
  static constexpr int words = 5;

  /// Over a box of local indices; c needs valid halos there, and no halo is written. Local.
  virtual void add(const Box3& box, const SourceArrays& arrays) const = 0;
  /// The same for each row of nx cells, with the same bits. This object must outlive the task.
  virtual RowTask row_task(int nx, const SourceArrays& arrays) const = 0;
  /// Called before each substep with the time at its start, at which the source is evaluated. Local.
  virtual void set_time(double /*time*/) {}

 protected:
  SourceLoop() = default;
};

/// All that the code knows of one kind of source, the last term of dc/dt + div(u c) = kappa lap c + source. A default
/// implementation means: no such effect. All members except `given` are called only for scalars that have the source.
class Source : public Physics {
 public:
  /// Whether any scalar has it.
  bool active(const FlowParameters& flow) const final;
  /// The rows of `own_keys`. Each key excludes those of the other sources, since a scalar has one source.
  std::vector<ParameterKey> keys() const final;

  /// Whether the case gives it to this scalar.
  virtual bool given(const ScalarParameters& scalar) const = 0;
  /// Describes the source in the scalar's line of the `sluice check` output.
  virtual std::string text(const ScalarParameters& scalar) const = 0;
  /// Whether its number is 0.
  virtual bool is_zero(const ScalarParameters& scalar) const = 0;

  /// The part of the source that the sweep of the scalar adds.
  virtual SourceInSweep in_sweep(const ScalarParameters& /*scalar*/) const { return {}; }
  /// The part that needs a loop; null without one.
  virtual std::unique_ptr<SourceLoop> loop(const ScalarParameters& /*scalar*/) const { return nullptr; }
  /// The volume mean that a uniform source of the right strength holds after each substep.
  virtual std::optional<double> held_mean(const ScalarParameters& /*scalar*/) const { return {}; }
  /// Its part of 1/dt_lim (time_step_limit.hpp).
  virtual double rate(const ScalarParameters& /*scalar*/) const { return 0; }
  /// What it adds to the volume mean in time; none if that depends on the flow or on the scalar.
  virtual std::optional<double> constant_rate(const ScalarParameters& /*scalar*/) const { return {}; }

 protected:
  /// Its keys below scalars[].source.
  virtual std::vector<ParameterKey> own_keys() const = 0;
};

/// A source that one number sets, the member `std::optional<double> value` of Parameters. The name is the word of its
/// key.
template <class Parameters>
class SourceOfNumber : public Source {
 public:
  std::string name() const override { return word_; }
  bool given(const ScalarParameters& scalar) const override { return scalar.source.of<Parameters>().value.has_value(); }
  std::string text(const ScalarParameters& scalar) const override {
    return fmt::format("source {} {:g}", word_, value(scalar));
  }
  bool is_zero(const ScalarParameters& scalar) const override { return value(scalar) == 0; }

 protected:
  SourceOfNumber(const char* word, const char* unit, const char* meaning)
      : word_(word), unit_(unit), meaning_(meaning) {}

  static double value(const ScalarParameters& scalar) { return scalar.source.of<Parameters>().value.value_or(0); }

  std::vector<ParameterKey> own_keys() const override {
    ParameterKey row = empty_key();
    row.path = std::string("scalars[].source.") + word_;
    row.value = ParameterValue{parameter_of_source(&Parameters::value)};
    row.unit = unit_;
    row.meaning = meaning_;
    row.example = "1";
    row.commented = true;
    return {row};
  }

 private:
  const char* word_;
  const char* unit_;
  const char* meaning_;
};

}  // namespace sluice
