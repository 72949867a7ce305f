#include "core/device/together.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/device/deferred.hpp"
#include "core/support/error.hpp"
#include "core/support/phase.hpp"

namespace sluice {

namespace {

using device::end_turn;
using device::run_together;
using Tasks = std::vector<std::function<void()>>;

/// Tasks that write their number, `turns` times.
Tasks writers(std::string& text, int count, int turns) {
  Tasks tasks;
  for (int n = 0; n < count; ++n) {
    tasks.emplace_back([&text, n, turns] {
      for (int turn = 0; turn < turns; ++turn) {
        text += std::to_string(n);
        end_turn();
      }
    });
  }
  return tasks;
}

TEST(Together, TasksTakeTurns) {
  std::string text;
  run_together(writers(text, 3, 2));
  EXPECT_EQ(text, "012012");
}

TEST(Together, ATaskMayEndBeforeOthers) {
  std::string text;
  Tasks tasks = writers(text, 3, 3);
  tasks[1] = [&] { text += "x"; };
  run_together(tasks);
  EXPECT_EQ(text, "0x20202");
}

TEST(Together, OneTaskOrNone) {
  std::string text;
  run_together({});
  run_together(writers(text, 1, 2));
  EXPECT_EQ(text, "00");
  EXPECT_EQ(device::task_number(), 0U);
  end_turn();
}

TEST(Together, TasksHaveNumbers) {
  std::vector<std::size_t> numbers;
  const auto note = [&] { numbers.push_back(device::task_number()); };
  run_together({note, note, note});
  EXPECT_EQ(numbers, (std::vector<std::size_t>{1, 2, 3}));
}

TEST(Together, TasksOfATaskRunInOrder) {
  std::string text;
  run_together({[&] { run_together(writers(text, 2, 2)); }, [&] { text += "x"; }});
  ASSERT_NE(text.find('x'), std::string::npos);
  text.erase(text.find('x'), 1);
  EXPECT_EQ(text, "0011");
}

TEST(Together, ATaskMayKeepItsTurn) {
  std::string text;
  Tasks tasks = writers(text, 2, 2);
  tasks[0] = [&] {
    const device::KeepTurn keep;
    text += "a";
    end_turn();
    text += "b";
  };
  run_together(tasks);
  EXPECT_EQ(text, "ab11");
}

/// One that outlives its task does not count in another one.
TEST(Together, AKeptTurnEndsWithItsTask) {
  std::string text;
  std::unique_ptr<device::KeepTurn> kept;
  Tasks tasks = writers(text, 2, 2);
  tasks[0] = [&] { kept = std::make_unique<device::KeepTurn>(); };
  run_together(tasks);
  tasks = writers(text, 2, 2);
  tasks[0] = [&] {
    const device::KeepTurn keep;
    kept.reset();
    text += "a";
    end_turn();
    text += "b";
  };
  run_together(tasks);
  EXPECT_EQ(text, "11ab11");
}

TEST(Together, OthersEndWhenATaskThrows) {
  std::string text;
  Tasks tasks = writers(text, 3, 2);
  tasks[1] = [] { throw Error(ExitCode::numerics, "second"); };
  tasks.emplace_back([] { throw Error(ExitCode::io, "fourth"); });
  try {
    run_together(tasks);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "second");
  }
  EXPECT_EQ(text, "0202");
}

/// An error that a task handles while others throw and handle theirs.
TEST(Together, ErrorsAreThoseOfTheirTask) {
  std::string text;
  const auto fail = [&](const std::string& name, int turns) {
    try {
      throw Error(ExitCode::internal, name);
    } catch (const Error&) {
      for (int turn = 0; turn < turns; ++turn) end_turn();
      try {
        throw;  // the error that is being handled
      } catch (const Error& error) {
        text += error.what();
      }
    }
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  };
  run_together({[&] { fail("a", 2); }, [&] { fail("b", 1); }, [&] { fail("c", 3); }});
  EXPECT_EQ(text, "bac");
}

TEST(Together, PhasesAreThoseOfTheirTask) {
  const Phase outer("outer");
  const auto open = [](const char* name, const std::string& expected) {
    const Phase phase(name);
    end_turn();
    EXPECT_EQ(Phase::open(), expected);
  };
  run_together({[&] { open("a", "outer, a"); }, [&] { open("b", "outer, b"); }});
  EXPECT_EQ(Phase::open(), "outer");
}

TEST(Together, DeferredValuesReachTheirTask) {
  std::vector<double> values;
  Tasks tasks;
  for (int n = 0; n < 3; ++n) {
    tasks.emplace_back([&values, n] {
      Deferred<double> value;
      value.set(n + 0.5);
      values.push_back(value.value());
    });
  }
  run_together(tasks);
  EXPECT_EQ(values, (std::vector<double>{0.5, 1.5, 2.5}));
}

/// Tasks can be run again and again, more of them or fewer.
TEST(Together, MayBeRepeated) {
  for (const int count : {2, 40, 3}) {
    std::string text;
    run_together(writers(text, count, 1));
    std::string expected;
    for (int n = 0; n < count; ++n) expected += std::to_string(n);
    EXPECT_EQ(text, expected);
  }
}

}  // namespace

}  // namespace sluice
