// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/nest_trace/units.h"

#include <span>

namespace htmtrace::nest {
namespace {

struct UnitRow {
  unsigned mask;
  unsigned value;
  std::string_view name;
};

// The first matching row gives the name. The POWER8 rows come from hw-trace's source, the POWER9
// rows from its pull request 1.
constexpr UnitRow kPower8[] = {
    {0xf8, 0xa0, "pci"}, {0xf8, 0xb0, "pervasive"}, {0xf8, 0xb8, "nx"},
    {0xf8, 0xf8, "mcd"}, {0x80, 0x00, "core"},      {0xe0, 0x80, "mcs"},
};

constexpr UnitRow kPower9[] = {
    {0x3f8, 0x010, "nmmu"},  {0x3fc, 0x090, "int"},   {0x3ff, 0x120, "hca"},
    {0x3ff, 0x121, "pba"},   {0x3ff, 0x122, "adu"},   {0x3ff, 0x123, "psi"},
    {0x3ff, 0x124, "nhtm0"}, {0x3ff, 0x125, "nhtm1"}, {0x3f8, 0x120, "pervasive"},
    {0x3fe, 0x210, "mcd"},   {0x3f8, 0x290, "vas"},   {0x3fc, 0x308, "nx"},
    {0x37c, 0x300, "capp"},  {0x3ff, 0x3bf, "bus"},   {0x3e0, 0x3a0, "pci"},
    {0x178, 0x008, "mcs"},   {0x340, 0x100, "npu"},   {0x050, 0x040, "core"},
};

}  // namespace

std::string_view unit_name(Layout layout, unsigned unit) {
  if (layout == Layout::kUnknown) return "other";
  const std::span<const UnitRow> rows = layout == Layout::kPower8
                                            ? std::span<const UnitRow>(kPower8)
                                            : std::span<const UnitRow>(kPower9);
  for (const UnitRow& row : rows) {
    if ((unit & row.mask) == row.value) return row.name;
  }
  return "other";
}

}  // namespace htmtrace::nest
