// A Spec as TOML, by the same walk over its keys that reads it.
#include <fmt/core.h>

#include "joint/spec.h"
#include "joint/spec_fields.h"

namespace forebay::joint {
namespace {

// The shortest decimal that reads back as the same number, with a point so that it stays one.
std::string decimal(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

class TomlWriter final : public FieldVisitor {
 public:
  explicit TomlWriter(std::string& out) : out_(out) {}
  // An empty text is how a key says that it is absent.
  void text(const Key& key, std::string& value) override {
    if (!value.empty()) line(key, toml_quoted(value));
  }
  void word(const Key& key, std::string& value, std::span<const std::string_view>) override {
    if (!value.empty()) line(key, toml_quoted(value));
  }
  void count(const Key& key, std::uint64_t& value, CountRange) override {
    line(key, fmt::format("{}", value));
  }
  void bytes(const Key& key, std::uint64_t& value, CountRange) override {
    line(key, fmt::format("{}", value));
  }
  void rate(const Key& key, double& value, NumberRange) override { line(key, decimal(value)); }
  void number(const Key& key, double& value, NumberRange) override { line(key, decimal(value)); }
  void toggle(const Key& key, bool& value) override { line(key, value ? "true" : "false"); }
  void texts(const Key& key, std::vector<std::string>& values) override {
    std::string list;
    for (const std::string& value : values) {
      list += (list.empty() ? "" : ", ") + toml_quoted(value);
    }
    line(key, "[" + list + "]");
  }
  void maybe(const Key& key, std::optional<double>& value) override {
    if (value) line(key, decimal(*value));
  }

 private:
  void line(const Key& key, const std::string& value) {
    out_ += fmt::format("{} = {}\n", key.name, value);
  }
  std::string& out_;
};

template <class Section>
void write_section(const char* title, const Section& section, std::string& out) {
  out += fmt::format("{}{}\n", out.empty() ? "" : "\n", title);
  TomlWriter writer(out);
  Section copy = section;
  visit(writer, copy);
}

}  // namespace

std::string toml_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string spec_to_toml(const Spec& spec) {
  std::string out;
  write_section("[run]", spec.run, out);
  write_section("[workload]", spec.workload, out);
  write_section("[engine]", spec.engine, out);
  write_section("[storage]", spec.storage, out);
  for (const ArmSpec& arm : spec.arms) write_section("[[arm]]", arm, out);
  for (const auto& row : spec.published) write_section("[[published]]", row, out);
  for (const auto& item : spec.assumptions) write_section("[[assumption]]", item, out);
  for (const auto& item : spec.sensitivity) write_section("[[sensitivity]]", item, out);
  return out;
}

}  // namespace forebay::joint
