// From argv to an Invocation, with every mistake of the line collected.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/command.h"

namespace forebay::cli {

// Flags that every command takes.
[[nodiscard]] std::span<const Flag> common_flags();

// The command whose words begin `words` (the longest such), or null; `used` is how many it has.
[[nodiscard]] const Command* find_command(std::span<const std::string> words, std::size_t* used);

struct ParsedLine {
  std::vector<std::string> arguments;
  std::map<std::string, std::string, std::less<>> values;
};
// `words` follow the command's name. "--flag value", "--flag=value"; "-h" is "--help"; "--" ends
// the flags. A flag that takes a value is given once.
[[nodiscard]] ParsedLine parse_line(const Command& command, std::span<const std::string> words,
                                    Diagnostics& mistakes);

}  // namespace forebay::cli
