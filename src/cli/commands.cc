#include "cli/commands.h"

#include <fmt/core.h>

#include <array>
#include <cstdio>

#include "cli/help.h"
#include "cli/parse.h"

namespace forebay::cli {
namespace {

// A new command is a file cmd_<name>.cc, a line in commands.h and a line here.
constexpr std::array kCommands{
    &kRunCommand,
    &kReportShowCommand,
    &kStorePutCommand,
    &kStoreGetCommand,
    &kStoreStatCommand,
    &kStoreVerifyCommand,
    &kStoreExportCommand,
    &kStoreImportCommand,
    &kBenchDiskCommand,
    &kBenchStoreCommand,
    &kTraceDescribeCommand,
    &kTraceConvertCommand,
    &kTraceSynthesiseCommand,
    &kSimCommand,
    &kVersionCommand,
    &kHelpCommand,
};

int unknown_command(const std::string& word) {
  std::vector<std::string_view> names;
  for (const Command* command : kCommands) names.push_back(command->name);
  fmt::print(stderr, "forebay: unknown command `{}`\n  hint: {}\n", word, suggest(word, names));
  return kExitUsage;
}

// "forebay store": the group alone lists its members.
int show_group(const std::string& word) {
  bool any = false;
  for (const Command* command : kCommands) {
    if (!command->name.starts_with(word + " ")) continue;
    fmt::print(stderr, "  forebay {:<18} {}\n", command->name, command->summary);
    any = true;
  }
  return any ? kExitUsage : unknown_command(word);
}

}  // namespace

std::span<const Command* const> all_commands() { return kCommands; }

int run_main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words[0] == "--help" || words[0] == "-h") words = {"help"};
  if (words[0] == "--version") words = {"version"};
  std::size_t used = 0;
  const Command* command = find_command(words, &used);
  if (command == nullptr) return show_group(words[0]);
  Diagnostics mistakes;
  ParsedLine line = parse_line(*command, std::span(words).subspan(used), mistakes);
  if (line.values.contains("--help")) {
    fmt::print("{}", help_text(*command));
    return kExitOk;
  }
  if (!mistakes.empty()) {
    fmt::print(stderr, "{}see `forebay {} --help`\n", mistakes.text(), command->name);
    return kExitUsage;
  }
  return command->run(Invocation(*command, std::move(line.arguments), std::move(line.values)));
}

}  // namespace forebay::cli
