#pragma once
// What the tests of the case file share: two texts, and ways to read them.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "core/support/error.hpp"
#include "io/case/case_file.hpp"

namespace sluice::io::case_test {

using Lines = std::vector<std::string>;

/// Line numbers in the tests refer to this text.
inline const std::string minimal =
    "flow:\n"                          // 1
    "  reynolds: {bulk: 5714}\n"       // 2
    "domain: {size: [4*pi, pi, 2]}\n"  // 3
    "grid: {cells: [32, 16, 48]}\n"    // 4
    "time: {end: 200}\n";              // 5

/// The design's own example, every section of it.
inline const std::string full = R"(title: Turbulent channel, Re_tau = 180
flow:
  type: channel                    # presets
  reynolds: {bulk: 5714}
  forcing: {bulk_velocity: 1.0}
domain: {size: [4*pi, 4*pi/3, 2]}
grid:
  cells: [256, 192, 144]
  stretching: {type: tanh, factor: 1.6}
walls: {bottom: {velocity: [0, 0, 0]}, top: {velocity: [0, 0, 0]}}
time:
  end: 200
  cfl: 0.9
  diffusion: explicit
initial: {type: turbulent, seed: 1}
solver: {tridiagonal: ptdma, z_blocks: auto}
parallel: {grid: auto, exchange: auto}
output:
  directory: retau180
  log: {every: 100}
  timeseries: {every: 10}
  checkpoint: {every: 20.0, keep: 2}
  statistics: {start: 60.0, every: 10, block: 10.0}
  slices: [{normal: z, at: 0.083, every: 1.0, fields: [u]}]
  probes: [{name: wake, x: [0, pi], z: 0.1, every: 5, fields: [u, w]}]
walltime: 00:20:00
watchdog: 00:10:00
)";

inline Case parse(const std::string& text, const Lines& overrides = {}) {
  return parse_case(text, "case.yaml", overrides, "/cases/here");
}

/// The lines of the message after its head; empty if the case is accepted.
inline Lines faults(const std::string& text, const Lines& overrides = {}) {
  try {
    parse(text, overrides);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    std::istringstream message(error.what());
    Lines lines;
    for (std::string line; std::getline(message, line);) lines.push_back(line);
    lines.erase(lines.begin());
    return lines;
  }
  return {};
}

/// The only fault of the minimal case with these overrides.
inline std::string fault(const std::string& override_text) {
  const Lines lines = faults(minimal, {override_text});
  EXPECT_EQ(lines.size(), 1U) << override_text;
  return lines.size() == 1 ? lines[0] : "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline void expect_round_trip(const Case& settings) {
  const std::string text = resolved_yaml(settings);
  const Case again = parse_case(text, "resolved.yaml", {}, "/elsewhere", {known_exchange_methods()});
  EXPECT_TRUE(again == settings) << text;
  EXPECT_EQ(resolved_yaml(again), text);
}

}  // namespace sluice::io::case_test
