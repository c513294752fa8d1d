// TOML into a Spec. The only file that includes the TOML library (2.5 s a compilation).
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <utility>

#define TOML_HEADER_ONLY 1
// Some bad texts ("[[[[") break the library's own assertions: those end as refusals, not as aborts.
#define TOML_ASSERT(expr) \
  (static_cast<bool>(expr) ? static_cast<void>(0) : throw std::logic_error("not TOML"))
#include <toml++/toml.h>

#include "core/bytes.h"
#include "joint/spec.h"
#include "joint/spec_check.h"
#include "joint/spec_fields.h"

namespace forebay::joint {
namespace {

struct Context {
  Diagnostics& mistakes;
  SpecPlaces& places;
};

std::string place_of(const toml::node& node, const Context& context) {
  const toml::source_region& source = node.source();
  const std::string file = source.path ? *source.path : context.places.file();
  // What came by --set names itself and has no line worth telling.
  if (file != context.places.file()) return file;
  return fmt::format("{}:{}", file, source.begin.line);
}

std::string_view kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::none:
      return "nothing";
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a text";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "true or false";
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time:
      return "a date or time";
  }
  return "something else";
}

// Fills one section from its table and remembers which keys there are.
class TableReader final : public FieldVisitor {
 public:
  // `path`: "engine", "arm.0"; `title`: "[engine]", "[[arm]]".
  TableReader(const toml::table& table, std::string path, std::string title, Context& context)
      : table_(table), path_(std::move(path)), title_(std::move(title)), context_(context) {}

  void text(const Key& key, std::string& value) override {
    if (const auto* node = find(key)) take_text(key, *node, value);
  }
  void word(const Key& key, std::string& value,
            std::span<const std::string_view> allowed) override {
    const auto* node = find(key);
    std::string chosen;
    if (node == nullptr || !take_text(key, *node, chosen)) return;
    if (std::ranges::find(allowed, chosen) == allowed.end()) {
      refuse(*node, fmt::format("`{}` cannot be `{}`", key.name, chosen), suggest(chosen, allowed));
      return;
    }
    value = chosen;
  }
  void count(const Key& key, std::uint64_t& value, CountRange range) override {
    const auto* node = find(key);
    if (node == nullptr) return;
    if (!node->is_integer()) return wrong_type(key, *node, "a whole number");
    take_count(key, *node, **node->as_integer(), value, range);
  }
  void bytes(const Key& key, std::uint64_t& value, CountRange range) override {
    const auto* node = find(key);
    if (node == nullptr) return;
    if (node->is_integer()) return take_count(key, *node, **node->as_integer(), value, range);
    if (const auto size = size_text(key, *node)) {
      take_count(key, *node, static_cast<std::int64_t>(std::min(*size, kSizeMax)), value, range);
    }
  }
  void rate(const Key& key, double& value) override {
    const auto* node = find(key);
    if (node == nullptr) return;
    if (node->is_number()) return take_number(key, *node, value, {});
    if (const auto size = size_text(key, *node)) value = static_cast<double>(*size);
  }
  void number(const Key& key, double& value, NumberRange range) override {
    if (const auto* node = find(key)) take_number(key, *node, value, range);
  }
  void toggle(const Key& key, bool& value) override {
    const auto* node = find(key);
    if (node == nullptr) return;
    if (!node->is_boolean()) return wrong_type(key, *node, "true or false");
    value = **node->as_boolean();
  }
  void texts(const Key& key, std::vector<std::string>& values) override {
    const auto* node = find(key);
    if (node == nullptr) return;
    if (!node->is_array()) return wrong_type(key, *node, "an array");
    for (const toml::node& item : *node->as_array()) {
      if (values.size() == kListMax) return refuse(item, fmt::format("`{}` is too long", key.name));
      if (const auto* word = item.as_string()) {
        values.push_back(**word);
      } else if (item.is_number()) {
        values.push_back(fmt::format("{}", *item.value<double>()));
      } else {
        refuse(item, fmt::format("`{}` holds {}", key.name, kind_of(item)));
      }
    }
  }
  void maybe(const Key& key, std::optional<double>& value) override {
    double number = 0;
    const auto* node = find(key);
    if (node == nullptr) return;
    const std::size_t before = context_.mistakes.count();
    if (node->is_string()) {
      if (const auto size = size_text(key, *node)) number = static_cast<double>(*size);
    } else {
      take_number(key, *node, number, {});
    }
    if (context_.mistakes.count() == before) value = number;
  }

  // After every key was visited: what is left over is unknown.
  void refuse_unknown(std::span<const std::string_view> of_other_kinds = {}) {
    for (const auto& [key, node] : table_) {
      if (std::ranges::find(known_, key.str()) != known_.end()) continue;
      const std::string place = place_of(node, context_);
      if (std::ranges::find(of_other_kinds, key.str()) != of_other_kinds.end()) {
        context_.mistakes.add(place,
                              fmt::format("`{}` is for a workload of another kind", key.str()),
                              "remove it, or change `kind`");
        continue;
      }
      context_.mistakes.add(place, fmt::format("unknown key `{}` in {}", key.str(), title_),
                            suggest(key.str(), known_));
    }
  }
  [[nodiscard]] std::span<const std::string_view> known() const { return known_; }

 private:
  static constexpr std::uint64_t kSizeMax = std::uint64_t{1} << 62;

  const toml::node* find(const Key& key) {
    known_.push_back(key.name);
    const toml::node* node = table_.get(key.name);
    if (node != nullptr) {
      context_.places.put(fmt::format("{}.{}", path_, key.name), place_of(*node, context_));
    }
    return node;
  }
  void refuse(const toml::node& node, std::string message, std::string hint = {}) {
    context_.mistakes.add(place_of(node, context_), std::move(message), std::move(hint));
  }
  void wrong_type(const Key& key, const toml::node& node, std::string_view wanted) {
    refuse(node, fmt::format("`{}` is {}; it must be {}", key.name, kind_of(node), wanted),
           std::string(key.help));
  }
  bool take_text(const Key& key, const toml::node& node, std::string& value) {
    if (!node.is_string()) {
      wrong_type(key, node, "a text in quotes");
      return false;
    }
    value = **node.as_string();
    return true;
  }
  void take_count(const Key& key, const toml::node& node, std::int64_t given, std::uint64_t& value,
                  CountRange range) {
    if (given < 0 || static_cast<std::uint64_t>(given) < range.min ||
        static_cast<std::uint64_t>(given) > range.max) {
      refuse(node,
             fmt::format("`{}` is {}; it must be {} to {}", key.name, given, range.min, range.max),
             std::string(key.help));
      return;
    }
    value = static_cast<std::uint64_t>(given);
  }
  void take_number(const Key& key, const toml::node& node, double& value, NumberRange range) {
    if (!node.is_number()) return wrong_type(key, node, "a number");
    const double given = *node.value<double>();
    if (!std::isfinite(given) || given < range.min || given > range.max) {
      refuse(node,
             fmt::format("`{}` is {}; it must be {} to {}", key.name, given, range.min, range.max),
             std::string(key.help));
      return;
    }
    value = given;
  }
  std::optional<std::uint64_t> size_text(const Key& key, const toml::node& node) {
    std::string text;
    if (!node.is_string()) {
      wrong_type(key, node, "a number or a size such as \"4GiB\"");
      return std::nullopt;
    }
    text = **node.as_string();
    const auto size = parse_bytes(text);
    if (!size) {
      refuse(node, fmt::format("`{}` is `{}`, which is not a size", key.name, text),
             "write a number of bytes, or a text such as \"4GiB\" or \"2.5GB\"");
    }
    return size;
  }

  const toml::table& table_;
  std::string path_;
  std::string title_;
  Context& context_;
  std::vector<std::string_view> known_;
};

constexpr std::array<std::string_view, 8> kSections{
    "run", "workload", "engine", "storage", "arm", "published", "assumption", "sensitivity"};

const toml::table* section(const toml::table& root, std::string_view name, Context& context) {
  static const toml::table kEmpty;
  const toml::node* node = root.get(name);
  if (node == nullptr) return &kEmpty;
  context.places.put(std::string(name), place_of(*node, context));
  if (const auto* table = node->as_table()) return table;
  context.mistakes.add(
      place_of(*node, context),
      fmt::format("`{}` is {}; it must be a section [{}]", name, kind_of(*node), name));
  return &kEmpty;
}

template <class Section>
void read_section(const toml::table& root, std::string_view name, Section& value,
                  Context& context) {
  TableReader reader(*section(root, name, context), std::string(name), fmt::format("[{}]", name),
                     context);
  visit(reader, value);
  reader.refuse_unknown();
}

void read_workload(const toml::table& root, WorkloadSpec& workload, Context& context) {
  const toml::table& table = *section(root, "workload", context);
  // Which keys there are depends on the kind, so that comes first.
  workload.kind = table.contains("file") ? "file" : "generated";
  if (const auto kind = table["kind"].value<std::string>();
      kind && std::ranges::find(workload_kinds(), *kind) != workload_kinds().end()) {
    workload.kind = *kind;
  }
  TableReader reader(table, "workload", "[workload]", context);
  visit(reader, workload);
  const toml::table nothing;
  TableReader all(nothing, "workload", "[workload]", context);
  WorkloadSpec any;
  visit(all, any);
  reader.refuse_unknown(all.known());
}

// Calls `read` for each table of an array of tables.
template <class Read>
void for_each_table(const toml::table& root, std::string_view name, std::size_t max,
                    Context& context, Read read) {
  const toml::node* node = root.get(name);
  if (node == nullptr) return;
  const toml::array* array = node->as_array();
  if (array == nullptr || !array->is_array_of_tables()) {
    context.mistakes.add(place_of(*node, context),
                         fmt::format("`{0}` must be a list of sections", name),
                         fmt::format("write [[{}]] above each", name));
    return;
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    const toml::table& table = *array->get(i)->as_table();
    if (i == max) {
      context.mistakes.add(place_of(table, context),
                           fmt::format("more than {} [[{}]] sections", max, name));
      return;
    }
    const std::string path = fmt::format("{}.{}", name, i);
    context.places.put(path, place_of(table, context));
    TableReader reader(table, path, fmt::format("[[{}]]", name), context);
    read(reader);
    reader.refuse_unknown();
  }
}

template <class Item>
void read_list(const toml::table& root, std::string_view name, std::vector<Item>& items,
               Context& context) {
  for_each_table(root, name, kListMax, context,
                 [&](TableReader& reader) { visit(reader, items.emplace_back()); });
}

// Arms that stand for engines' own tiers keep blocks as those do.
const char* policy_of_kind(std::string_view kind) {
  return kind == "dram" || kind == "files" ? "lru" : "forebay";
}

void read_arms(const toml::table& root, Spec& spec, Context& context) {
  for_each_table(root, "arm", kArmsMax, context, [&](TableReader& reader) {
    ArmSpec arm;
    arm.dram_bytes = spec.storage.dram_bytes;
    arm.flash_bytes = spec.storage.flash_bytes;
    arm.bytes_per_second = spec.storage.bytes_per_second;
    arm.operations_per_second = spec.storage.operations_per_second;
    arm.latency_us = spec.storage.latency_us;
    arm.policy.clear();
    visit(reader, arm);
    if (arm.policy.empty()) arm.policy = policy_of_kind(arm.kind);
    if (arm.name.empty()) arm.name = arm.kind;
    spec.arms.push_back(std::move(arm));
  });
}

void refuse_unknown_sections(const toml::table& root, Context& context) {
  for (const auto& [key, node] : root) {
    if (std::ranges::find(kSections, key.str()) != kSections.end()) continue;
    context.mistakes.add(place_of(node, context), fmt::format("unknown section `{}`", key.str()),
                         suggest(key.str(), kSections));
  }
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
  if (words.size() == 3) {
    if (toml::array* list = root[words[0]].as_array()) {
      for (toml::node& node : *list) {
        toml::table* table = node.as_table();
        if (table == nullptr) continue;
        const auto name = (*table)["name"].value<std::string>();
        const auto kind = (*table)["kind"].value<std::string>();
        if ((name ? *name : kind.value_or("")) == words[1]) return table;
      }
    }
  }
  context.mistakes.add(place, "names no key of this spec",
                       "write section.key=value, or arm.NAME.key=value");
  return nullptr;
}

void apply_set(toml::table& root, const std::string& set, Context& context) {
  const std::string place = "--set " + set;
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

std::string SpecPlaces::of(std::string_view key) const {
  const auto found = places_.find(key);
  if (found != places_.end()) return found->second;
  const std::size_t dot = key.rfind('.');
  return dot == std::string_view::npos ? file_ : of(key.substr(0, dot));
}

std::string resolve_path(const std::string& spec_file, const std::string& path) {
  const std::filesystem::path given(path);
  if (given.is_absolute()) return path;
  return (std::filesystem::path(spec_file).parent_path() / given).lexically_normal().string();
}

std::optional<Spec> read_spec(const ReadSpec& input, Diagnostics& mistakes) {
  const std::size_t before = mistakes.count();
  if (input.text.size() > kSpecBytesMax) {
    mistakes.add(input.file, fmt::format("is longer than {} bytes", kSpecBytesMax));
    return std::nullopt;
  }
  toml::table root;
  try {
    root = toml::parse(std::string_view(input.text), std::string_view(input.file));
  } catch (const toml::parse_error& error) {
    mistakes.add_at(input.file, error.source().begin.line, std::string(error.description()),
                    "this is not TOML");
    return std::nullopt;
  } catch (const std::logic_error&) {
    mistakes.add(input.file, "this is not TOML", "check its brackets and quotes");
    return std::nullopt;
  }
  SpecPlaces places(input.file);
  Context context{mistakes, places};
  for (const std::string& set : input.sets) apply_set(root, set, context);
  Spec spec;
  spec.run.name = std::filesystem::path(input.file).stem().string();
  refuse_unknown_sections(root, context);
  read_section(root, "run", spec.run, context);
  read_workload(root, spec.workload, context);
  read_section(root, "engine", spec.engine, context);
  read_section(root, "storage", spec.storage, context);
  read_arms(root, spec, context);
  read_list(root, "published", spec.published, context);
  read_list(root, "assumption", spec.assumptions, context);
  read_list(root, "sensitivity", spec.sensitivity, context);
  check_spec(spec, places, input.files_needed, mistakes);
  if (mistakes.count() != before) return std::nullopt;
  return spec;
}

}  // namespace forebay::joint
