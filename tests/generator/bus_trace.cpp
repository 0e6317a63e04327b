// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/generator/bus_trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "tests/encoder/nest.h"
#include "tests/encoder/power10.h"
#include "tests/generator/bus_codes.h"

namespace htmtrace::generator {
namespace {

constexpr uint64_t kReach = 512;  // htm-nest-trace(5), RESPONSES

std::string_view scope_name(bool power8, unsigned scope) {
  static constexpr std::string_view kPower8[] = {"NP", "GP", "SP", "RP", "FP", "FP", "FP", "FP"};
  static constexpr std::string_view kPower9[] = {"Ln", "1", "Nn", "G", "Rn", "Vg", "6", "7"};
  return power8 ? kPower8[scope] : kPower9[scope];
}

// Units, one or more of each kind. htm-nest-trace(5), UNITS.
struct Unit {
  unsigned number;
  std::string_view name;
};
constexpr Unit kPower8Units[] = {
    {0x00, "core"}, {0x1b, "core"},  {0x7f, "core"},  {0x80, "mcs"},       {0x9f, "mcs"},
    {0xa0, "pci"},  {0xa7, "pci"},   {0xa8, "other"}, {0xb4, "pervasive"}, {0xb8, "nx"},
    {0xbf, "nx"},   {0xc0, "other"}, {0xf7, "other"}, {0xf8, "mcd"},       {0xff, "mcd"},
};
constexpr Unit kPower9Units[] = {
    {0x042, "core"},  {0x3e7, "core"},      {0x008, "mcs"}, {0x010, "nmmu"}, {0x093, "int"},
    {0x120, "hca"},   {0x121, "pba"},       {0x122, "adu"}, {0x123, "psi"},  {0x124, "nhtm0"},
    {0x125, "nhtm1"}, {0x126, "pervasive"}, {0x101, "npu"}, {0x211, "mcd"},  {0x290, "vas"},
    {0x30b, "nx"},    {0x300, "capp"},      {0x3bf, "bus"}, {0x3a5, "pci"},  {0x000, "other"},
};

bool is_retry(std::string_view response) {
  return response.starts_with("rty") || response == "ack_rty" || response == "addr_ack_rty" ||
         response == "target:rty_short" || response == "target:rty_long";
}

bool fits(std::string_view pattern, unsigned value) {
  for (size_t i = 0; i < pattern.size(); i++) {
    const char bit = (value >> (pattern.size() - 1 - i) & 1) != 0 ? '1' : '0';
    if (pattern[i] != '-' && pattern[i] != bit) return false;
  }
  return true;
}

size_t exactness(std::string_view pattern) {
  return pattern.size() - static_cast<size_t>(std::count(pattern.begin(), pattern.end(), '-'));
}

unsigned filled(Random& random, std::string_view pattern) {
  unsigned value = 0;
  for (const char bit : pattern) {
    value = value << 1 | (bit == '-' ? static_cast<unsigned>(random.below(2)) : bit - '0');
  }
  return value;
}

class BusGenerator {
 public:
  BusGenerator(Random& random, bool power8, unsigned engine, uint64_t begin)
      : random_(random),
        power8_(power8),
        engine_(engine),
        codes_(power8 ? power8_bus_codes() : power9_bus_codes()),
        time_(begin) {
    // With few tickets most open commands share their keys; with few responses they accumulate.
    tickets_ = std::array{1U, 2U, 8U, power8 ? 64U : 128U}.at(random.below(4));
    responses_per_mille_ = std::array{60U, 300U, 450U}.at(random.below(3));
    put_stamp(power10_record(0));
  }

  BusTrace make(unsigned records) {
    while (trace_.words.size() < records * size_t{2}) {
      if (random_.chance(20)) {
        const auto elapsed = static_cast<uint32_t>(random_.below(300));
        time_ += elapsed;
        put_stamp(power10_time(kPower10TimeElapsed, 0, elapsed));
      } else if (random_.chance(10)) {
        trace_.words.insert(trace_.words.end(), {0, 0});
        trace_.counts.filler++;
      } else if (random_.chance(responses_per_mille_)) {
        put_responses();
      } else {
        put_command();
      }
    }
    return std::move(trace_);
  }

 private:
  struct Open {
    size_t line;
    uint64_t event;  // its number
  };

  void put(const uint64_t pair[2]) { trace_.words.insert(trace_.words.end(), pair, pair + 2); }

  void put_stamp(uint64_t stamp) {
    uint64_t pair[kPower10CompanionWords];
    power10_companion(pair, time_, 0, stamp);
    if (power8_) pair[0] = 0;
    put(pair);
    trace_.counts.stamps++;
    events_++;
  }

  unsigned below(unsigned limit) { return static_cast<unsigned>(random_.below(limit)); }
  uint64_t offset() const { return trace_.words.size() * 8; }

  // Chooses the code of a random command. Avoids codes that fit two rows equally well.
  void choose_code(BusLine& line) {
    for (;;) {
      const BusCommandCode& code = codes_.commands[random_.below(codes_.commands.size())];
      line.ttype = filled(random_, code.ttype);
      line.tsize = filled(random_, code.encoding);
      if (random_.chance(30)) line.tsize = below(power8_ ? 128 : 256);
      const BusCommandCode* best = nullptr;
      bool tie = false;
      for (const BusCommandCode& row : codes_.commands) {
        if (!fits(row.ttype, line.ttype) || !fits(row.encoding, line.tsize)) continue;
        const size_t exact = exactness(row.encoding);
        tie = best != nullptr && exact == exactness(best->encoding);
        if (best == nullptr || exact > exactness(best->encoding)) best = &row;
      }
      if (tie) continue;
      rule_ = best == nullptr ? 'a' : best->port;
      line.name = best == nullptr ? std::string_view() : best->name;
      line.response_class = best == nullptr ? std::string_view() : best->response_class;
      return;
    }
  }

  unsigned port_of(const BusLine& line, uint64_t address) const {
    const auto bits = static_cast<unsigned>(address / 128 % 4);
    if (power8_) return rule_ == 'a' ? bits % 2 : 0;
    switch (rule_) {
      case 'a':
        return bits;
      case 'f':
        return bits % 2;
      case 't':
        return line.transaction % 2;
      case 'e':
        return line.tsize / 2 % 2;
      default:
        return static_cast<unsigned>(rule_ - '0');
    }
  }

  void put_command() {
    BusLine line;
    line.is_command = true;
    line.engine = engine_;
    line.offset = offset();
    choose_code(line);
    line.group = random_.chance(900) ? 1 : below(power8_ ? 8 : 16);
    line.chip = random_.chance(900) ? below(2) : below(8);
    const Unit unit = power8_ ? kPower8Units[random_.below(std::size(kPower8Units))]
                              : kPower9Units[random_.below(std::size(kPower9Units))];
    line.unit = unit.number;
    line.unit_name = unit.name;
    line.transaction = below(32);
    line.scope = random_.chance(900) ? 3 : below(power8_ ? 4 : 6);
    line.ticket = below(tickets_);
    if (power8_) {
      line.source = below(4);
      line.priority = below(4);
    }
    // Few addresses make a report count several commands for each.
    const uint64_t logical = random_.below(4) * kBlockBytes + random_.below(16) * 64;
    const bool own = random_.chance(900);
    const uint64_t address = real_of_logical(logical) + (own ? 0 : kBlockBytes);
    line.port = port_of(line, address);
    if (rule_ == 'a') {
      line.address = address;
      if (own) line.logical = logical;
    }
    const unsigned delta = below(power8_ ? 256 : 16);
    time_ += delta;
    line.time = time_;
    trace_.counts.commands++;
    if (line.name.empty()) trace_.counts.unnamed_commands++;
    open_.push_back({.line = trace_.lines.size(), .event = ++events_});
    trace_.lines.push_back(line);

    std::optional<nest_response> embedded;
    if (random_.chance(150)) embedded = choose_response();
    const nest_command command = {.address = address,
                                  .group = line.group,
                                  .chip = line.chip,
                                  .unit = line.unit,
                                  .transaction = line.transaction,
                                  .scope = line.scope,
                                  .ticket = line.ticket,
                                  .ttype = line.ttype,
                                  .tsize = line.tsize,
                                  .source = line.source,
                                  .priority = line.priority,
                                  .delta = delta};
    const uint64_t at = offset();
    uint64_t pair[2];
    (power8_ ? power8_nest_command : power9_nest_command)(pair, &command,
                                                          embedded ? &*embedded : nullptr);
    put(pair);
    if (embedded) respond(*embedded, at);
  }

  void put_responses() {
    const unsigned delta = below(power8_ ? 256 : 16);
    time_ += delta;
    std::array<std::optional<nest_response>, 4> responses;
    const nest_response* slots[4] = {};
    for (size_t i = 0; i < responses.size(); i++) {
      if (random_.chance(500)) continue;
      responses.at(i) = choose_response();
      slots[i] = &*responses.at(i);
    }
    const uint64_t at = offset();
    uint64_t pair[2];
    (power8_ ? power8_nest_responses : power9_nest_responses)(pair, slots, delta);
    put(pair);
    trace_.counts.response_records++;
    for (const std::optional<nest_response>& response : responses) {
      if (response) respond(*response, at);
    }
  }

  // Chooses a response to an open command, to a command that is too old, or to none. Retries are
  // frequent.
  nest_response choose_response() {
    nest_response response{};
    response.code = random_.chance(300) ? 0x17 + below(5) : below(32);
    response.target = power8_ ? 0 : below(64);
    if (open_.empty() || random_.chance(50)) {
      response.ticket = below(tickets_);
      response.scope = 3;
      return response;
    }
    const size_t recent = std::min<size_t>(open_.size(), random_.chance(500) ? 3 : 1000);
    const BusLine& line = trace_.lines.at(open_.at(open_.size() - 1 - random_.below(recent)).line);
    response.group = line.group;
    response.chip = line.chip;
    response.ticket = line.ticket;
    response.scope = line.scope;
    response.snoop_port = power8_ ? line.port : line.port / 2;
    return response;
  }

  bool same_key(const BusLine& line, const nest_response& response, unsigned port) const {
    return line.scope == response.scope && line.ticket == response.ticket &&
           line.group == response.group && line.chip == response.chip && line.port == port;
  }

  // Compares every open command: slow, but obviously right.
  void respond(const nest_response& response, uint64_t at) {
    trace_.counts.responses++;
    const unsigned port = power8_ ? response.snoop_port : response.snoop_port * 2 + engine_;
    const uint64_t event = events_ + 1;
    std::erase_if(open_, [&](const Open& one) { return event - one.event > 2 * kReach; });
    std::vector<size_t> candidates;
    for (size_t i = 0; i < open_.size(); i++) {
      if (event - open_.at(i).event > kReach) continue;
      if (same_key(trace_.lines.at(open_.at(i).line), response, port)) candidates.push_back(i);
    }
    if (candidates.empty()) {
      put_alone(response, port, at);
      return;
    }
    trace_.counts.matched++;
    if (candidates.size() > 1) trace_.counts.ambiguous++;
    BusLine& line = trace_.lines.at(open_.at(candidates.front()).line);
    open_.erase(open_.begin() + static_cast<ptrdiff_t>(candidates.front()));
    line.response = response.code;
    for (const BusResponseCode& row : codes_.responses) {
      if (row.response_class == line.response_class && row.code == response.code) {
        line.response_name = row.name;
      }
    }
    line.retry = is_retry(line.response_name);
    if (line.response_name.empty()) trace_.counts.unnamed_responses++;
  }

  void put_alone(const nest_response& response, unsigned port, uint64_t at) {
    BusLine line;
    line.engine = engine_;
    line.offset = at;
    line.time = time_;
    line.group = response.group;
    line.chip = response.chip;
    line.ticket = response.ticket;
    line.scope = response.scope;
    line.port = port;
    line.response = response.code;
    trace_.lines.push_back(line);
    events_++;
  }

  Random& random_;
  bool power8_;
  unsigned engine_;
  const BusCodes& codes_;
  uint64_t time_;
  uint64_t events_ = 0;
  unsigned tickets_;
  unsigned responses_per_mille_;
  char rule_ = 'a';  // the port rule of the current command
  std::vector<Open> open_;
  BusTrace trace_;
};

std::string response_text(const BusLine& line) {
  if (!line.response) return {};
  if (!line.response_name.empty()) return std::string(line.response_name);
  return fmt::format("{:02x}", *line.response);
}

std::string hex_address(std::optional<uint64_t> address) {
  return address ? fmt::format("{:016x}", *address) : std::string(16, '-');
}

}  // namespace

std::string BusLine::command_text() const {
  return name.empty() ? fmt::format("{:02x}{:02x}", ttype, tsize) : std::string(name);
}

std::string BusLine::text(bool power8) const {
  const std::string place = fmt::format("scope={} port={} group={} chip={} ticket={:02x}",
                                        scope_name(power8, scope), port, group, chip, ticket);
  if (!is_command) {
    return fmt::format("time={} engine={} command=- {} response={:02x}\n", time, engine, place,
                       response.value_or(0));
  }
  return fmt::format(
      "time={} engine={} command={} ra={} la={} {} unit={:03x}:{} transaction={:02x} tsize={:02x} "
      "response={}\n",
      time, engine, command_text(), hex_address(address), hex_address(logical), place, unit,
      unit_name, transaction, tsize, response ? response_text(*this) : "-");
}

std::string BusLine::json(bool power8, std::string_view target) const {
  std::string line = fmt::format(R"({{"target":"{}","type":"{}","offset":{},"time":{},"engine":{})",
                                 target, is_command ? "command" : "response", offset, time, engine);
  if (is_command) {
    if (!name.empty()) line += fmt::format(R"(,"command":"{}")", name);
    line += fmt::format(R"(,"ttype":{},"tsize":{})", ttype, tsize);
    if (address) line += fmt::format(R"(,"ra":"0x{:016x}")", *address);
    if (logical) line += fmt::format(R"(,"la":"0x{:016x}")", *logical);
    line += fmt::format(R"(,"unit":{},"unit_name":"{}","transaction":{})", unit, unit_name,
                        transaction);
    if (power8) line += fmt::format(R"(,"source":{},"priority":{})", source, priority);
  }
  line += fmt::format(R"(,"scope":"{}","port":{},"group":{},"chip":{},"ticket":{})",
                      scope_name(power8, scope), port, group, chip, ticket);
  if (response) line += fmt::format(R"(,"response_code":{})", *response);
  if (!response_name.empty()) line += fmt::format(R"(,"response":"{}")", response_name);
  return line + "}\n";
}

std::string BusLine::csv(bool power8, std::string_view target) const {
  const std::string ra = address ? fmt::format("0x{:016x}", *address) : "";
  const std::string la = logical ? fmt::format("0x{:016x}", *logical) : "";
  const std::string sender =
      is_command ? fmt::format("{},{},{}", unit, unit_name, transaction) : std::string(",,");
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", target, offset, time,
                     engine, is_command ? "command" : "response", is_command ? command_text() : "",
                     ra, la, scope_name(power8, scope), port, group, chip, sender, ticket,
                     is_command ? fmt::format("{}", tsize) : "", response_text(*this));
}

BusTrace random_bus_trace(Random& random, bool power8, unsigned engine, unsigned records,
                          uint64_t begin) {
  return BusGenerator(random, power8, engine, begin).make(records);
}

}  // namespace htmtrace::generator
