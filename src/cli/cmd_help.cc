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
    fmt::print("{}", overview());
    return kExitOk;
  }
  std::size_t used = 0;
  const Command* command = find_command(call.arguments(), &used);
  if (command == nullptr || used != call.arguments().size()) {
    const std::string members = call.arguments().size() == 1 ? group_text(call.arguments()[0]) : "";
    if (members.empty()) return refuse_command(call.arguments());
    fmt::print("{}", members);
    return kExitOk;
  }
  fmt::print("{}", help_text(*command));
  return kExitOk;
}

int run_version(const Invocation& call) {
  if (call.json()) {
    fmt::print("{{\"name\":\"forebay\",\"version\":\"{}\"}}\n", version());
  } else {
    fmt::print("forebay {}\n", version());
  }
  return kExitOk;
}

}  // namespace

const Command kHelpCommand{.name = "help",
                           .arguments = "[COMMAND]",
                           .summary = "show the commands, or one command's flags",
                           .details = "",
                           .flags = kHelpFlags,
                           .arguments_min = 0,
                           .arguments_max = 2,
                           .run = run_help};
const Command kVersionCommand{.name = "version",
                              .arguments = "",
                              .summary = "print the version",
                              .details = "",
                              .flags = {},
                              .run = run_version};

}  // namespace forebay::cli
