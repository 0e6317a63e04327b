// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/recording/host_facts.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>

#include "tests/unit/temporary_folder.h"

namespace htmtrace {

TEST_CASE("the partition's id comes from lparcfg, or else from the device tree") {
  const TemporaryFolder folder;
  folder.write("proc/cpuinfo",
               "processor\t: 0\nrevision\t: 2.0 (pvr 0080 0200)\ntimebase\t: "
               "512000000\nplatform\t: pSeries\n");
  folder.write("proc/device-tree/ibm,partition-no", std::string("\0\0\1\2", 4));
  HostFacts facts = read_host_facts(folder.path());
  CHECK(facts.timebase_hz == 512000000);
  CHECK(facts.pvr == 0x00800200);
  CHECK(facts.partition_id == 0x102);
  folder.write("proc/powerpc/lparcfg", "lparcfg 1.9\npartition_id=0\nsystem_type=x\n");
  facts = read_host_facts(folder.path());
  CHECK(facts.partition_id == 0);
  CHECK(facts.page_size_bytes == static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)));

  const TemporaryFolder elsewhere;
  CHECK_FALSE(read_host_facts(elsewhere.path()).partition_id);
  CHECK_FALSE(read_host_facts(elsewhere.path()).timebase_hz);
  CHECK_FALSE(read_host_facts(elsewhere.path()).pvr);
}

TEST_CASE("the timebase is found after the entries of 8192 CPUs") {
  const TemporaryFolder folder;
  std::string text;
  for (int cpu = 0; cpu < 8192; cpu++) {
    text += "processor\t: " + std::to_string(cpu) +
            "\ncpu\t\t: POWER10 (architected), altivec supported\n"
            "clock\t\t: 4000.000000MHz\nrevision\t: 2.0 (pvr 0080 0200)\n\n";
  }
  folder.write("proc/cpuinfo", text + "timebase\t: 512000000\nplatform\t: pSeries\n");
  CHECK(read_host_facts(folder.path()).timebase_hz == 512000000);
  CHECK(read_host_facts(folder.path()).pvr == 0x00800200);
}

TEST_CASE("host facts report each existing file that cannot be read") {
  const TemporaryFolder folder;
  CHECK(read_host_facts(folder.path()).unread.empty());
  // The test creates folders with the names of the files, because root can read any file.
  folder.write("sys/kernel/notes/file", "");
  folder.write("proc/powerpc/lparcfg/file", "");
  const HostFacts facts = read_host_facts(folder.path());
  REQUIRE(facts.unread.size() == 2);
  CHECK(facts.unread[0] ==
        "cannot read " + (folder.path() / "sys/kernel/notes").string() + ": Invalid argument");
  CHECK(facts.unread[1].starts_with("cannot read " +
                                    (folder.path() / "proc/powerpc/lparcfg").string()));
  CHECK(facts.shares_processors);  // unknown counts as shared
}

TEST_CASE("the kernel's build ID comes from its notes") {
  const TemporaryFolder folder;
  const auto id_in = [&](const std::string& notes) {
    folder.write("sys/kernel/notes", notes);
    return read_host_facts(folder.path()).kernel_build_id;
  };
  const auto note = [](uint32_t type, const std::string& name, const std::string& content) {
    const std::array<uint32_t, 3> head = {static_cast<uint32_t>(name.size()),
                                          static_cast<uint32_t>(content.size()), type};
    std::string bytes(reinterpret_cast<const char*>(head.data()), sizeof(head));
    for (const std::string& part : {name, content}) {
      bytes += part;
      bytes.resize((bytes.size() + 3) / 4 * 4);
    }
    return bytes;
  };
  const std::string gnu("GNU", sizeof("GNU"));
  const std::string id = {'\x01', '\xff', '\0', '\n', '\0'};
  CHECK(read_host_facts(folder.path()).kernel_build_id.empty());
  CHECK(id_in("").empty());
  CHECK(id_in(note(3, gnu, id)) == id);
  CHECK(id_in(note(6, "Linux", "12345") + note(3, "Xen", "no") + note(1, gnu, "no") +
              note(3, gnu, id) + note(3, gnu, "second")) == id);
  const std::string whole = note(6, "Linux", "12345") + note(3, gnu, id);
  for (size_t size = 0; size < whole.size(); size++) {
    CHECK(id_in(whole.substr(0, size)).size() <= id.size());
  }
  CHECK(id_in(note(3, gnu, id).replace(4, 4, "\xff\xff\xff\xff")).empty());
  CHECK(id_in(note(3, gnu, id).replace(0, 4, "\xff\xff\xff\xff")).empty());
}

TEST_CASE("processors count as shared unless the kernel states that they are not") {
  const TemporaryFolder folder;
  CHECK_FALSE(read_host_facts(folder.path()).shares_processors);  // no partition
  folder.write("proc/powerpc/lparcfg", "lparcfg 1.9\nshared_processor_mode=1\n");
  CHECK(read_host_facts(folder.path()).shares_processors);
  folder.write("proc/powerpc/lparcfg", "lparcfg 1.9\nshared_processor_mode=0\n");
  CHECK_FALSE(read_host_facts(folder.path()).shares_processors);
  folder.write("proc/powerpc/lparcfg", "lparcfg 1.9\n");
  CHECK(read_host_facts(folder.path()).shares_processors);
}

}  // namespace htmtrace
