// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/user_option.h"

#include <string>

namespace htmtrace {

void declare_user(CLI::App& app, std::optional<Identity>& user) {
  app.add_option_function<std::string>(
         "--user", [&user](const std::string& name) { user = find_identity(name); },
         "Give up root: run the program and write files as this user")
      ->type_name("NAME");
}

}  // namespace htmtrace
