// expect: consteval|constant expression
// Error::what must be a literal, so that it never dangles.
#include <string>

#include "core/error.h"

forebay::Error make(const std::string& name) {
#ifdef FOREBAY_CORRECT
  (void)name;
  return {forebay::Errc::kIo, "read header"};
#else
  return {forebay::Errc::kIo, name.c_str()};
#endif
}
