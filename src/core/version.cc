#include "core/version.h"

namespace forebay {
namespace {

BuildCommit built_from;

}  // namespace

// Defined for this file alone, so that a new version recompiles one file.
std::string_view version() { return FOREBAY_VERSION; }

void set_build_commit(BuildCommit commit) { built_from = commit; }

BuildCommit build_commit() { return built_from; }

}  // namespace forebay
