#include <fmt/core.h>

#include <string>

#include "cli/help.h"
#include "cli/parse.h"
#include "core/version.h"

namespace forebay::cli {
namespace {

// troff reads a leading dot or quote as a request and a backslash as an escape; dashes must stay.
std::string troff(std::string_view text) {
  std::string escaped;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
    line_start = c == '\n';
  }
  return escaped;
}

std::string dashed(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    if (c == ' ') c = '-';
  }
  return text;
}

std::string header(std::string_view title) {
  return fmt::format(".TH \"{}\" 1 \"\" \"forebay {}\" \"Forebay Manual\"\n", troff(title),
                     version());
}

}  // namespace

std::string man_page() {
  std::string text = header("FOREBAY");
  text +=
      ".SH NAME\nforebay \\- storage data path for GPUs, and the joint test that proves it\n"
      ".SH SYNOPSIS\n.B forebay\n.I COMMAND\n[\\fIARGUMENT\\fR...] [\\fB\\-\\-flag\\fR "
      "\\fIVALUE\\fR...]\n.SH COMMANDS\n";
  for (const Command* command : all_commands()) {
    text += fmt::format(".TP\n.BR forebay\\-{} (1)\n{}\n", troff(dashed(command->name)),
                        troff(command->summary));
  }
  text +=
      ".SH GENERATED FILES\n.B forebay help \\-\\-generate\n.I DIR\nwrites these man pages and the "
      "completions of bash, zsh and fish;\n.B forebay help \\-\\-json\nprints the table of "
      "commands "
      "and flags that they are made from.\n"
      ".SH EXIT STATUS\n.TP\n.B 0\nok\n.TP\n.B 1\nthe checked thing failed\n.TP\n.B 2\n"
      "usage or configuration; all mistakes are shown at once\n.TP\n.B 3\ninconclusive\n"
      ".SH ENVIRONMENT\n.TP\n.B FOREBAY_LOG\ntrace, debug, info (default), warn, error or off\n";
  return text;
}

std::string man_page(const Command& command) {
  std::string text = header("FOREBAY-" + dashed(command.name));
  text += fmt::format(".SH NAME\nforebay\\-{} \\- {}\n.SH SYNOPSIS\n.B forebay {}\n{} [flags]\n",
                      troff(dashed(command.name)), troff(command.summary), command.name,
                      troff(command.arguments));
  if (!command.details.empty()) {
    text += fmt::format(".SH DESCRIPTION\n{}\n", troff(command.details));
  }
  text += ".SH OPTIONS\n";
  for (const auto table : {command.flags, common_flags()}) {
    for (const Flag& flag : table) {
      text += fmt::format(".TP\n\\fB{}\\fR \\fI{}\\fR\n{}", troff(flag.name), troff(flag.value),
                          troff(flag.help));
      if (!flag.default_text.empty()) {
        text += fmt::format(" (default {})", troff(flag.default_text));
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace forebay::cli
