// SPDX-License-Identifier: GPL-2.0-or-later
// The option --fields, which chooses the fields of each line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/decode/options.h"
#include "output/print/fields_line.h"

namespace htmtrace {

// Throws CLI::ValidationError for a name that neither core nor nest traces have.
void declare_fields(CLI::App& app, std::vector<std::string>& fields);

// Throw Error if a trace of this type does not have one of the fields.
void check_core_fields(const std::vector<std::string>& fields, const std::string& trace);
void check_nest_fields(const std::vector<std::string>& fields, const std::string& trace);

// `format` is text, JSON or CSV.
FieldsFormat fields_format(DecodeFormat format);

}  // namespace htmtrace
