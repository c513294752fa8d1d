#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string>

#include "cli/help.h"
#include "cli/parse.h"

namespace forebay::cli {
namespace {

std::string flag_words(const Command& command) {
  std::string words;
  for (const auto table : {command.flags, common_flags()}) {
    for (const Flag& flag : table) words += fmt::format("{} ", flag.name);
  }
  words.pop_back();
  return words;
}

// "store get" and "store put" give { "store" -> {"get", "put"} }; "run" gives { "run" -> {} }.
std::map<std::string, std::set<std::string>> word_tree() {
  std::map<std::string, std::set<std::string>> tree;
  for (const Command* command : all_commands()) {
    const std::string name(command->name);
    const std::size_t space = name.find(' ');
    auto& second = tree[name.substr(0, space)];
    if (space != std::string::npos) second.insert(name.substr(space + 1));
  }
  return tree;
}

std::string for_fish(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'') {
      safe += "'\\''";
    } else {
      safe += c;
    }
  }
  return "'" + safe + "'";
}

}  // namespace

std::string bash_completion() {
  std::string first_words;
  std::string cases;
  for (const auto& [word, seconds] : word_tree()) {
    first_words += word + " ";
    if (seconds.empty()) continue;
    cases += fmt::format("    {}) words=\"", word);
    for (const std::string& second : seconds) cases += second + " ";
    cases += "\" ;;\n";
  }
  std::string flags;
  for (const Command* command : all_commands()) {
    flags += fmt::format("    \"{}\"*) flags=\"{}\" ;;\n", command->name, flag_words(*command));
  }
  return fmt::format(
      "_forebay() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} words= flags=\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{}\" -- \"$current\"))\n    return\n  fi\n"
      "  if [ \"$COMP_CWORD\" -eq 2 ]; then\n    case ${{COMP_WORDS[1]}} in\n{}    esac\n  fi\n"
      "  case \"${{COMP_WORDS[*]:1}}\" in\n{}  esac\n"
      "  if [[ $current == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$flags\" -- \"$current\"))\n"
      "  elif [ -n \"$words\" ]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  else\n    COMPREPLY=($(compgen -f -- \"$current\"))\n  fi\n}}\n"
      "complete -o filenames -F _forebay forebay\n",
      first_words, cases, flags);
}

std::string zsh_completion() {
  std::string firsts;
  std::string cases;
  for (const auto& [word, seconds] : word_tree()) {
    firsts += word + " ";
    if (seconds.empty()) continue;
    cases += fmt::format("    {}) compadd -- ", word);
    for (const std::string& second : seconds) cases += second + " ";
    cases += ";;\n";
  }
  std::string flags;
  for (const Command* command : all_commands()) {
    flags += fmt::format("    \"{}\"*) compadd -- {} ;;\n", command->name, flag_words(*command));
  }
  return fmt::format(
      "#compdef forebay\n"
      "if (( CURRENT == 2 )); then\n  compadd -- {}\n  return\nfi\n"
      "if [[ $words[CURRENT] == -* ]]; then\n  case \"${{(j: :)words[2,-1]}}\" in\n{}  esac\n"
      "  return\nfi\n"
      "if (( CURRENT == 3 )); then\n  case $words[2] in\n{}    *) _files ;;\n  esac\n  return\nfi\n"
      "_files\n",
      firsts, flags, cases);
}

std::string fish_completion() {
  std::string text;
  std::set<std::string> firsts;
  for (const Command* command : all_commands()) {
    const std::string name(command->name);
    const std::size_t space = name.find(' ');
    const std::string first = name.substr(0, space);
    std::string condition = fmt::format("__fish_seen_subcommand_from {}", first);
    if (space == std::string::npos) {
      text += fmt::format("complete -c forebay -n __fish_use_subcommand -a {} -d {}\n", first,
                          for_fish(command->summary));
    } else {
      const std::string second = name.substr(space + 1);
      if (firsts.insert(first).second) {
        text += fmt::format("complete -c forebay -n __fish_use_subcommand -a {}\n", first);
      }
      text += fmt::format("complete -c forebay -n {} -a {} -d {}\n", for_fish(condition), second,
                          for_fish(command->summary));
      condition += fmt::format("; and __fish_seen_subcommand_from {}", second);
    }
    for (const auto table : {command->flags, common_flags()}) {
      for (const Flag& flag : table) {
        text +=
            fmt::format("complete -c forebay -n {} -l {}{} -d {}\n", for_fish(condition),
                        flag.name.substr(2), flag.value.empty() ? "" : " -r", for_fish(flag.help));
      }
    }
  }
  return text;
}

}  // namespace forebay::cli
