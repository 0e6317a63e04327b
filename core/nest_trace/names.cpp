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

using Class = ResponseClass;

// The combined responses that POWER8 and POWER9 share. Their source is the source of the tables in
// names_power8.cpp and names_power9.cpp, which list all other responses.
constexpr ResponseRow kSharedResponses[] = {
    {Class::kAck, 0x00, "addr_error"},
    {Class::kAck, 0x04, "addr_ack_done"},
    {Class::kAck, 0x18, "rty"},
    {Class::kAck, 0x19, "rty_inc"},
    {Class::kAck, 0x1c, "rty_drp"},
    {Class::kAck, 0x1f, "ack_dead"},
    {Class::kAckBk, 0x00, "addr_error"},
    {Class::kAckBk, 0x04, "addr_ack_done"},
    {Class::kAckBk, 0x08, "addr_ack_bk"},
    {Class::kAckBk, 0x14, "abort_trm"},
    {Class::kAckBk, 0x18, "rty"},
    {Class::kAckBk, 0x19, "rty_inc"},
    {Class::kAckBk, 0x1c, "rty_drp"},
    {Class::kAckBk, 0x1f, "ack_dead"},
    {Class::kClaim, 0x00, "addr_error"},
    {Class::kClaim, 0x01, "go_M"},
    {Class::kClaim, 0x02, "go_M:lpc"},
    {Class::kClaim, 0x05, "go_M_bk"},
    {Class::kClaim, 0x06, "go_M_bk:lpc"},
    {Class::kClaim, 0x09, "go_M_bk_inc"},
    {Class::kClaim, 0x14, "abort_trm"},
    {Class::kClaim, 0x18, "rty"},
    {Class::kClaim, 0x19, "rty_inc"},
    {Class::kClaim, 0x1a, "rty_lost_claim"},
    {Class::kClaim, 0x1c, "rty_drp"},
    {Class::kClaim, 0x1f, "ack_dead"},
    {Class::kCop, 0x00, "addr_error"},
    {Class::kCop, 0x02, "addr_ack_hpc"},
    {Class::kCop, 0x18, "rty"},
    {Class::kCop, 0x19, "rty_inc"},
    {Class::kCop, 0x1c, "rty_drp"},
    {Class::kCpwrite, 0x00, "addr_error"},
    {Class::kCpwrite, 0x04, "addr_ack_done"},
    {Class::kCpwrite, 0x18, "rty"},
    {Class::kCpwrite, 0x19, "rty_inc"},
    {Class::kCpwrite, 0x1c, "rty_drp"},
    {Class::kCpwrite, 0x1f, "ack_dead"},
    {Class::kInject, 0x00, "addr_error"},
    {Class::kInject, 0x06, "addr_hpc_ack_done"},
    {Class::kInject, 0x0a, "addr_hpc_ack_bk"},
    {Class::kInject, 0x18, "rty"},
    {Class::kInject, 0x19, "rty_inc"},
    {Class::kInject, 0x1a, "rty_dma_w"},
    {Class::kInject, 0x1c, "rty_drp"},
    {Class::kInject, 0x1f, "ack_dead"},
    {Class::kLco, 0x01, "target:no_data"},
    {Class::kLco, 0x02, "Sl:no_data"},
    {Class::kLco, 0x04, "target:data"},
    {Class::kLco, 0x09, "hpc:no_data"},
    {Class::kLco, 0x18, "rty"},
    {Class::kPcl, 0x00, "addr_error"},
    {Class::kPcl, 0x04, "addr_ack_done"},
    {Class::kPcl, 0x18, "rty"},
    {Class::kPcl, 0x1a, "addr_ack_rty"},
    {Class::kPcl, 0x1c, "rty_drp"},
    {Class::kPcl, 0x1f, "ack_dead"},
    {Class::kRead, 0x00, "addr_error"},
    {Class::kRead, 0x01, "go_Me:ed"},
    {Class::kRead, 0x02, "go_Me:lpc"},
    {Class::kRead, 0x14, "abort_trm"},
    {Class::kRead, 0x18, "rty"},
    {Class::kRead, 0x19, "rty_inc"},
    {Class::kRead, 0x1c, "rty_drp"},
    {Class::kRead, 0x1e, "ack_ed_dead"},
    {Class::kRead, 0x1f, "ack_dead"},
    {Class::kRwitm, 0x00, "addr_error"},
    {Class::kRwitm, 0x01, "go_M:ed"},
    {Class::kRwitm, 0x02, "go_M:lpc"},
    {Class::kRwitm, 0x03, "go_M:T"},
    {Class::kRwitm, 0x09, "go_M_bk_inc:ed"},
    {Class::kRwitm, 0x0b, "go_M_bk_inc:T"},
    {Class::kRwitm, 0x0d, "go_M_bk_cond:ed"},
    {Class::kRwitm, 0x0e, "go_M_bk_inc_cond:T"},
    {Class::kRwitm, 0x0f, "go_M_bk_cond:T"},
    {Class::kRwitm, 0x14, "abort_trm"},
    {Class::kRwitm, 0x15, "abort_trm_ed"},
    {Class::kRwitm, 0x18, "rty"},
    {Class::kRwitm, 0x19, "rty_inc"},
    {Class::kRwitm, 0x1a, "rty_ed"},
    {Class::kRwitm, 0x1b, "rty_ed_inc"},
    {Class::kRwitm, 0x1c, "rty_drp"},
    {Class::kRwitm, 0x1d, "rty_ed_drp"},
    {Class::kRwitm, 0x1e, "ack_ed_dead"},
    {Class::kRwitm, 0x1f, "ack_dead"},
    {Class::kTm, 0x00, "no_tk_mgr"},
    {Class::kTm, 0x04, "ack_done"},
    {Class::kTm, 0x18, "rty"},
    {Class::kTm, 0x1c, "rty_drp"},
    {Class::kWrite, 0x00, "addr_error"},
    {Class::kWrite, 0x04, "addr_ack_done"},
    {Class::kWrite, 0x06, "addr_hpc_ack_done"},
    {Class::kWrite, 0x07, "addr_hpc_ack_resend"},
    {Class::kWrite, 0x08, "addr_ack_bk"},
    {Class::kWrite, 0x0a, "addr_hpc_ack_bk"},
    {Class::kWrite, 0x18, "rty"},
    {Class::kWrite, 0x19, "rty_inc"},
    {Class::kWrite, 0x1c, "rty_drp"},
    {Class::kWrite, 0x1f, "ack_dead"},
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
  add(kSharedResponses);
  add(responses);
}

void Names::add(std::span<const ResponseRow> responses) {
  for (const ResponseRow& row : responses) {
    const auto of = static_cast<size_t>(row.command);
    responses_.at(of).at(row.code) = row.name;
    if (names_retry(row.name)) retries_.at(of) |= uint32_t{1} << row.code;
  }
}

}  // namespace htmtrace::nest
