#include <nlohmann/json.hpp>
#include <string>

#include "cli/help.h"
#include "cli/parse.h"

namespace forebay::cli {
namespace {

using Json = nlohmann::ordered_json;

Json flags_json(std::span<const Flag> flags) {
  Json rows = Json::array();
  for (const Flag& flag : flags) {
    rows.push_back({{"name", flag.name},
                    {"value", flag.value.empty() ? Json() : Json(flag.value)},
                    {"default", flag.default_text.empty() ? Json() : Json(flag.default_text)},
                    {"help", flag.help}});
  }
  return rows;
}

bool belongs(const Command& command, std::string_view name) {
  if (name.empty() || command.name == name) return true;
  return command.name.starts_with(name) && command.name[name.size()] == ' ';
}

}  // namespace

std::string help_json(std::string_view name) {
  Json commands = Json::array();
  for (const Command* command : all_commands()) {
    if (!belongs(*command, name)) continue;
    commands.push_back({{"name", command->name},
                        {"arguments", command->arguments},
                        {"arguments_min", command->arguments_min},
                        {"arguments_max", command->arguments_max},
                        {"summary", command->summary},
                        {"details", command->details},
                        {"flags", flags_json(command->flags)}});
  }
  return Json{{"commands", commands}, {"common_flags", flags_json(common_flags())}}.dump() + "\n";
}

}  // namespace forebay::cli
