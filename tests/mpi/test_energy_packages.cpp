// The energy of CPU packages, read from a stand-in for the folder of the system.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "core/device/energy_meter.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice {
namespace {

namespace fs = std::filesystem;

const MPI_Comm world = MPI_COMM_WORLD;

/// A folder such as /sys/class/powercap, the same for all ranks.
class Packages : public testing::Test {
 protected:
  Packages() {
    std::string path = (fs::temp_directory_path() / ("sluice_powercap_" + std::to_string(getpid()))).string();
    broadcast(path, world);
    folder_ = path;
    on_root([&] {
      add("intel-rapl:0", "package-0", 5);
      add("intel-rapl:0:0", "dram", 1000);
      add("intel-rapl:1", "psys", 3000);
      add("intel-rapl:2", "package-1", 7);  // after a zone that is no package, and a gap follows
      add("intel-rapl:5", "package-1-die-1", 9);
      add("intel-rapl-mmio:0", "package-0", 5);
    });
  }
  ~Packages() override {
    on_root([&] { fs::remove_all(folder_); });
  }

  void on_root(const std::function<void()>& action) { run_on_root(world, action); }
  static void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text << "\n"; }
  void set(const std::string& zone, double joules) {
    write(folder_ / zone / "energy_uj", std::to_string(std::llround(1e6 * joules)));
  }
  void add(const std::string& zone, const std::string& name, double joules) {
    fs::create_directories(folder_ / zone);
    write(folder_ / zone / "name", name);
    write(folder_ / zone / "max_energy_range_uj", "100000000");
    set(zone, joules);
  }
  EnergyMeter meter() {
    return EnergyMeter(world, [this] { return device::package_counters(folder_); });
  }

  fs::path folder_;
};

TEST_F(Packages, OfAHostCountOnceAndAlone) {
  EnergyMeter meter = this->meter();
  meter.start();
  on_root([&] {
    set("intel-rapl:0", 6);
    set("intel-rapl:0:0", 2000);
    set("intel-rapl:1", 5000);
    set("intel-rapl:2", 9.5);
    set("intel-rapl:5", 13);
    set("intel-rapl-mmio:0", 50);
  });
  const Energy energy = meter.energy();
  EXPECT_EQ(energy.fault, "");
  EXPECT_EQ(energy.device, "CPU package");
  EXPECT_EQ(energy.devices, 3);
  EXPECT_NEAR(energy.joules, 1 + 2.5 + 4, 1e-9);
}

TEST_F(Packages, MayStartAgainFromZero) {
  EnergyMeter meter = this->meter();
  on_root([&] { set("intel-rapl:0", 95); });
  meter.start();
  on_root([&] { set("intel-rapl:0", 2); });
  EXPECT_NEAR(meter.energy().joules, 7, 1e-9);
  on_root([&] { set("intel-rapl:0", 1); });
  EXPECT_NEAR(meter.energy().joules, 7 + 99, 1e-9);
  for (const double joules : {60.0, 20.0, 70.0, 30.0}) {
    on_root([&] { set("intel-rapl:0", joules); });
    meter.update(0);
  }
  EXPECT_NEAR(meter.energy().joules, 7 + 99 + 59 + 60 + 50 + 60, 1e-9);
}

TEST_F(Packages, ThatCannotBeReadAreNotMeasured) {
  EnergyMeter meter = this->meter();
  meter.start();
  const fs::path file = folder_ / "intel-rapl:2" / "energy_uj";
  on_root([&] { write(file, "unknown"); });
  EXPECT_EQ(meter.energy().fault, file.string() + " cannot be read (it contains no energy)");
  EXPECT_EQ(this->meter().energy().fault, meter.energy().fault);
  on_root([&] { fs::remove(file); });
  EXPECT_EQ(this->meter().energy().fault, file.string() + " cannot be read (No such file or directory)");
  EXPECT_EQ(EnergyMeter(world, [] { return device::package_counters("/no/folder"); }).energy().fault,
            "the system has no energy counter of a CPU package in /no/folder");
}

}  // namespace
}  // namespace sluice
