// Any words, one a line, as a command line: read, never run. Without mistakes it is within the
// command's table, and reads the same when it is written out again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/parse.h"
#include "core/check.h"

namespace {

using forebay::cli::Command;
using forebay::cli::Flag;
using forebay::cli::ParsedLine;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    words.emplace_back(text.substr(at, end - at));
    if (end == std::string_view::npos) break;
    at = end + 1;
  }
  return words;
}

const Flag* find_flag(const Command& command, std::string_view name) {
  for (const auto table : {command.flags, forebay::cli::common_flags()}) {
    for (const Flag& flag : table) {
      if (flag.name == name) return &flag;
    }
  }
  return nullptr;
}

std::vector<std::string> written(const Command& command, const ParsedLine& line) {
  std::vector<std::string> words;
  for (const auto& [name, value] : line.values) {
    const Flag* flag = find_flag(command, name);
    FOREBAY_CHECK(flag != nullptr);
    words.push_back(flag->value.empty() ? name : name + "=" + value);
  }
  words.emplace_back("--");
  words.insert(words.end(), line.arguments.begin(), line.arguments.end());
  return words;
}

// Every way to read every flag: each answers or notes a mistake.
void read_flags(const Command& command, const ParsedLine& line) {
  const forebay::cli::Invocation call(command, line.arguments, line.values);
  for (const Flag& flag : command.flags) {
    (void)call.bytes(flag.name);
    (void)call.count(flag.name);
    (void)call.number(flag.name);
    for (const std::string& item : call.list(flag.name)) FOREBAY_CHECK(!item.empty());
  }
  FOREBAY_CHECK_EQ(call.mistakes().text().empty(), call.mistakes().empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto words = words_of({reinterpret_cast<const char*>(data), size});
  std::size_t used = 0;
  const Command* command = forebay::cli::find_command(words, &used);
  if (command == nullptr) return 0;
  FOREBAY_CHECK(used >= 1 && used <= words.size());
  forebay::Diagnostics mistakes;
  const ParsedLine line =
      forebay::cli::parse_line(*command, std::span(words).subspan(used), mistakes);
  read_flags(*command, line);
  if (!mistakes.empty()) return 0;
  if (!line.values.contains("--help")) {
    FOREBAY_CHECK(line.arguments.size() >= command->arguments_min);
    FOREBAY_CHECK(line.arguments.size() <= command->arguments_max);
  }
  const ParsedLine again = forebay::cli::parse_line(*command, written(*command, line), mistakes);
  FOREBAY_CHECK(mistakes.empty());
  FOREBAY_CHECK(again.arguments == line.arguments && again.values == line.values);
  return 0;
}
