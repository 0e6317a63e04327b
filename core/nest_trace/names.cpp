// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/nest_trace/names.h"

#include <algorithm>

namespace htmtrace::nest {
namespace {

struct PortRow {
  std::string_view beginning;  // prefix of the command's name
  PortRule rule;
};

// Commands whose address field holds no address.
constexpr PortRow kPorts[] = {
    {"pMisc_", PortRule::kZero},          {"hca_req.ref_updt", PortRule::kZero},
    {"link_chk.", PortRule::kZero},       {"asb_notify", PortRule::kZero},
    {"msgsnd", PortRule::kZero},          {"chgrate.", PortRule::kZero},
    {"rpt_hang.", PortRule::kZero},       {"pbop", PortRule::kZero},
    {"fpbop", PortRule::kZero},           {"nop", PortRule::kZero},
    {"tlbi_chk", PortRule::kTransaction}, {"ptesync", PortRule::kTransaction},
    {"tlbi_op", PortRule::kEncoding},     {"slbi_op", PortRule::kEncoding},
    {"tlbi_set", PortRule::kFolded},      {"slbi_set", PortRule::kFolded},
    {"tlbi_t", PortRule::kTwo},           {"slbi_t", PortRule::kTwo},
    {"intrp_", PortRule::kThree},         {"ris_", PortRule::kThree},
    {"cop_req", PortRule::kFolded},       {"sync", PortRule::kFolded},
    {"eieio", PortRule::kFolded},         {"icbi_", PortRule::kZero},
    {"tlbivax_", PortRule::kZero},        {"cop_cmd", PortRule::kZero},
};

PortRule port_rule(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kPorts), std::end(kPorts),
                   [&](const PortRow& row) { return name.starts_with(row.beginning); });
  return found == std::end(kPorts) ? PortRule::kAddress : found->rule;
}

// True only for rty*, ack_rty, addr_ack_rty, target:rty_short and target:rty_long.
bool names_retry(std::string_view response) {
  return response.find("rty") != std::string_view::npos;
}

}  // namespace

Names::Names(std::span<const CommandRow> commands, Sizes sizes,
             std::span<const ResponseRow> responses)
    : rows_(commands), sizes_(sizes), commands_(size_t{sizes.ttypes} * sizes.encodings) {
  uint16_t number = 0;
  for (const CommandRow& row : commands) {
    for (unsigned encoding = 0; encoding < sizes.encodings; encoding++) {
      CommandName& place = commands_[row.ttype * sizes.encodings + encoding];
      const bool fits = (encoding & row.mask) == row.value;
      if (fits && place.name.empty()) place = {row.name, row.response, port_rule(row.name), number};
    }
    number++;
  }
  for (const ResponseRow& row : responses) {
    const auto of = static_cast<size_t>(row.command);
    responses_.at(of).at(row.code) = row.name;
    if (names_retry(row.name)) retries_.at(of) |= uint32_t{1} << row.code;
  }
}

}  // namespace htmtrace::nest
