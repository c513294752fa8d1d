#include "cli/unknown_command.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "cli/command.h"
#include "cli/standard_error.h"
#include "core/diagnostics.h"

namespace forebay::cli {
namespace {

// What of the line is taken for a command: two words where some command begins so, or is meant.
std::string meant_command(std::span<const std::string> words,
                          std::span<const std::string_view> names) {
  if (words.size() < 2 || words[1].starts_with("-")) return words[0];
  std::string both = words[0] + " " + words[1];
  const bool group = !group_text(words[0]).empty();
  return group || !nearest_word(both, names).empty() ? both : words[0];
}

}  // namespace

std::string group_text(const std::string& word) {
  std::string text;
  for (const Command* command : all_commands()) {
    if (!command->name.starts_with(word + " ")) continue;
    text += fmt::format("  forebay {:<18} {}\n", command->name, command->summary);
  }
  return text;
}

int refuse_command(std::span<const std::string> words) {
  std::vector<std::string_view> names;
  for (const Command* command : all_commands()) names.push_back(command->name);
  const std::string unknown = meant_command(words, names);
  // A group is no command, but may be what a single word meant ("stoer").
  if (unknown == words[0]) {
    for (const Command* command : all_commands()) {
      const std::string_view word = command->name.substr(0, command->name.find(' '));
      if (std::ranges::find(names, word) == names.end()) names.push_back(word);
    }
  }
  const std::string_view near = nearest_word(unknown, names);
  tell(
      "forebay: unknown command `{}`\n  hint: {}\n", unknown,
      near.empty() ? "`forebay help` lists the commands" : fmt::format("did you mean `{}`?", near));
  return kExitUsage;
}

}  // namespace forebay::cli
