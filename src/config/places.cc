#include "config/places.h"

namespace forebay::config {

std::string Places::of(std::string_view key) const {
  const auto found = places_.find(key);
  if (found != places_.end()) return found->second;
  const std::size_t dot = key.rfind('.');
  return dot == std::string_view::npos ? file_ : of(key.substr(0, dot));
}

}  // namespace forebay::config
