// SPDX-License-Identifier: GPL-2.0-or-later
// The remembered cores of CPUs, on a machine that is modeled by files.
#include "cli/locate/location_memory.h"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <filesystem>
#include <map>
#include <string>

#include "cli/locate/location_stamp.h"
#include "core/base/error.h"
#include "tests/unit/temporary_folder.h"

using namespace htmtrace;

namespace {

namespace fs = std::filesystem;

constexpr const char* kTree = "sys/firmware/devicetree/base/";
constexpr const char* kCpu3 = "sys/devices/system/cpu/cpu3/";

// A file of sysfs that is removed and added gets another inode number. A new file here does so only
// while the old file exists.
void add_anew(const TemporaryFolder& machine, const std::string& path) {
  static unsigned number = 0;
  const fs::path old = machine.path() / path;
  fs::rename(old, machine.path() / ("old" + std::to_string(number++)));
  if (path.find("cpu") == std::string::npos)
    machine.write(path, "IBM,9105-22A");
  else
    fs::create_directories(old);
}

struct Machine {
  Machine() {
    folder.write("proc/sys/kernel/random/boot_id", "b60d2cbd\n");
    folder.write(std::string(kTree) + "model", std::string("IBM,9105-22A") + '\0');
    folder.write(std::string(kTree) + "system-id", "IBM,0278 ABC");
    for (const char* part : {"of_node", "topology", "cache"}) {
      fs::create_directories(folder.path() / kCpu3 / part);
    }
  }
  LocationMemory memory() const {
    return LocationMemory(Fd(::open(notes.path().c_str(), O_RDONLY | O_DIRECTORY)), folder.path());
  }

  TemporaryFolder folder, notes;
};

// `cores` with the stamps of this moment.
StampedCores stamped(const Machine& machine, const std::map<int, TraceTarget>& cores) {
  StampedCores all;
  for (const auto& [cpu, core] : cores)
    all[cpu] = {core, location_stamp(cpu, machine.folder.path())};
  return all;
}

const std::map<int, TraceTarget> kCore3 = {{3, {0, 1, 8}}};

}  // namespace

TEST_CASE("located cores are remembered, and further ones are added") {
  const Machine machine;
  CHECK(machine.memory().read().empty());
  machine.memory().add(stamped(machine, kCore3));
  CHECK(machine.memory().read() == stamped(machine, kCore3));
  machine.memory().add(stamped(machine, {{0, {1, 2, 3}}, {5, {0, 0, 4}}}));
  machine.memory().add(stamped(machine, {{5, {0, 0, 5}}}));
  CHECK(machine.memory().read() ==
        stamped(machine, {{0, {1, 2, 3}}, {3, {0, 1, 8}}, {5, {0, 0, 5}}}));
  CHECK(location_stamp(3, machine.folder.path()).find(' ') == std::string::npos);
}

TEST_CASE("a reboot, a migration and hotplug invalidate a remembered core") {
  const Machine machine;
  const StampedCores before = stamped(machine, kCore3);
  machine.memory().add(before);
  SUBCASE("reboot") {
    machine.folder.write("proc/sys/kernel/random/boot_id", "cdfe0123\n");
  }
  SUBCASE("migration to another machine") {
    machine.folder.write(std::string(kTree) + "system-id", "IBM,0278 XYZ");
  }
  SUBCASE("migration there and back") {
    add_anew(machine.folder, std::string(kTree) + "model");
  }
  SUBCASE("the processor is removed and added") {
    add_anew(machine.folder, std::string(kCpu3) + "of_node");
  }
  SUBCASE("the CPU goes offline and online") {
    add_anew(machine.folder, std::string(kCpu3) + "topology");
  }
  SUBCASE("the CPU is offline") {
    fs::remove(machine.folder.path() / kCpu3 / "cache");
  }
  CHECK(machine.memory().read().empty());
  machine.memory().add(stamped(machine, {{4, {0, 0, 1}}}));
  CHECK(machine.notes.read("cores").find("3 0 1 8") == std::string::npos);
  // An answer keeps the stamp of its trace, even if it is remembered after the event.
  machine.memory().add(before);
  CHECK(machine.memory().read() == stamped(machine, {{4, {0, 0, 1}}}));
}

TEST_CASE("hotplug of another CPU does not invalidate a remembered core") {
  const Machine machine;
  machine.memory().add(stamped(machine, kCore3));
  fs::create_directories(machine.folder.path() / "sys/devices/system/cpu/cpu4/topology");
  CHECK(machine.memory().read() == stamped(machine, kCore3));
}

TEST_CASE("a damaged line is no remembered core, and does not hide the other lines") {
  const Machine machine;
  const StampedCores both = stamped(machine, {{3, {0, 1, 8}}, {4, {0, 0, 12}}});
  machine.memory().add(both);
  const std::string whole = machine.notes.read("cores");
  // The file is cut anywhere, or a character differs.
  for (size_t at = 0; at < whole.size(); at++) {
    machine.notes.write("cores", whole.substr(0, at));
    for (const auto& [cpu, known] : machine.memory().read()) CHECK(known == both.at(cpu));
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    machine.notes.write("cores", changed);
    const StampedCores found = machine.memory().read();
    CHECK(found.size() <= 1);
    for (const auto& [cpu, known] : found) CHECK(known == both.at(cpu));
  }
  machine.notes.write("cores", "3 0 1 eight\n" + whole);
  CHECK(machine.memory().read() == both);
}

TEST_CASE("a state of the machine that cannot be read is no stamp") {
  const Machine machine;
  machine.memory().add(stamped(machine, kCore3));
  const fs::path boot_id = machine.folder.path() / "proc/sys/kernel/random/boot_id";
  fs::remove(boot_id);
  CHECK_THROWS_AS(location_stamp(3, machine.folder.path()), Error);
  fs::create_directory(boot_id);
  CHECK_THROWS_AS(location_stamp(3, machine.folder.path()), Error);
  CHECK(machine.memory().read().empty());
}

TEST_CASE("a folder that cannot be written to is an error, and leaves no draft") {
  const Machine machine;
  fs::create_directories(machine.notes.path() / "cores/in_the_way");
  CHECK_THROWS_AS(machine.memory().add(stamped(machine, kCore3)), Error);
  CHECK(std::distance(fs::directory_iterator(machine.notes.path()), {}) == 1);
}
