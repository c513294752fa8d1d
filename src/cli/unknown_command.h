// Words that are no command: what was meant, and the commands of a group ("store").
#pragma once

#include <span>
#include <string>

namespace forebay::cli {

// One line for each command whose name begins with `word` and a space; empty when there is none.
[[nodiscard]] std::string group_text(const std::string& word);
// Says on standard error that `words` name no command, and which was meant. Answers kExitUsage.
[[nodiscard]] int refuse_command(std::span<const std::string> words);

}  // namespace forebay::cli
