// SPDX-License-Identifier: GPL-2.0-or-later
// Tests copies of /proc/kallsyms and of the maps of processes.
#include "output/recording/symbol_files.h"

#include <doctest/doctest.h>

#include "core/base/error.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {

TEST_CASE("the maps of all processes with maps are saved, each after its header line") {
  const TemporaryFolder proc;
  proc.write("17/maps", "10000000-10010000 r-xp 00000000 00:01 5 /bin/prog\n");
  proc.write("17/comm", "a) prog\n");
  proc.write("17/stat", "17 (a) prog) S 1 17 17 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 4711 1 2\n");
  proc.write("2/maps", "");  // a kernel thread
  proc.write("2/comm", "kthreadd\n");
  proc.write("uptime", "1 2\n");
  TraceSink sink = TraceSink::create(proc.path() / "saved", Existing::kRefuse);
  CHECK(save_maps(proc.path(), "it began", sink) == 1);
  sink.finish();
  CHECK(proc.read("saved") ==
        "# maps of all processes when it began\n"
        "# pid 17 4711 a) prog\n"
        "10000000-10010000 r-xp 00000000 00:01 5 /bin/prog\n");
  CHECK_THROWS_AS(save_maps(proc.path() / "nowhere", "", sink), Error);
}

TEST_CASE("names of the kernel are copied, and hidden addresses are reported") {
  const TemporaryFolder proc;
  const auto saved = [&](const std::string& text) {
    proc.write("kallsyms", text);
    TraceSink sink = TraceSink::create(proc.path() / "saved", Existing::kReplace);
    InputFile kallsyms = InputFile::open(proc.path() / "kallsyms");
    const bool shown = save_kallsyms(kallsyms, sink);
    sink.finish();
    CHECK(proc.read("saved") == text);
    return shown;
  };
  CHECK(saved("0000000000000000 A fixed\nc000000000010000 T first\n"));
  CHECK_FALSE(saved("0000000000000000 T first\n0000000000000000 t abc\n"));
  CHECK_FALSE(saved(""));
}

}  // namespace htmtrace
