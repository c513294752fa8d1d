#include "cli/commands.h"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <utility>

#include "cli/device_schemes.h"
#include "cli/help.h"
#include "cli/parse.h"
#include "cli/process_limit.h"
#include "cli/standard_error.h"
#include "cli/standard_output.h"
#include "cli/unknown_command.h"

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
    &kTargetCommand,
    &kKeyGenerateCommand,
    &kKeyCheckCommand,
    &kBenchDiskCommand,
    &kBenchFabricCommand,
    &kBenchStoreCommand,
    &kTraceDescribeCommand,
    &kTraceConvertCommand,
    &kTraceSynthesiseCommand,
    &kSimCommand,
    &kVersionCommand,
    &kHelpCommand,
};

// "forebay store": the group alone lists its members.
int no_command(std::span<const std::string> words) {
  const std::string members = words.size() == 1 ? group_text(words[0]) : "";
  if (members.empty()) return refuse_command(words);
  tell_lines(members);
  return kExitUsage;
}

int run_words(std::vector<std::string> words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h") words = {"help"};
  if (words[0] == "--version") words = {"version"};
  std::size_t used = 0;
  const Command* command = find_command(words, &used);
  if (command == nullptr) {
    // "forebay store --help" asks for help on the group.
    const bool asks = words.size() == 2 && (words[1] == "--help" || words[1] == "-h");
    const std::string members = asks ? group_text(words[0]) : "";
    if (members.empty()) return no_command(words);
    fmt::print("{}", members);
    return kExitOk;
  }
  Diagnostics mistakes;
  ParsedLine line = parse_line(*command, std::span(words).subspan(used), mistakes);
  if (line.values.contains("--help")) {
    fmt::print("{}", help_text(*command));
    return kExitOk;
  }
  if (!mistakes.empty()) {
    tell_lines(mistakes.text());
    tell("see `forebay {} --help`\n", command->name);
    return kExitUsage;
  }
  return command->run(Invocation(*command, std::move(line.arguments), std::move(line.values)));
}

}  // namespace

std::span<const Command* const> all_commands() { return kCommands; }

int run_main(int argc, char** argv) {
  hold_standard_descriptors();
  explain_process_limits();
  add_device_schemes();
  std::vector<std::string> words(argv + 1, argv + argc);
  return with_checked_output([&] { return run_words(std::move(words)); });
}

}  // namespace forebay::cli
