// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/perf_maps.h"

#include <algorithm>
#include <string_view>

namespace htmtrace {
namespace {

// The pages of Linux on POWER have 4 or 64 KiB.
constexpr uint64_t kPerfPageBytes = 4 << 10, kPerfLargestPageBytes = 64 << 10;

class PerfMapsMaker {
 public:
  PerfMapsMaker(PerfMaps& maps, const PageOwners& pages) : maps_(maps), pages_(pages) {}

  void add_program(const SymbolTable::Program& program) {
    const size_t file = file_of(program.source, program.build_id);
    if (program.number != PageOwners::kNone) read_.try_emplace(program.number, file);
    PerfMaps::Program& added =
        maps_.programs.emplace_back(PerfMaps::Program{program.begin, program.end, {}});
    for (const SymbolTable::Load& load : program.loads) {
      if (load.size_bytes == 0) continue;
      const auto in_load = [&](const SymbolTable::Text& text) {
        return text.address - load.address < load.size_bytes;
      };
      added.mappings.push_back({.address = load.address,
                                .bytes = load.size_bytes,
                                .offset = load.offset,
                                .inode = program.inode,
                                .file = file,
                                .is_code = std::ranges::any_of(program.texts, in_load)});
    }
  }

  void add_process(const PageNames::Process& process) {
    PerfMaps::Process& added = maps_.processes.emplace_back(
        PerfMaps::Process{.pid = process.pid, .command = process.command, .mappings = {}});
    for (const PageNames::Mapping& mapping : process.mappings) {
      added.mappings.push_back({.address = mapping.begin,
                                .bytes = mapping.end - mapping.begin,
                                .offset = mapping.offset,
                                .inode = mapping.inode,
                                .file = file_of(mapping),
                                // For code without a path, perf would read /tmp/perf-PID.map.
                                .is_code = mapping.is_code && !mapping.path.empty()});
    }
  }

  // The name of a symbol in a module is "SYMBOL [MODULE]".
  void add_kernel_symbol(const SymbolTable::Symbol& symbol) {
    if (owned::is_user(symbol.address) || symbol.section != SymbolTable::Section::kCode) return;
    const std::string_view name = symbol.name;
    const size_t space = name.find(' ');
    const bool is_module = space != std::string_view::npos && name.ends_with(']');
    const std::string_view module = is_module ? name.substr(space + 1) : std::string_view();
    if (is_no_module(module)) return;
    // The kernel states no sizes. The table lets its last symbol extend much further.
    const uint64_t bytes = std::clamp<uint64_t>(symbol.size_bytes, 4, kPerfLargestPageBytes);
    kernel_code_.push_back(
        {.begin = symbol.address, .end = symbol.address + bytes, .module = module});
    if (name == "_text" || (name == "_stext" && reference_ != "_text")) {
      reference_ = name;
      reference_address_ = symbol.address;
    }
  }

  // Adds an area for the kernel and for each module. The initialization code of a module can be
  // far away, after another module: the area is the one with the most symbols.
  void finish() {
    std::ranges::sort(kernel_code_, {}, &Code::begin);
    std::map<std::string_view, Area> areas;
    Area area;
    const auto end_area = [&] {
      Area& known = areas[area.module];
      if (area.symbols > known.symbols) known = area;
    };
    for (const Code& code : kernel_code_) {
      if (area.symbols != 0 && code.module == area.module) {
        area.end = std::max(area.end, code.end);
        area.symbols++;
        continue;
      }
      if (area.symbols != 0) end_area();
      area = {.begin = code.begin, .end = code.end, .module = code.module, .symbols = 1};
    }
    if (area.symbols != 0) end_area();
    for (const auto& [module, code] : areas) {
      const bool is_kernel = module.empty();
      const std::string symbol = reference_.empty() ? "_text" : std::string(reference_);
      // The code ends before the code of the next module.
      const auto next = std::ranges::lower_bound(kernel_code_, code.end, {}, &Code::begin);
      const uint64_t begin = code.begin & ~(kPerfPageBytes - 1);
      const uint64_t last = (code.end + kPerfLargestPageBytes - 1) & ~(kPerfLargestPageBytes - 1);
      const uint64_t limit =
          next == kernel_code_.end() ? last : next->begin & ~(kPerfPageBytes - 1);
      maps_.kernel.push_back(
          {.name = is_kernel ? "[kernel.kallsyms]" + symbol : std::string(module),
           .begin = begin,
           .end = std::max(code.end, std::min(last, limit)),
           .reference = !is_kernel           ? 0
                        : reference_.empty() ? begin
                                             : reference_address_});
    }
  }

 private:
  size_t file_of(const PageNames::Mapping& mapping) {
    const std::string& path = mapping.path;
    if (path.empty()) return file_of("//anon", "");  // as perf calls memory without a file
    const auto known = read_.find(pages_.number_of(path, mapping.inode));
    if (known != read_.end()) return known->second;
    const bool is_memory = path == "[heap]" || path == "[stack]";
    return file_of(is_memory ? path : path.substr(0, PerfMaps::kMostPathBytes - 1) + '?', "");
  }

  size_t file_of(const std::string& path, const std::string& build_id) {
    const auto [known, added] = files_.try_emplace({path, build_id}, maps_.files.size());
    if (added) maps_.files.push_back({path, build_id});
    return known->second;
  }

  struct Code {
    uint64_t begin = 0;
    uint64_t end = 0;
    std::string_view module;  // empty: the kernel
  };
  struct Area {
    uint64_t begin = 0;
    uint64_t end = 0;
    std::string_view module;
    size_t symbols = 0;
  };

  // Linux lists code that it generates with these names (kernel/kallsyms.c and kernel/kprobes.c).
  static bool is_no_module(std::string_view module) {
    return module == "[bpf]" || module.starts_with("[__builtin__");
  }

  PerfMaps& maps_;
  const PageOwners& pages_;
  std::map<std::pair<std::string, std::string>, size_t> files_;
  std::map<uint32_t, size_t> read_;  // the files that htmtrace read, by their number in the pages
  std::vector<Code> kernel_code_;
  std::string_view reference_;  // "_text" or "_stext"
  uint64_t reference_address_ = 0;
};

}  // namespace

PerfMaps PerfMaps::of(const SymbolTable& symbols, const std::vector<PageNames::Process>& processes,
                      const std::string& kernel_build_id) {
  PerfMaps maps;
  PerfMapsMaker maker(maps, symbols.pages());
  for (const SymbolTable::Program& program : symbols.programs()) maker.add_program(program);
  for (const PageNames::Process& process : processes) {
    if (process.pid != 0) maker.add_process(process);
  }
  symbols.visit([&](const SymbolTable::Named& named) {
    if (named.layer == 0) maker.add_kernel_symbol(*named.symbol);
  });
  maker.finish();
  if (kernel_build_id.size() > SymbolTable::kMostBuildIdBytes) return maps;
  for (PerfMaps::Kernel& kernel : maps.kernel) {
    if (kernel.reference != 0) kernel.build_id = kernel_build_id;
  }
  return maps;
}

}  // namespace htmtrace
