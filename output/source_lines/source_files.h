// SPDX-License-Identifier: GPL-2.0-or-later
// The source lines of all program files of a SymbolTable. Several threads may use one object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/symbol_table.h"
#include "core/base/address.h"
#include "output/source_lines/debug_file.h"
#include "output/source_lines/debug_info.h"

namespace htmtrace {

class SourceFiles {
 public:
  // Reads a file when find() first gets an address in the file. `symbols` must outlive this object.
  SourceFiles(const SymbolTable& symbols, DebugFolders folders)
      : symbols_(symbols), folders_(std::move(folders)) {}

  // Like DebugInfo::find(), for an address with its owner (core/analysis/symbol_table.h). The texts
  // live as long as this object.
  DebugInfo::Span find(EffectiveAddr address, std::vector<SourceFrame>& frames);
  // Like DebugInfo::find_inlined().
  DebugInfo::Span find_inlined(EffectiveAddr address, std::vector<std::string_view>& names);

  // The reasons for which files have no lines, or only a part of their lines. Each reason names its
  // file.
  std::vector<std::string> problems() const;

  // The files with addresses that find() received, and how many of them have lines.
  struct Use {
    size_t files = 0;
    size_t with_lines = 0;
  };
  Use use() const;

 private:
  struct File {
    std::unique_ptr<DebugInfo> info;  // null: it has no lines
    std::string problem;
  };

  File& opened(const std::string& path);
  DebugInfo::Span gap_at(uint64_t plain) const;
  template <class Find>
  DebugInfo::Span find_in_file(EffectiveAddr address, const Find& find);

  const SymbolTable& symbols_;
  const DebugFolders folders_;
  mutable std::mutex mutex_;
  DebugBudgets budgets_;
  std::map<std::string, File> files_;
};

}  // namespace htmtrace
