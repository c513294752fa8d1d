#include "cli/help.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/parse.h"

namespace forebay::cli {
namespace {

std::string flag_synopsis(const Flag& flag) {
  return flag.value.empty() ? std::string(flag.name) : fmt::format("{} {}", flag.name, flag.value);
}

std::string flag_help(const Flag& flag) {
  std::string help(flag.help);
  if (!flag.default_text.empty()) help += fmt::format(" (default {})", flag.default_text);
  return help;
}

}  // namespace

std::string overview() {
  std::string text =
      "forebay: the storage data path that keeps GPUs fed, and the joint test that proves it\n\n"
      "usage: forebay COMMAND [ARGUMENT...] [--flag VALUE...]\n\n";
  for (const Command* command : all_commands()) {
    text += fmt::format("  {:<18} {}\n", command->name, command->summary);
  }
  text +=
      "\nEvery command takes --json and --help (-h). `forebay help --json` prints this as data,\n"
      "`forebay help --generate DIR` writes man pages and shell completions. Exit codes: 0 ok,\n"
      "1 the checked thing failed, 2 usage or configuration, 3 inconclusive.\n";
  return text;
}

std::string help_text(const Command& command) {
  std::string text =
      fmt::format("usage: forebay {}{}{} [--flag VALUE...]\n\n{}\n", command.name,
                  command.arguments.empty() ? "" : " ", command.arguments, command.summary);
  if (!command.details.empty()) text += fmt::format("\n{}\n", command.details);
  std::size_t width = 0;
  for (const auto table : {command.flags, common_flags()}) {
    for (const Flag& flag : table) width = std::max(width, flag_synopsis(flag).size());
  }
  text += "\nflags:\n";
  for (const auto table : {command.flags, common_flags()}) {
    for (const Flag& flag : table) {
      text += fmt::format("  {:<{}}  {}\n", flag_synopsis(flag), width, flag_help(flag));
    }
  }
  return text;
}

}  // namespace forebay::cli
