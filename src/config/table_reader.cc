#include "config/table_reader.h"

#include <algorithm>
#include <cmath>

#include "config/toml_nesting.h"
#include "core/bytes.h"

namespace forebay::config {
namespace {

constexpr std::uint64_t kSizeMax = std::uint64_t{1} << 62;

}  // namespace

std::string too_deep() { return fmt::format("is nested deeper than {} levels", kTomlLevelsMax); }

std::optional<toml::table> parse_document(const std::string& file, const std::string& text,
                                          Diagnostics& mistakes) {
  if (text.size() > kDocumentBytesMax) {
    mistakes.add(file, fmt::format("is longer than {} bytes", kDocumentBytesMax));
    return std::nullopt;
  }
  if (const std::uint64_t line = line_nested_too_deep(text); line != 0) {
    mistakes.add_at(file, line, too_deep());
    return std::nullopt;
  }
  try {
    return toml::parse(std::string_view(text), std::string_view(file));
  } catch (const toml::parse_error& error) {
    mistakes.add_at(file, error.source().begin.line, std::string(error.description()),
                    "this is not TOML; texts and sizes stand in quotes: \"4GiB\"");
  } catch (const std::logic_error&) {
    mistakes.add(file, "this is not TOML", "check its brackets and quotes");
  }
  return std::nullopt;
}

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

void TableReader::text(const Key& key, std::string& value) {
  if (const auto* node = find(key)) take_text(key, *node, value);
}

void TableReader::word(const Key& key, std::string& value,
                       std::span<const std::string_view> allowed) {
  const auto* node = find(key);
  std::string chosen;
  if (node == nullptr || !take_text(key, *node, chosen)) return;
  if (std::ranges::find(allowed, chosen) == allowed.end()) {
    refuse(*node, fmt::format("`{}` cannot be `{}`", key.name, chosen), suggest(chosen, allowed));
    return;
  }
  value = chosen;
}

void TableReader::count(const Key& key, std::uint64_t& value, CountRange range) {
  const auto* node = find(key);
  if (node == nullptr) return;
  // One that does not fit into 63 bits is no whole number for TOML, so the range is said, too.
  if (!node->is_integer()) {
    return wrong_type(key, *node,
                      fmt::format("a whole number from {} to {}", range.min, range.max));
  }
  take_count(key, *node, **node->as_integer(), value, range);
}

void TableReader::bytes(const Key& key, std::uint64_t& value, CountRange range) {
  const auto* node = find(key);
  if (node == nullptr) return;
  if (node->is_integer()) return take_count(key, *node, **node->as_integer(), value, range);
  if (const auto size = size_text(key, *node)) {
    take_count(key, *node, static_cast<std::int64_t>(std::min(*size, kSizeMax)), value, range);
  }
}

void TableReader::rate(const Key& key, double& value, NumberRange range) {
  const auto* node = find(key);
  if (node == nullptr) return;
  if (node->is_number()) return take_number(key, *node, value, range);
  if (const auto size = size_text(key, *node)) {
    take_in_range(key, *node, static_cast<double>(*size), value, range);
  }
}

void TableReader::number(const Key& key, double& value, NumberRange range) {
  if (const auto* node = find(key)) take_number(key, *node, value, range);
}

void TableReader::toggle(const Key& key, bool& value) {
  const auto* node = find(key);
  if (node == nullptr) return;
  if (!node->is_boolean()) return wrong_type(key, *node, "true or false");
  value = **node->as_boolean();
}

void TableReader::texts(const Key& key, std::vector<std::string>& values) {
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

void TableReader::maybe(const Key& key, std::optional<double>& value) {
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

void TableReader::refuse_unknown(const OtherKinds& others) {
  for (const auto& [key, node] : table_) {
    if (std::ranges::find(known_, key.str()) != known_.end()) continue;
    if (std::ranges::find(others.keys, key.str()) != others.keys.end()) {
      if (others.allowed) continue;
      refuse(node, fmt::format("`{}` is for {} of another kind", key.str(), others.what),
             fmt::format("remove it, or change `kind` (`{}`)", others.kind));
      continue;
    }
    refuse(node, fmt::format("unknown key `{}` in {}", key.str(), title_),
           suggest(key.str(), known_));
  }
}

const toml::node* TableReader::find(const Key& key) {
  known_.push_back(key.name);
  const toml::node* node = table_.get(key.name);
  if (node != nullptr) {
    context_.places.put(fmt::format("{}.{}", path_, key.name), place_of(*node, context_));
  }
  return node;
}

void TableReader::refuse(const toml::node& node, std::string message, std::string hint) {
  context_.mistakes.add(place_of(node, context_), std::move(message), std::move(hint));
}

void TableReader::wrong_type(const Key& key, const toml::node& node, std::string_view wanted) {
  refuse(node, fmt::format("`{}` is {}; it must be {}", key.name, kind_of(node), wanted),
         std::string(key.help));
}

bool TableReader::take_text(const Key& key, const toml::node& node, std::string& value) {
  if (!node.is_string()) {
    wrong_type(key, node, "a text in quotes");
    return false;
  }
  value = **node.as_string();
  return true;
}

void TableReader::take_count(const Key& key, const toml::node& node, std::int64_t given,
                             std::uint64_t& value, CountRange range) {
  if (given < 0 || static_cast<std::uint64_t>(given) < range.min ||
      static_cast<std::uint64_t>(given) > range.max) {
    refuse(node,
           fmt::format("`{}` is {}; it must be {} to {}", key.name, given, range.min, range.max),
           std::string(key.help));
    return;
  }
  value = static_cast<std::uint64_t>(given);
}

void TableReader::take_number(const Key& key, const toml::node& node, double& value,
                              NumberRange range) {
  if (!node.is_number()) return wrong_type(key, node, "a number");
  take_in_range(key, node, *node.value<double>(), value, range);
}

void TableReader::take_in_range(const Key& key, const toml::node& node, double given, double& value,
                                NumberRange range) {
  if (!std::isfinite(given) || !holds(range, given)) {
    refuse(node,
           fmt::format("`{}` is {}; it must be {}{} to {}", key.name, given,
                       range.or_zero ? "0, or " : "", range.min, range.max),
           std::string(key.help));
    return;
  }
  value = given;
}

std::optional<std::uint64_t> TableReader::size_text(const Key& key, const toml::node& node) {
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

const toml::array* list_of_sections(const toml::table& root, std::string_view name,
                                    Context& context) {
  const toml::node* node = root.get(name);
  if (node == nullptr) return nullptr;
  const toml::array* array = node->as_array();
  if (array != nullptr && array->is_array_of_tables()) return array;
  context.mistakes.add(place_of(*node, context),
                       fmt::format("`{0}` must be a list of sections", name),
                       fmt::format("write [[{}]] above each", name));
  return nullptr;
}

void refuse_unknown_sections(const toml::table& root, std::span<const std::string_view> known,
                             Context& context) {
  for (const auto& [key, node] : root) {
    if (std::ranges::find(known, key.str()) != known.end()) continue;
    context.mistakes.add(place_of(node, context), fmt::format("unknown section `{}`", key.str()),
                         suggest(key.str(), known));
  }
}

}  // namespace forebay::config
