// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/target_options.h"

#include <string>
#include <vector>

#include "cli/help.h"

namespace htmtrace {

void declare_indices(CLI::App& app, TargetWords& words) {
  app.option_defaults()->group(kTargetGroup);
  const auto add_list = [&](const char* name, const char* purpose, std::vector<uint32_t>& list) {
    return app
        .add_option_function<std::string>(
            name, [name, &list](const std::string& text) { list = parse_indices(name, text); },
            purpose)
        ->type_name("LIST");
  };
  add_list("--node", "Nodes, such as 0, 0-1 or 0,2 [0]", words.nodes)->default_str("0");
  add_list("--chip", "Chips of the node", words.chips);
  add_list("--core", "Cores of the chip (not for nest)", words.cores);
}

void declare_targets(CLI::App& app, TargetWords& words) {
  declare_indices(app, words);
  words.accepts_targets = true;
  app.add_option_function<std::string>(
         "--type", [&words](const std::string& text) { words.types = parse_types(text); },
         "Trace types: core, nest, llat [core]")
      ->type_name("LIST")
      ->default_str("core");
  app.add_option_function<std::vector<std::string>>(
         "--target",
         [&words](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) words.targets.push_back(parse_target(text));
         },
         "Target, such as node=0,chip=1,core=12,type=core")
      ->type_name("TARGET")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

bool has_targets(const TargetWords& words) {
  return !words.nodes.empty() || !words.chips.empty() || !words.cores.empty() ||
         !words.targets.empty();
}

}  // namespace htmtrace
