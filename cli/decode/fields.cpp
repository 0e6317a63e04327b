// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/decode/fields.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "cli/similar_names.h"
#include "core/base/error.h"
#include "output/print/core_fields_printer.h"
#include "output/print/nest_fields_printer.h"

namespace htmtrace {
namespace {

using FieldNames = std::vector<std::string_view>;

// Accepts fields of all traces: the type of the trace is not known yet.
void add_field(std::vector<std::string>& fields, const std::string& name) {
  const auto core = core_field_names();
  const auto nest = nest_field_names();
  const auto in = [&](const auto& names) { return std::ranges::find(names, name) != names.end(); };
  if (!in(core) && !in(nest)) {
    SimilarNames similar(name);
    for (const auto& names : {core, nest}) {
      for (const std::string_view known : names) similar.offer(known);
    }
    const std::string question = similar.question();
    throw CLI::ValidationError(
        "--fields", fmt::format("no field has the name {}{}\n  core traces: {}\n  nest traces: {}",
                                name, question.empty() ? "" : "; " + question, fmt::join(core, ","),
                                fmt::join(nest, ",")));
  }
  if (in(fields)) throw CLI::ValidationError("--fields", name + " appears twice");
  fields.push_back(name);
}

void check_fields_of(const std::vector<std::string>& fields, const FieldNames& names,
                     const char* type, const std::string& trace) {
  for (const std::string& field : fields) {
    if (std::ranges::find(names, field) != names.end()) continue;
    throw Error(
        fmt::format("cannot print the field {} of {}: it is a {} trace", field, trace, type))
        .hint(fmt::format("{} traces have: {}", type, fmt::join(names, ",")));
  }
}

}  // namespace

void declare_fields(CLI::App& app, std::vector<std::string>& fields) {
  app.add_option_function<std::vector<std::string>>(
         "--fields",
         [&fields](const std::vector<std::string>& names) {
           for (const std::string& name : names) add_field(fields, name);
         },
         "Print only these fields: ea,op,sym,... (text, json, csv)")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void check_core_fields(const std::vector<std::string>& fields, const std::string& trace) {
  check_fields_of(fields, core_field_names(), "core", trace);
}

void check_nest_fields(const std::vector<std::string>& fields, const std::string& trace) {
  check_fields_of(fields, nest_field_names(), "nest", trace);
}

FieldsFormat fields_format(DecodeFormat format) {
  if (format == DecodeFormat::kJson) return FieldsFormat::kJson;
  return format == DecodeFormat::kCsv ? FieldsFormat::kCsv : FieldsFormat::kText;
}

}  // namespace htmtrace
