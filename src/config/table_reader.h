// Fills sections from TOML tables and notes every mistake at its line.
//
// For the readers of configurations; who uses what they read needs no TOML. Pure. Threads: any; an
// object has one owner.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/fields.h"
#include "config/places.h"
#include "config/toml.h"
#include "core/diagnostics.h"

namespace forebay::config {

struct Context {
  Diagnostics& mistakes;
  Places& places;
};

// `text` of `file` as TOML, or nothing after noting why not.
[[nodiscard]] std::optional<toml::table> parse_document(const std::string& file,
                                                        const std::string& text,
                                                        Diagnostics& mistakes);
// "is nested deeper than 32 levels".
[[nodiscard]] std::string too_deep();

// "joint.toml:12", or what a node that came from elsewhere says of itself.
[[nodiscard]] std::string place_of(const toml::node& node, const Context& context);
// "a table", "a whole number", ...
[[nodiscard]] std::string_view kind_of(const toml::node& node);

// Keys that a section has only where its `kind` is another.
struct OtherKinds {
  std::string_view what;  // "an arm"
  std::string kind;
  std::span<const std::string_view> keys;
  bool allowed = false;  // passed over: results of older versions hold them
};

// Fills one section from its table and remembers which keys there are.
class TableReader final : public FieldVisitor {
 public:
  // `path`: "engine", "arm.0"; `title`: "[engine]", "[[arm]]". Table and context outlive it.
  TableReader(const toml::table& table, std::string path, std::string title, Context& context)
      : table_(table), path_(std::move(path)), title_(std::move(title)), context_(context) {}

  void text(const Key& key, std::string& value) override;
  void word(const Key& key, std::string& value, std::span<const std::string_view> allowed) override;
  void count(const Key& key, std::uint64_t& value, CountRange range) override;
  void bytes(const Key& key, std::uint64_t& value, CountRange range) override;
  void rate(const Key& key, double& value, NumberRange range) override;
  void number(const Key& key, double& value, NumberRange range) override;
  void toggle(const Key& key, bool& value) override;
  void texts(const Key& key, std::vector<std::string>& values) override;
  void maybe(const Key& key, std::optional<double>& value) override;

  // After every key was visited: what is left over is unknown, or of another kind.
  void refuse_unknown(const OtherKinds& others = {});
  [[nodiscard]] std::span<const std::string_view> known() const { return known_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  const toml::node* find(const Key& key);
  void refuse(const toml::node& node, std::string message, std::string hint = {});
  void wrong_type(const Key& key, const toml::node& node, std::string_view wanted);
  bool take_text(const Key& key, const toml::node& node, std::string& value);
  void take_count(const Key& key, const toml::node& node, std::int64_t given, std::uint64_t& value,
                  CountRange range);
  void take_number(const Key& key, const toml::node& node, double& value, NumberRange range);
  void take_in_range(const Key& key, const toml::node& node, double given, double& value,
                     NumberRange range);
  std::optional<std::uint64_t> size_text(const Key& key, const toml::node& node);

  const toml::table& table_;
  std::string path_;
  std::string title_;
  Context& context_;
  std::vector<std::string_view> known_;
};

// The table [name], or an empty one where there is none.
[[nodiscard]] const toml::table* section(const toml::table& root, std::string_view name,
                                         Context& context);
void refuse_unknown_sections(const toml::table& root, std::span<const std::string_view> known,
                             Context& context);

// Null: there is none, or it is no list of sections, which was noted.
[[nodiscard]] const toml::array* list_of_sections(const toml::table& root, std::string_view name,
                                                  Context& context);

// Calls read(reader, table) for each table of the list of sections `name`; `under`: the path and
// title of the section that holds it ("subsystem.0", "subsystem"), if one does.
struct Under {
  std::string path;
  std::string title;
};
template <class Read>
void for_each_table(const toml::table& root, std::string_view name, std::size_t max,
                    Context& context, Read read, const Under& under = {}) {
  const toml::array* array = list_of_sections(root, name, context);
  if (array == nullptr) return;
  const std::string dot = under.path.empty() ? "" : ".";
  const std::string title = fmt::format("[[{}{}{}]]", under.title, dot, name);
  for (std::size_t i = 0; i < array->size(); ++i) {
    const toml::table& table = *array->get(i)->as_table();
    if (i == max) {
      context.mistakes.add(place_of(table, context),
                           fmt::format("more than {} {} sections", max, title));
      return;
    }
    const std::string path = fmt::format("{}{}{}.{}", under.path, dot, name, i);
    context.places.put(path, place_of(table, context));
    TableReader reader(table, path, title, context);
    read(reader, table);
  }
}

}  // namespace forebay::config
