// TOML into a Spec.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <utility>

#include "config/places.h"
#include "config/table_reader.h"
#include "config/toml_nesting.h"
#include "core/bytes.h"
#include "joint/spec.h"
#include "joint/spec_check.h"
#include "joint/spec_fields.h"

namespace forebay::joint {
namespace {

using config::kind_of;
using config::OtherKinds;
using config::place_of;
using config::section;
using config::TableReader;
using config::too_deep;

struct Context : config::Context {
  bool result = false;  // the spec.toml of a result
};

constexpr std::size_t kShownSetMax = 100;

constexpr std::array<std::string_view, 8> kSections{
    "run", "workload", "engine", "storage", "arm", "published", "assumption", "sensitivity"};

template <class Section>
void read_section(const toml::table& root, std::string_view name, Section& value,
                  Context& context) {
  TableReader reader(*section(root, name, context), std::string(name), fmt::format("[{}]", name),
                     context);
  visit(reader, value);
  reader.refuse_unknown();
}

// The kind that decides which keys a section has; "": unknown, so none is judged by it.
std::string kind_in(const toml::table& table, std::span<const std::string_view> kinds,
                    std::string absent) {
  const toml::node* node = table.get("kind");
  if (node == nullptr) return absent;
  const std::string kind = node->value<std::string>().value_or("");
  return std::ranges::find(kinds, kind) == kinds.end() ? "" : kind;
}

// Every key of a section, whatever its kind.
template <class Section>
std::vector<std::string_view> keys_of_all_kinds(Context& context) {
  const toml::table nothing;
  TableReader all(nothing, "", "", context);
  Section any;
  visit(all, any);
  return {all.known().begin(), all.known().end()};
}

void read_workload(const toml::table& root, WorkloadSpec& workload, Context& context) {
  const toml::table& table = *section(root, "workload", context);
  workload.kind = kind_in(table, workload_kinds(), table.contains("file") ? "file" : "generated");
  TableReader reader(table, "workload", "[workload]", context);
  visit(reader, workload);
  const auto keys = keys_of_all_kinds<WorkloadSpec>(context);
  reader.refuse_unknown({.what = "a workload", .kind = workload.kind, .keys = keys});
}

template <class Item>
void read_list(const toml::table& root, std::string_view name, std::vector<Item>& items,
               Context& context) {
  config::for_each_table(root, name, config::kListMax, context,
                         [&](TableReader& reader, const toml::table&) {
                           visit(reader, items.emplace_back());
                           reader.refuse_unknown();
                         });
}

// Arms that stand for engines' own tiers keep blocks as those do.
const char* policy_of_kind(std::string_view kind) {
  return kind == "dram" || kind == "files" ? "lru" : "forebay";
}

void read_arms(const toml::table& root, Spec& spec, Context& context) {
  const auto keys = keys_of_all_kinds<ArmSpec>(context);
  config::for_each_table(
      root, "arm", kArmsMax, context, [&](TableReader& reader, const toml::table& table) {
        ArmSpec arm;
        arm.kind = kind_in(table, arm_kinds(), "");
        arm.dram_bytes = spec.storage.dram_bytes;
        arm.flash_bytes = spec.storage.flash_bytes;
        arm.bytes_per_second = spec.storage.bytes_per_second;
        arm.operations_per_second = spec.storage.operations_per_second;
        arm.latency_us = spec.storage.latency_us;
        arm.policy.clear();
        visit(reader, arm);
        reader.refuse_unknown(
            {.what = "an arm", .kind = arm.kind, .keys = keys, .allowed = context.result});
        if (arm.policy.empty()) arm.policy = policy_of_kind(arm.kind);
        if (arm.name.empty()) arm.name = arm.kind;
        spec.arms.push_back(std::move(arm));
      });
}

// `text` as TOML whose nodes say that they came from `place`.
toml::table parse_set(const std::string& text, const std::string& place) {
  try {
    return toml::parse(text, place);
  } catch (const toml::parse_error&) {
    return {};
  } catch (const std::logic_error&) {
    return {};
  }
}

// A file that a command line names lies where the command runs, not beside the specification.
std::string set_value(const std::string& path, const std::string& value) {
  if (path != "workload.file") return value;
  const bool quoted = value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
                      value.back() == value.front();
  std::error_code error;
  const auto absolute =
      std::filesystem::absolute(quoted ? value.substr(1, value.size() - 2) : value, error);
  return error ? value : absolute.lexically_normal().string();
}

// "arm.forebay.policy": the list's entry of that name, or null after saying so.
toml::table* target_of(toml::table& root, const std::vector<std::string>& words,
                       const std::string& place, Context& context) {
  if (words.size() == 2) {
    if (!root.contains(words[0])) {
      toml::table section = parse_set("v = {}", place);
      root.insert(words[0], std::move(*section.get("v")));
    }
    if (toml::table* table = root[words[0]].as_table()) return table;
  }
  std::vector<std::string> names;
  if (toml::array* list = words.size() == 3 ? root[words[0]].as_array() : nullptr) {
    for (toml::node& node : *list) {
      toml::table* table = node.as_table();
      if (table == nullptr) continue;
      const auto kind = (*table)["kind"].value<std::string>();
      names.push_back((*table)["name"].value<std::string>().value_or(kind.value_or("")));
      if (names.back() == words[1]) return table;
    }
  }
  if (words.size() == 3 && words[0] == "arm" && !names.empty()) {
    const std::vector<std::string_view> known(names.begin(), names.end());
    context.mistakes.add(place, fmt::format("no arm is named `{}`", words[1]),
                         suggest(words[1], known));
    return nullptr;
  }
  context.mistakes.add(place, "names no key of this spec",
                       "write section.key=value, or arm.NAME.key=value");
  return nullptr;
}

void apply_set(toml::table& root, const std::string& set, Context& context) {
  const std::string place =
      "--set " + (set.size() > kShownSetMax ? set.substr(0, kShownSetMax) + "..." : set);
  const std::size_t equals = set.find('=');
  std::vector<std::string> words;
  const std::string path = set.substr(0, equals);
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t dot = std::min(path.find('.', at), path.size());
    words.push_back(path.substr(at, dot - at));
    at = dot + 1;
  }
  if (equals == std::string::npos || words.size() < 2) {
    context.mistakes.add(place, "is not section.key=value");
    return;
  }
  toml::table* target = target_of(root, words, place, context);
  if (target == nullptr) return;
  const std::string value = set_value(path, set.substr(equals + 1));
  if (config::line_nested_too_deep(value) != 0) {
    context.mistakes.add(place, too_deep());
    return;
  }
  toml::table parsed = parse_set("v = " + value, place);
  // A bare word is a text: --set arm.forebay.policy=lru needs no quotes.
  if (parsed.size() != 1) parsed = parse_set("v = " + toml_quoted(value), place);
  if (toml::node* node = parsed.get("v")) {
    target->insert_or_assign(words.back(), std::move(*node));
  } else {
    context.mistakes.add(place, "has a value that is no text");
  }
}

}  // namespace

std::optional<Spec> read_spec(const ReadSpec& input, Diagnostics& mistakes) {
  const std::size_t before = mistakes.count();
  auto parsed = config::parse_document(input.file, input.text, mistakes);
  if (!parsed) return std::nullopt;
  toml::table& root = *parsed;
  config::Places places(input.file);
  Context context{{mistakes, places}, !input.files_needed};
  for (const std::string& set : input.sets) apply_set(root, set, context);
  Spec spec;
  spec.run.name = std::filesystem::path(input.file).stem().string();
  config::refuse_unknown_sections(root, kSections, context);
  read_section(root, "run", spec.run, context);
  read_workload(root, spec.workload, context);
  read_section(root, "engine", spec.engine, context);
  read_section(root, "storage", spec.storage, context);
  read_arms(root, spec, context);
  read_list(root, "published", spec.published, context);
  read_list(root, "assumption", spec.assumptions, context);
  read_list(root, "sensitivity", spec.sensitivity, context);
  for (std::size_t i = 0; i < spec.sensitivity.size(); ++i) {
    spec.sensitivity[i].place = places.of(fmt::format("sensitivity.{}", i));
  }
  check_spec(spec, places, input.files_needed, mistakes);
  if (mistakes.count() != before) return std::nullopt;
  return spec;
}

}  // namespace forebay::joint
