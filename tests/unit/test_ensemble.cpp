// The section ensemble of a case: its checks, and the settings that make the members' cases.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/case/ensemble.hpp"
#include "tests/unit/case_fixture.hpp"

namespace sluice::io {
namespace {

using namespace case_test;
using nlohmann::json;

Case member(const Case& common, std::size_t number, Lines settings = {}) {
  const Lines own = member_settings(common).at(number);
  settings.insert(settings.end(), own.begin(), own.end());
  return parse(minimal, settings);
}

TEST(Ensemble, ACaseHasNone) {
  const Case settings = parse(minimal);
  EXPECT_EQ(settings.ensemble.members, 0);
  EXPECT_TRUE(member_settings(settings).empty());
  EXPECT_FALSE(contains(resolved_yaml(settings), "ensemble"));
}

TEST(Ensemble, IsWrittenAndReadBack) {
  expect_round_trip(parse(minimal, {"ensemble={members: 3}"}));
  expect_round_trip(parse(minimal, {"ensemble={members: 2, seeds: [5, 9], vary: {time.cfl: [0.5, 0.25]}}"}));
  expect_round_trip(
      parse(minimal, {"ensemble={members: 2, vary: {flow.forcing.pressure_gradient: [1, 'max(1, sin(t))']}}"}));
}

TEST(Ensemble, SeedsFollowThatOfTheCaseOrTheFirst) {
  const Lines three{"ensemble.members=3", "initial.seed=7"};
  for (std::size_t n = 0; n < 3; ++n) EXPECT_EQ(member(parse(minimal, three), n, three).initial.seed, 7 + n);
  const Lines from_20{"ensemble={members: 3, seeds: 20}"};
  for (std::size_t n = 0; n < 3; ++n) EXPECT_EQ(member(parse(minimal, from_20), n, from_20).initial.seed, 20 + n);
  const Lines listed{"ensemble={members: 3, seeds: [4, 4, 1]}"};
  EXPECT_EQ(member(parse(minimal, listed), 1, listed).initial.seed, 4U);
  EXPECT_EQ(member(parse(minimal, listed), 2, listed).initial.seed, 1U);
}

TEST(Ensemble, AMemberIsTheCaseOfASingleRun) {
  const Lines two{"ensemble={members: 2, seeds: 3, vary: {flow.reynolds.bulk: [4000, 5000], time.dt: [0.01, 0.02]}}"};
  const Case single = parse(minimal, {"flow.reynolds.bulk=5000", "time.dt=0.02", "initial.seed=4",
                                      "output.directory=/cases/here/output/member_01"});
  EXPECT_TRUE(member(parse(minimal, two), 1, two) == single);
}

TEST(Ensemble, DirectoriesHaveTheWidthOfTheLargestNumber) {
  EXPECT_EQ(member_names(parse(minimal, {"ensemble.members=2"})), (Lines{"member_00", "member_01"}));
  EXPECT_EQ(member_names(parse(minimal, {"ensemble.members=100"})).back(), "member_99");
  EXPECT_EQ(member_names(parse(minimal, {"ensemble.members=101"})).front(), "member_000");
}

TEST(Ensemble, TheRecordHasWhatVaries) {
  const Case settings =
      parse(minimal, {"ensemble={members: 2, vary: {time.cfl: [0.5, 1e-1], flow.forcing.bulk_velocity: [1, '1+t']}}"});
  const json record = json::parse(ensemble_record(settings));
  EXPECT_EQ(record["members"], 2);
  EXPECT_EQ(record["directories"], json({"member_00", "member_01"}));
  const json varied{{"initial.seed", {1, 2}}, {"time.cfl", {0.5, 0.1}}, {"flow.forcing.bulk_velocity", {1, "1+t"}}};
  EXPECT_EQ(record["varied"], varied);
  EXPECT_EQ(directories_in_record(ensemble_record(settings), "f"), (Lines{"member_00", "member_01"}));
  EXPECT_THROW(directories_in_record("{}", "f"), Error);
}

TEST(Ensemble, EqualMembersAreFound) {
  const auto equal_in = [](const std::string& ensemble) {
    return first_equal_members(parse(minimal, {"ensemble={members: 3" + ensemble + "}"}));
  };
  EXPECT_EQ(equal_in(""), "");
  EXPECT_EQ(equal_in(", seeds: [1, 2, 1]"), "member_00 and member_02");
  EXPECT_EQ(equal_in(", seeds: [1, 2, 1], vary: {time.cfl: [0.5, 0.6, 0.7]}"), "");
  EXPECT_EQ(equal_in(", seeds: [2, 1, 1], vary: {time.dt: [5, 1, 1.0]}"), "member_01 and member_02");
  EXPECT_EQ(first_equal_members(parse(minimal, {"initial.type=laminar", "ensemble={members: 2}"})),
            "member_00 and member_01");
  EXPECT_EQ(first_equal_members(parse(minimal, {"initial.type=laminar", "ensemble={members: 1}"})), "");
}

TEST(Ensemble, WithoutSeedsTheRecordHasNone) {
  const Case settings = parse(minimal, {"initial.type=laminar", "ensemble={members: 2, vary: {time.cfl: [0.5, 0.6]}}"});
  EXPECT_FALSE(json::parse(ensemble_record(settings))["varied"].contains("initial.seed"));
  const Lines own = member_settings(settings).at(0);
  for (const std::string& one : own) EXPECT_FALSE(contains(one, "initial.seed"));
}

TEST(Ensemble, KeysThatMembersShareAreRefused) {
  for (const std::string key : {"grid.cells", "grid.velocity", "domain.size", "time.diffusion", "solver.z_blocks",
                                "parallel.grid", "output.directory", "output.statistics.every", "ensemble.members"})
    EXPECT_TRUE(contains(fault("ensemble={members: 2, vary: {" + key + ": [1, 2]}}"), "all members have the same"))
        << key;
  EXPECT_TRUE(contains(fault("ensemble={members: 2, vary: {walltime: [1, 2]}}"), "all members have the same"));
  EXPECT_TRUE(contains(fault("ensemble={members: 2, vary: {initial.seed: [1, 2]}}"), "ensemble.seeds"));
  EXPECT_TRUE(contains(fault("ensemble={members: 2, vary: {title: [1, 2]}}"), "no numbers"));
  EXPECT_TRUE(
      contains(fault("ensemble={members: 2, vary: {flow: {reynolds: {bulk: [1, 2]}}}}"),
               "ensemble.vary.flow: the key is a section; write paths of keys in it, such as flow.reynolds.bulk"));
  EXPECT_TRUE(contains(fault("ensemble={members: 2, vary: {flow.reynolds.bulkk: [1, 2]}}"), "'flow.reynolds.bulk'"));
}

TEST(Ensemble, ValuesAreCheckedAsThoseOfTheirKeys) {
  EXPECT_TRUE(contains(fault("ensemble={members: 2, vary: {time.dt: [0.1, -1]}}"),
                       "ensemble.vary.time.dt[1]: '-1' is out of range"));
  EXPECT_TRUE(contains(fault("ensemble={members: 2, vary: {time.dt_max: [0.1, none]}}"), "cannot be varied"));
  EXPECT_TRUE(contains(fault("ensemble={members: 2, vary: {time.dt: 0.1}}"), "is not a list"));
  EXPECT_TRUE(contains(fault("ensemble={members: 2, vary: {time.dt: [[0.1], 0.2]}}"), "not a value of one member"));
  EXPECT_TRUE(contains(fault("ensemble={members: 2, vary: 3}"), "is not a map"));
  const auto of_velocity = [](const std::string& value) {
    return fault("ensemble={members: 2, vary: {walls.bottom.velocity: [[0, 0, 0], " + value + "]}}");
  };
  EXPECT_TRUE(contains(of_velocity("0.1"), "velocity[1]: '0.1' is not a list; allowed: a list of 3 numbers"));
  EXPECT_TRUE(contains(of_velocity("[0, 0]"), "velocity[1]: a list of 2 where 3 are needed"));
  EXPECT_TRUE(contains(of_velocity("[0, 0, [0]]"), "velocity[1]: a list is not a value of one member"));
  EXPECT_TRUE(contains(of_velocity("[0, 0, 'q']"), "velocity[1][2]: the text \"q\" is not a formula"));
}

TEST(Ensemble, KeysOfSeveralNumbersCanBeVaried) {
  const Lines two{"ensemble={members: 2, vary: {walls.bottom.velocity: [[0, 0, 0], [0.5, 'sin(t)', 0]]}}"};
  const Case common = parse(minimal, two);
  expect_round_trip(common);
  EXPECT_TRUE(member(common, 1, two) == parse(minimal, {"walls.bottom.velocity=[0.5, sin(t), 0]", "initial.seed=2",
                                                        "output.directory=/cases/here/output/member_01"}));
  EXPECT_EQ(json::parse(ensemble_record(common))["varied"]["walls.bottom.velocity"].dump(),
            "[[0,0,0],[0.5,\"sin(t)\",0]]");
}

TEST(Ensemble, SettingsChangeSingleVariedKeys) {
  const Lines lines{"ensemble={members: 2, vary: {time.cfl: [0.5, 0.6], flow.reynolds.bulk: [4000, 5000]}}",
                    "ensemble.vary.flow.reynolds.tau=[150, 180]", "ensemble.vary.initial.amplitude=[0.1, 0.2]"};
  const std::vector<VariedKey> varied = parse(minimal, lines).ensemble.vary;
  ASSERT_EQ(varied.size(), 3U);  // the Reynolds number of another kind takes the place of the first
  EXPECT_EQ(varied[0].path, "time.cfl");
  EXPECT_EQ(varied[1].path, "flow.reynolds.tau");
  EXPECT_EQ(varied[2].path, "initial.amplitude");
  EXPECT_EQ(parse(minimal, {"ensemble.members=2", "ensemble.vary.time.cfl=[0.5, 0.6]"}).ensemble.vary.size(), 1U);
  EXPECT_TRUE(parse(minimal, {"ensemble={members: 2, vary: }"}).ensemble.vary.empty());
  const Lines unknown = faults(minimal, {"ensemble.members=2", "ensemble.vary.time.cfll=[0.5, 0.6]"});
  ASSERT_EQ(unknown.size(), 1U);
  EXPECT_TRUE(contains(unknown[0], "ensemble.vary.time.cfll: unknown key"));
  EXPECT_TRUE(contains(unknown[0], "did you mean 'time.cfl'?"));
}

TEST(Ensemble, ContradictionsAreRefused) {
  EXPECT_TRUE(contains(fault("ensemble={members: 2, vary: {time.cfl: [0.5, 0.6], time.dt: [0.1, 0.2]}}"),
                       "ensemble.vary.time.dt: contradicts ensemble.vary.time.cfl"));
  EXPECT_TRUE(contains(fault("ensemble={members: 3, vary: {time.dt: [0.1, 0.2]}}"), "2 values for 3 members"));
  EXPECT_TRUE(contains(fault("ensemble={members: 3, seeds: [1, 2]}"), "a list of 2 for 3 members"));
  EXPECT_TRUE(contains(fault("ensemble={members: 0}"), "out of range"));
  EXPECT_TRUE(contains(fault("ensemble={seeds: 1}"), "ensemble.members: missing"));
  const Lines split = faults(minimal, {"ensemble.members=2", "parallel.grid=[1, 2]"});
  ASSERT_EQ(split.size(), 1U);
  EXPECT_TRUE(contains(split[0], "runs on one process"));
  EXPECT_TRUE(faults(minimal, {"ensemble.members=2", "parallel.grid=[1, 1]"}).empty());
  const Lines laminar = faults(minimal, {"ensemble={members: 2, seeds: 1}", "initial.type=laminar"});
  ASSERT_EQ(laminar.size(), 1U);
  EXPECT_TRUE(contains(laminar[0], "laminar has no seed"));
}

}  // namespace
}  // namespace sluice::io
