// SPDX-License-Identifier: GPL-2.0-or-later
// The option --user.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "cli/capture/identity.h"
#include "core/base/error.h"

namespace htmtrace {

// Declares the option in the group of the preceding options.
void declare_user(CLI::App& app, std::optional<Identity>& user);

// Runs `work` with the user's permissions. An Error of `work` names the user.
template <class Work>
void as_user(const std::optional<Identity>& user, Work work) {
  const ActingAs acting(user);
  try {
    work();
  } catch (const Error& error) {
    if (!user) throw;
    throw Error(error).on("user: " + user->name);
  }
}

}  // namespace htmtrace
