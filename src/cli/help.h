// Everything that is generated from the command tables: help, man pages, shell completions.
#pragma once

#include <string>

#include "cli/command.h"

namespace forebay::cli {

[[nodiscard]] std::string overview();                         // `forebay help`
[[nodiscard]] std::string help_text(const Command& command);  // `forebay CMD --help`
[[nodiscard]] std::string man_page();                         // forebay(1), troff
[[nodiscard]] std::string man_page(const Command& command);   // forebay-CMD(1)
[[nodiscard]] std::string bash_completion();
[[nodiscard]] std::string zsh_completion();
[[nodiscard]] std::string fish_completion();

}  // namespace forebay::cli
