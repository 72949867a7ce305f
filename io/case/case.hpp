#pragma once
// The case as a set of plain, validated values: the YAML case file with defaults filled in.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/decomp/exchange/exchange_methods.hpp"
#include "io/case/writer_spec.hpp"
#include "model/accuracy.hpp"
#include "model/parameters.hpp"
#include "model/schedule.hpp"

namespace sluice::io {

enum class FlowType { channel, couette, open_channel, periodic };
enum class ReynoldsKind { bulk, tau, center, wall, viscosity };
enum class StretchingKind { uniform, tanh, natural, file };
enum class InitialKind { turbulent, laminar, zero, formula, fields, checkpoint };

struct ReynoldsSpec {
  ReynoldsKind kind = ReynoldsKind::bulk;
  double value = 0;  ///< a viscosity for ReynoldsKind::viscosity

  bool operator==(const ReynoldsSpec&) const = default;
};

struct StretchingSpec {
  StretchingKind kind = StretchingKind::uniform;
  double factor = 0;  ///< tanh: a
  double re_tau = 0;  ///< natural: the friction Reynolds number for which the grid is designed
  std::string file;   ///< file: resolved path of a text file, nz + 1 face coordinates

  bool operator==(const StretchingSpec&) const = default;
};

struct TimeSpec {
  std::optional<double> end;  ///< simulation time; exactly one of end and steps
  std::optional<std::int64_t> steps;
  std::optional<double> cfl;  ///< fraction of dt_lim; exactly one of cfl and dt
  std::optional<double> dt;
  std::optional<double> dt_max;
  AccuracyLimits until;  ///< of statistics that end the run

  bool operator==(const TimeSpec&) const = default;
};

struct InitialSpec {
  InitialKind kind = InitialKind::turbulent;
  std::uint64_t seed = 1;
  std::string file;                                 ///< fields, checkpoint: resolved path
  std::array<Formula, 3> velocity{};                ///< formula: of x, y and z
  double amplitude = 1;                             ///< turbulent: of the waves, as a multiple of the usual one
  std::optional<std::array<Formula, 2>> profile{};  ///< turbulent: the mean of u and v, of z
  std::string profile_file{};                       ///< turbulent: the same, resolved path; empty: none

  bool operator==(const InitialSpec&) const = default;
};

struct SliceSpec {
  char normal = 'z';                ///< x, y or z
  double at = 0;                    ///< coordinate along the normal
  double every = 0;                 ///< simulation time
  std::vector<std::string> fields;  ///< names of fields_of(flow)

  bool operator==(const SliceSpec&) const = default;
};

/// The points of the grid where all of x, y and z are among the given ones; none: all along that axis.
struct ProbeSpec {
  std::string name;
  std::optional<std::vector<double>> x, y, z;  ///< in increasing order
  std::int64_t every = 1;                      ///< steps
  double start = 0;                            ///< simulation time
  std::vector<std::string> fields;             ///< names of fields_of(flow)

  bool operator==(const ProbeSpec&) const = default;
};

/// Quantities at the cell centres of a part of the domain, for pictures.
struct FieldsSpec {
  std::string name;
  double every = 0;                              ///< simulation time
  double start = 0;                              ///< simulation time
  std::vector<std::string> fields;               ///< names of center_quantities() or of scalars
  std::string precision;                         ///< "single" or "double"
  std::array<std::int64_t, 3> stride{1, 1, 1};   ///< every so many cells along x, y, z
  std::optional<std::array<double, 2>> x, y, z;  ///< between these coordinates; none: everywhere

  bool operator==(const FieldsSpec&) const = default;
};

/// Quantities at the cell centres for Catalyst 2, while the run goes on.
struct CatalystSpec {
  std::int64_t every = 0;              ///< steps; 0: none
  std::vector<std::string> scripts;    ///< resolved paths
  std::vector<std::string> fields;     ///< names of center_quantities() or of scalars
  std::optional<std::string> library;  ///< resolved path; none: searched for

  bool operator==(const CatalystSpec&) const = default;
};

enum class Switch { off, on };

/// Samples of statistics, spectra or densities, summed in blocks of time.
struct SamplingSpec {
  bool enabled = false;
  double start = 0;             ///< simulation time
  std::int64_t every = 10;      ///< steps
  double block = 0;             ///< simulation time of a block
  std::vector<double> heights;  ///< z of chosen planes, in increasing order; statistics have none

  bool operator==(const SamplingSpec&) const = default;
};

struct OutputSpec {
  std::string directory;                        ///< resolved path
  std::optional<std::int64_t> log_every = 100;  ///< steps; none: by the wall clock alone
  std::optional<double> log_seconds;            ///< of the wall clock; none: by steps alone
  std::int64_t timeseries_every = 10;
  std::optional<double> checkpoint_every;  ///< simulation time; none: no checkpoints except at a stop
  int checkpoint_keep = 2;
  SamplingSpec statistics;
  Switch statistics_budgets = Switch::on;
  PhaseBins statistics_phases;
  SamplingSpec spectra;
  SamplingSpec densities;
  std::vector<SliceSpec> slices;
  std::vector<ProbeSpec> probes;
  std::vector<FieldsSpec> fields;
  CatalystSpec catalyst;
  WriterSpec writer;  ///< of checkpoints and fields

  bool operator==(const OutputSpec&) const = default;
};

/// A key whose value differs between the members of an ensemble.
struct VariedKey {
  std::string path;
  /// Numbers or formulas for each member: one, or all of a key that is a list of several.
  std::vector<std::vector<std::string>> values;

  bool operator==(const VariedKey&) const = default;
};

/// Runs of one case that differ in their seeds and in other keys.
struct EnsembleSpec {
  int members = 0;                   ///< 0: no ensemble
  std::vector<std::uint64_t> seeds;  ///< one for each member, or that of the first; empty: the first has initial.seed
  std::vector<VariedKey> vary;

  bool operator==(const EnsembleSpec&) const = default;
};

struct Case {
  std::string title;
  FlowType flow_type = FlowType::channel;
  ReynoldsSpec reynolds;
  FlowParameters flow;           ///< with the viscosity of the Reynolds number
  std::array<double, 3> size{};  ///< Lx, Ly, Lz in h
  std::array<std::int64_t, 3> cells{};
  StretchingSpec stretching;
  double grid_velocity = 0;  ///< along x
  TimeSpec time;
  InitialSpec initial;
  int z_blocks = 0;                      ///< number of z blocks, `auto` already resolved: ZBlocks::default_count
  std::optional<std::string> precision;  ///< "double" or "single"; none: the program decides
  std::optional<double> max_divergence;  ///< of |div u| dt_lim; none: the precision decides
  std::optional<std::array<int, 2>> process_grid;  ///< py, pz; none: auto
  ExchangeMethods exchange;
  OutputSpec output;
  std::optional<double> walltime;  ///< seconds
  std::optional<double> watchdog;  ///< seconds; none: from the usual durations; infinite: off
  EnsembleSpec ensemble;

  bool operator==(const Case&) const = default;
};

using namespace std::string_view_literals;

/// The words, in the order of the enumerators.
template <class Enum>
inline constexpr auto names_of = std::array<std::string_view, 0>{};
template <>
inline constexpr auto names_of<FlowType> = std::array{"channel"sv, "couette"sv, "open_channel"sv, "periodic"sv};
template <>
inline constexpr auto names_of<ReynoldsKind> = std::array{"bulk"sv, "tau"sv, "center"sv, "wall"sv, "viscosity"sv};
template <>
inline constexpr auto names_of<ForcingKind> = forcing_words;
template <>
inline constexpr auto names_of<StretchingKind> = std::array{"uniform"sv, "tanh"sv, "natural"sv, "file"sv};
template <>
inline constexpr auto names_of<WallKind> = std::array{"no_slip"sv, "free_slip"sv, "slip"sv};
template <>
inline constexpr auto names_of<ScalarWallKind> = std::array{"value"sv, "flux"sv};
template <>
inline constexpr auto names_of<Diffusion> = std::array{"explicit"sv, "implicit_z"sv, "implicit"sv};
template <>
inline constexpr auto names_of<InitialKind> =
    std::array{"turbulent"sv, "laminar"sv, "zero"sv, "formula"sv, "fields"sv, "checkpoint"sv};
template <>
inline constexpr auto names_of<TridiagonalMethod> = std::array{"ptdma"sv, "transpose"sv};
template <>
inline constexpr auto names_of<Order> = std::array{"2"sv, "4"sv};
template <>
inline constexpr auto names_of<WriterKind> = std::array{"direct"sv, "hdf5"sv};
template <>
inline constexpr auto names_of<Switch> = std::array{"off"sv, "on"sv};

/// The case-file word for an enumerator.
template <class Enum>
constexpr std::string_view name(Enum value) {
  return names_of<Enum>[static_cast<std::size_t>(value)];
}

/// The enumerator for a case-file word; none if the word is unknown.
template <class Enum>
constexpr std::optional<Enum> from_name(std::string_view word) {
  const auto found = std::ranges::find(names_of<Enum>, word);
  if (found == names_of<Enum>.end()) return std::nullopt;
  return static_cast<Enum>(found - names_of<Enum>.begin());
}

/// All words of an enumeration.
template <class Enum>
std::vector<std::string> all_names() {
  return {names_of<Enum>.begin(), names_of<Enum>.end()};
}

}  // namespace sluice::io
