// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/golden/bus_assembler.h"

#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "tests/encoder/nest.h"
#include "tests/golden/assembler.h"

namespace htmtrace::golden {
namespace {

// The KEY=NUMBER fields of a line, hexadecimal. Every field must be used.
class Fields {
 public:
  explicit Fields(std::istringstream& text) {
    for (std::string word; text >> word;) {
      const size_t sign = word.find('=');
      if (sign == std::string::npos) throw std::runtime_error("not KEY=NUMBER: " + word);
      values_[word.substr(0, sign)] = std::stoull(word.substr(sign + 1), nullptr, 16);
    }
  }

  uint64_t take(const std::string& key) {
    const auto found = values_.find(key);
    if (found == values_.end()) return 0;
    const uint64_t value = found->second;
    values_.erase(found);
    return value;
  }
  unsigned take_small(const std::string& key) { return static_cast<unsigned>(take(key)); }

  // Returns the response whose keys begin with `slot`, if the line has one.
  std::optional<nest_response> response(const std::string& slot) {
    if (!values_.contains(slot + ".code")) return std::nullopt;
    return nest_response{.code = take_small(slot + ".code"),
                         .group = take_small(slot + ".group"),
                         .chip = take_small(slot + ".chip"),
                         .ticket = take_small(slot + ".ticket"),
                         .snoop_port = take_small(slot + ".port"),
                         .scope = take_small(slot + ".scope"),
                         .target = take_small(slot + ".target")};
  }

  void finish() const {
    if (!values_.empty()) throw std::runtime_error("unknown key: " + values_.begin()->first);
  }

 private:
  std::map<std::string, uint64_t> values_;
};

std::vector<uint64_t> command(bool power8, Fields& fields) {
  const nest_command made = {.address = fields.take("address"),
                             .group = fields.take_small("group"),
                             .chip = fields.take_small("chip"),
                             .unit = fields.take_small("unit"),
                             .transaction = fields.take_small("transaction"),
                             .scope = fields.take_small("scope"),
                             .ticket = fields.take_small("ticket"),
                             .ttype = fields.take_small("ttype"),
                             .tsize = fields.take_small("tsize"),
                             .source = fields.take_small("source"),
                             .priority = fields.take_small("priority"),
                             .delta = fields.take_small("delta")};
  const std::optional<nest_response> embedded = fields.response("4");
  std::vector<uint64_t> words(2);
  (power8 ? power8_nest_command : power9_nest_command)(words.data(), &made,
                                                       embedded ? &*embedded : nullptr);
  return words;
}

std::vector<uint64_t> responses(bool power8, Fields& fields) {
  const unsigned delta = fields.take_small("delta");
  std::optional<nest_response> made[4];
  const nest_response* slots[4] = {};
  for (unsigned i = 0; i < 4; i++) {
    made[i] = fields.response(std::to_string(i + 1));
    if (made[i]) slots[i] = &*made[i];
  }
  std::vector<uint64_t> words(2);
  (power8 ? power8_nest_responses : power9_nest_responses)(words.data(), slots, delta);
  return words;
}

}  // namespace

std::vector<uint64_t> assemble_bus(bool power8, const std::string& line) {
  std::istringstream text(line);
  std::string name;
  text >> name;
  if (name != "command" && name != "responses") return assemble(line);
  Fields fields(text);
  std::vector<uint64_t> words =
      name == "command" ? command(power8, fields) : responses(power8, fields);
  fields.finish();
  return words;
}

}  // namespace htmtrace::golden
