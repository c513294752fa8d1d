// One subcommand: a row of the table in commands.cc and a file cmd_<name>.cc.
//
// The Flag table of a command feeds the parser, `--help`, the man page and the shell completions.
// Exit codes: 0 ok, 1 the checked thing failed, 2 usage or configuration, 3 inconclusive.
// Output that standard output did not take makes 0 a 1 (standard_output.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnostics.h"

namespace forebay::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInconclusive = 3;

struct Flag {
  std::string_view name;          // "--queue-depth"
  std::string_view value;         // "COUNT"; empty: a switch
  std::string_view default_text;  // shown in help and used when the flag is absent; empty: none
  std::string_view help;          // one line, lower case, no full stop
  bool repeats = false;           // may be given again: the values with `;` between
};

struct Command {
  std::string_view name;        // "store verify": the words after `forebay`
  std::string_view arguments;   // "FILE [FILE...]"; empty: none
  std::string_view summary;     // one line
  std::string_view details;     // paragraphs for the man page and --help
  std::span<const Flag> flags;  // beside the common ones: --json, --quiet, --help
  std::size_t arguments_min = 0;
  std::size_t arguments_max = 0;
  int (*run)(const class Invocation&);
};

// A parsed command line. Getters that fail note a Diagnostic; check `mistakes()` before working.
class Invocation {
 public:
  Invocation(const Command& command, std::vector<std::string> arguments,
             std::map<std::string, std::string, std::less<>> values);
  [[nodiscard]] const Command& command() const { return command_; }
  [[nodiscard]] std::span<const std::string> arguments() const { return arguments_; }
  [[nodiscard]] bool json() const { return has("--json"); }
  [[nodiscard]] bool quiet() const { return has("--quiet"); }
  // Given on the command line (a switch: set).
  [[nodiscard]] bool has(std::string_view flag) const;
  // The value given, or the default; "" without either.
  [[nodiscard]] std::string text(std::string_view flag) const;
  [[nodiscard]] std::uint64_t bytes(std::string_view flag) const;  // "200G"
  [[nodiscard]] std::uint64_t count(std::string_view flag) const;
  [[nodiscard]] double number(std::string_view flag) const;
  [[nodiscard]] std::vector<std::string> list(std::string_view flag) const;  // comma separated
  [[nodiscard]] Diagnostics& mistakes() const { return mistakes_; }
  // Prints the mistakes to standard error and returns kExitUsage, or nothing when there are none.
  [[nodiscard]] std::optional<int> refuse() const;

 private:
  const Command& command_;
  std::vector<std::string> arguments_;
  std::map<std::string, std::string, std::less<>> values_;
  mutable Diagnostics mistakes_;
};

[[nodiscard]] std::span<const Command* const> all_commands();
// The whole program: parses argv, finds the command, runs it.
[[nodiscard]] int run_main(int argc, char** argv);

}  // namespace forebay::cli
