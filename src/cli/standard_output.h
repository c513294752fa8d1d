// What a command prints must arrive: checked once for all commands, when the command has ended.
//
// A command prints to stdout and looks at nothing; a file, pipe or descriptor that did not take it
// all makes one line on standard error and kExitFailed. A closed pipe (`forebay ... | head -1`) is
// the reader's wish and makes no line. Threads: the main thread's.
#pragma once

#include <functional>

namespace forebay::cli {

// Descriptors 0, 1 and 2 are taken from here on: a file that the program opens later cannot become
// its standard output (`forebay ... >&-`). Before anything else is opened.
void hold_standard_descriptors();

// For what writes to stdout itself and has an errno for its failure; the first one is kept.
void output_failed(int error_number);

// Runs `command` and answers its exit code, or kExitFailed for kExitOk when its output was lost.
[[nodiscard]] int with_checked_output(const std::function<int()>& command);

}  // namespace forebay::cli
