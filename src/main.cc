#include "cli/command.h"
#include "core/version.h"
#include "forebay_commit.h"  // generated: cmake/commit.cmake

int main(int argc, char** argv) {
  forebay::set_build_commit({.id = FOREBAY_COMMIT, .modified = FOREBAY_MODIFIED});
  return forebay::cli::run_main(argc, argv);
}
