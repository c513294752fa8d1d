#include "cli/command.h"

int main(int argc, char** argv) { return forebay::cli::run_main(argc, argv); }
