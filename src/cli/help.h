// Everything that is generated from the command tables: help, man pages, shell completions.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.h"

namespace forebay::cli {

[[nodiscard]] std::string overview();                         // `forebay help`
[[nodiscard]] std::string help_text(const Command& command);  // `forebay CMD --help`
// The table itself: all commands (""), those of a group ("store"), or one ("store get").
[[nodiscard]] std::string help_json(std::string_view name);
[[nodiscard]] std::string man_page();                        // forebay(1), troff
[[nodiscard]] std::string man_page(const Command& command);  // forebay-CMD(1)
[[nodiscard]] std::string bash_completion();
[[nodiscard]] std::string zsh_completion();
[[nodiscard]] std::string fish_completion();

}  // namespace forebay::cli
