#include "core/version.h"

namespace forebay {

// Defined for this file alone, so that a new version recompiles one file.
std::string_view version() { return FOREBAY_VERSION; }

}  // namespace forebay
