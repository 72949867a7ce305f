// Errors: what a message holds, and the exit code it carries.
#include <gtest/gtest.h>

#include <string>

#include "core/decomp/exchange/exchange.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {
namespace {

/// The Error that `action` throws; fails the test if there is none.
template <class Action>
Error error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return {ExitCode::success, ""};
}

TEST(Error, CarriesMessageAndExitCode) {
  const Error error(ExitCode::restart, "step_0000100.h5 is cut short");
  EXPECT_EQ(error.code(), ExitCode::restart);
  EXPECT_STREQ(error.what(), "step_0000100.h5 is cut short");
}

TEST(Error, RequirementNamesConditionAndPlace) {
  const int cells = -3;
  const Error error = error_of([&] { SLUICE_REQUIRE(cells > 0, "cells are " + std::to_string(cells)); });
  const std::string message = error.what();
  EXPECT_EQ(error.code(), ExitCode::internal);
  EXPECT_TRUE(message.starts_with("cells are -3\n")) << message;
  EXPECT_NE(message.find("cells > 0"), std::string::npos) << message;
  EXPECT_NE(message.find("test_error.cpp:"), std::string::npos) << message;
}

TEST(Error, RequirementThatHoldsDoesNotBuildItsMessage) {
  int built = 0;
  const auto message = [&] {
    ++built;
    return std::string("never seen");
  };
  EXPECT_NO_THROW(SLUICE_REQUIRE(built == 0, message()));
  EXPECT_EQ(built, 0);
}

TEST(Error, MpiStatusIsAnInternalError) {
  EXPECT_NO_THROW(check_mpi(MPI_SUCCESS, "MPI_Send"));
  const Error error = error_of([] { check_mpi(MPI_ERR_COUNT, "MPI_Send"); });
  EXPECT_EQ(error.code(), ExitCode::internal);
  EXPECT_TRUE(std::string(error.what()).starts_with("MPI_Send: ")) << error.what();
}

TEST(Error, UnknownExchangeMethodNamesThoseThatExist) {
  const Error error = error_of([] { make_exchange("carrier_pigeon", MPI_COMM_SELF); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  const std::string message = error.what();
  EXPECT_NE(message.find("carrier_pigeon"), std::string::npos) << message;
  for (const std::string& name : exchange_methods()) {
    EXPECT_NE(message.find(name), std::string::npos) << message;
    EXPECT_NE(make_exchange(name, MPI_COMM_SELF), nullptr);
  }
}

}  // namespace
}  // namespace sluice
