#include "cli/parse.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace forebay::cli {
namespace {

constexpr std::array<Flag, 3> kCommonFlags{{
    {"--json", "", "", "print one JSON document instead of text"},
    {"--quiet", "", "", "no progress line"},
    {"--help", "", "", "show this help and exit"},
}};

const Flag* find_flag(const Command& command, std::string_view name) {
  for (const std::span<const Flag> table : {command.flags, common_flags()}) {
    const auto found = std::ranges::find(table, name, &Flag::name);
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

std::string suggest_flag(const Command& command, std::string_view name) {
  std::vector<std::string_view> known;
  for (const std::span<const Flag> table : {command.flags, common_flags()}) {
    for (const Flag& flag : table) known.push_back(flag.name);
  }
  return suggest(name, known);
}

void check_argument_count(const Command& command, std::span<const std::string> arguments,
                          Diagnostics& mistakes) {
  const std::size_t count = arguments.size();
  if (count < command.arguments_min) {
    mistakes.add(fmt::format("forebay {}", command.name),
                 fmt::format("needs {}, got {} argument{}", command.arguments, count,
                             count == 1 ? "" : "s"));
  }
  if (count > command.arguments_max) {
    mistakes.add(
        fmt::format("forebay {}", command.name),
        fmt::format("takes at most {} argument{}; `{}` is one too many", command.arguments_max,
                    command.arguments_max == 1 ? "" : "s", arguments[command.arguments_max]));
  }
}

// Where the value of a flag goes: over none, or behind the one that is there.
void take_value(const Flag& flag, std::string value, ParsedLine& line, Diagnostics& mistakes) {
  const auto [kept, fresh] = line.values.try_emplace(std::string(flag.name), value);
  if (fresh) return;
  if (flag.repeats) {
    kept->second += ";" + value;
  } else {
    mistakes.add(std::string(flag.name), "is given twice",
                 "once is enough; a list goes into one value");
  }
}

}  // namespace

std::span<const Flag> common_flags() { return kCommonFlags; }

const Command* find_command(std::span<const std::string> words, std::size_t* used) {
  const Command* best = nullptr;
  for (const Command* command : all_commands()) {
    std::string_view rest = command->name;
    std::size_t matched = 0;
    while (!rest.empty() && matched < words.size()) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      if (word != words[matched]) break;
      ++matched;
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
    if (rest.empty() && (best == nullptr || matched > *used)) {
      best = command;
      *used = matched;
    }
  }
  return best;
}

ParsedLine parse_line(const Command& command, std::span<const std::string> words,
                      Diagnostics& mistakes) {
  ParsedLine line;
  bool flags_ended = false;
  bool unknown_flag = false;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (!flags_ended && word == "-h") {
      line.values["--help"] = "1";
      continue;
    }
    if (flags_ended || !word.starts_with("--")) {
      line.arguments.push_back(word);
      continue;
    }
    if (word == "--") {
      flags_ended = true;
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const Flag* flag = find_flag(command, name);
    if (flag == nullptr) {
      unknown_flag = true;
      mistakes.add(name, "unknown flag", suggest_flag(command, name));
      continue;
    }
    if (flag->value.empty()) {
      if (equals != std::string::npos) mistakes.add(name, "takes no value");
      line.values[name] = "1";
    } else if (equals != std::string::npos) {
      take_value(*flag, word.substr(equals + 1), line, mistakes);
    } else if (at + 1 < words.size()) {
      take_value(*flag, words[++at], line, mistakes);
    } else {
      mistakes.add(name, fmt::format("needs a value: {} {}", name, flag->value));
    }
  }
  // A value behind an unknown flag is no argument, and nobody can tell.
  if (!line.values.contains("--help") && !unknown_flag) {
    check_argument_count(command, line.arguments, mistakes);
  }
  return line;
}

}  // namespace forebay::cli
