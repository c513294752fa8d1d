// `forebay help [COMMAND]`, `forebay version`, and the generated pages that `make install` places.
#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/parse.h"
#include "cli/standard_error.h"
#include "cli/unknown_command.h"
#include "core/version.h"

namespace forebay::cli {
namespace {

constexpr std::array<Flag, 1> kHelpFlags{{
    {"--generate", "DIR", "", "write man pages and shell completions under DIR"},
}};

bool write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) tell("{}: cannot be written\n", path.string());
  return static_cast<bool>(file);
}

int generate(const std::filesystem::path& folder) {
  bool ok = write_file(folder / "man1/forebay.1", man_page());
  for (const Command* command : all_commands()) {
    std::string name(command->name);
    for (char& c : name) {
      if (c == ' ') c = '-';
    }
    ok = write_file(folder / fmt::format("man1/forebay-{}.1", name), man_page(*command)) && ok;
  }
  ok = write_file(folder / "bash/forebay", bash_completion()) && ok;
  ok = write_file(folder / "zsh/_forebay", zsh_completion()) && ok;
  ok = write_file(folder / "fish/forebay.fish", fish_completion()) && ok;
  return ok ? kExitOk : kExitFailed;
}

int run_help(const Invocation& call) {
  if (call.has("--generate")) return generate(call.text("--generate"));
  if (call.arguments().empty()) {
    fmt::print("{}", call.json() ? help_json("") : overview());
    return kExitOk;
  }
  std::size_t used = 0;
  const Command* command = find_command(call.arguments(), &used);
  if (command == nullptr || used != call.arguments().size()) {
    const std::string members = call.arguments().size() == 1 ? group_text(call.arguments()[0]) : "";
    if (members.empty()) return refuse_command(call.arguments());
    fmt::print("{}", call.json() ? help_json(call.arguments()[0]) : members);
    return kExitOk;
  }
  fmt::print("{}", call.json() ? help_json(command->name) : help_text(*command));
  return kExitOk;
}

int run_version(const Invocation& call) {
  constexpr std::size_t kShortIdChars = 12;
  const BuildCommit commit = build_commit();
  if (call.json()) {
    fmt::print("{{\"name\":\"forebay\",\"version\":\"{}\",\"commit\":\"{}\",\"modified\":{}}}\n",
               version(), commit.id, commit.modified);
  } else {
    fmt::print("forebay {} (commit {}{})\n", version(), commit.id.substr(0, kShortIdChars),
               commit.modified ? ", modified" : "");
  }
  return kExitOk;
}

}  // namespace

const Command kHelpCommand{.name = "help",
                           .arguments = "[COMMAND]",
                           .summary = "show the commands, or one command's flags",
                           .details =
                               "With --json the same table of commands and flags that help, man\n"
                               "pages and completions are made from. --generate writes man1/*.1,\n"
                               "bash/forebay, zsh/_forebay and fish/forebay.fish under DIR, as\n"
                               "`make install` places them.",
                           .flags = kHelpFlags,
                           .arguments_min = 0,
                           .arguments_max = 2,
                           .run = run_help};
const Command kVersionCommand{.name = "version",
                              .arguments = "",
                              .summary = "print the version, and the commit it was built from",
                              .details =
                                  "The commit is `unknown` where the sources were no git\n"
                                  "checkout; `modified`: tracked files were changed.",
                              .flags = {},
                              .run = run_version};

}  // namespace forebay::cli
