// Any bytes as a specification: a spec or mistakes, and what is written back reads the same. What
// follows a line of "%%" is one --set.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/check.h"
#include "joint/spec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  forebay::Diagnostics mistakes;
  const std::size_t end = text.find("\n%%\n");
  std::vector<std::string> sets;
  if (end != std::string::npos) sets.push_back(text.substr(end + 4));
  const auto spec = forebay::joint::read_spec({"joint.toml", text.substr(0, end), sets}, mistakes);
  FOREBAY_CHECK_EQ(spec.has_value(), mistakes.empty());
  if (!spec) return 0;
  const std::string written = forebay::joint::spec_to_toml(*spec);
  forebay::Diagnostics again;
  const auto back = forebay::joint::read_spec({"joint.toml", written, {}}, again);
  FOREBAY_CHECK(back.has_value());
  FOREBAY_CHECK(forebay::joint::spec_to_toml(*back) == written);
  return 0;
}
