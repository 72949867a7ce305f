// The energy of GPUs, read from a stand-in for NVML.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/device/energy_meter.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {
namespace {

const MPI_Comm world = MPI_COMM_WORLD;

std::string bus_of(int gpu) {
  return "0000:0" + std::to_string(gpu + 1) + ":00.0";
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resources);
    return error.what();
  }
  return "";
}

/// The stand-in as this process has loaded it, which the meter loads again.
class Gpus : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(library_, nullptr) << dlerror();
    support(true);
  }
  ~Gpus() override {
    EXPECT_EQ(function<int()>("stand_in_users")(), 0);  // all that began to use NVML have ended it
    dlclose(library_);
  }

  void set(int gpu, double joules) {
    function<void(int, unsigned long long)>("stand_in_set")(gpu, static_cast<unsigned long long>(1000 * joules));
  }
  void support(bool counters) { function<void(bool)>("stand_in_support")(counters); }

 private:
  template <class Function>
  Function* function(const char* name) {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }

  void* library_ = dlopen(NVML_STAND_IN, RTLD_NOW);
};

TEST_F(Gpus, AreFoundByTheirBusAddress) {
  for (int gpu = 0; gpu < 4; ++gpu) set(gpu, 100 + gpu);
  const device::EnergyCounters counters = device::nvml_counters(NVML_STAND_IN, bus_of(2));
  ASSERT_EQ(counters.list.size(), 1);
  EXPECT_EQ(counters.device, "GPU");
  EXPECT_DOUBLE_EQ(counters.list[0].joules(), 102);
}

TEST_F(Gpus, WithoutCounterLibraryOrAddressAreRefused) {
  const auto message = [](const std::string& library, const std::string& bus) {
    return message_of([&] { device::nvml_counters(library, bus); });
  };
  EXPECT_EQ(message(NVML_STAND_IN, "0000:99:00.0"), "nvmlDeviceGetHandleByPciBusId: Not Found");
  EXPECT_NE(message("libno_such_nvml.so.1", bus_of(0)).find("libno_such_nvml.so.1"), std::string::npos);
  EXPECT_EQ(message("libm.so.6", bus_of(0)), "NVML has no function nvmlInit_v2");
  support(false);
  EXPECT_EQ(message(NVML_STAND_IN, bus_of(0)), "nvmlDeviceGetTotalEnergyConsumption: Not Supported");
}

TEST_F(Gpus, OfAllRanksAreSummedAndASharedOneCountsOnce) {
  const int ranks = size_of(world);
  for (const bool shared : {false, true}) {
    const int gpu = shared ? rank_of(world) / 2 : rank_of(world);  // shared: by ranks 0 and 1
    set(gpu, 1000);
    EnergyMeter meter(world, [&] { return device::nvml_counters(NVML_STAND_IN, bus_of(gpu)); });
    meter.start();
    set(gpu, 1000 + 10 * (gpu + 1));
    const Energy energy = meter.energy();
    const int gpus = shared ? (ranks + 1) / 2 : ranks;
    EXPECT_EQ(energy.fault, "");
    EXPECT_EQ(energy.devices, gpus);
    EXPECT_DOUBLE_EQ(energy.joules, 10 * gpus * (gpus + 1) / 2.0);
    EXPECT_GT(energy.seconds, 0);
    meter.start();
    EXPECT_EQ(meter.energy().joules, 0);
  }
}

TEST_F(Gpus, ThatFailOnOneRankAreNotMeasuredOnAny) {
  const bool last = rank_of(world) == size_of(world) - 1;
  EnergyMeter none(world, [&] { return device::nvml_counters(NVML_STAND_IN, last ? "nowhere" : bus_of(0)); });
  EXPECT_EQ(none.energy().fault, "nvmlDeviceGetHandleByPciBusId: Not Found");

  EnergyMeter meter(world, [&] { return device::nvml_counters(NVML_STAND_IN, bus_of(rank_of(world))); });
  meter.start();
  EXPECT_EQ(meter.energy().fault, "");
  support(!last);
  EXPECT_EQ(meter.energy().fault, "nvmlDeviceGetTotalEnergyConsumption: Not Supported");
}

TEST(EnergyMeter, PassesOnErrorsThatAreNotOfCounters) {
  EXPECT_THROW(EnergyMeter(world, []() -> device::EnergyCounters { throw Error(ExitCode::internal, "a defect"); }),
               Error);
}

}  // namespace
}  // namespace sluice
