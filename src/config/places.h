// Where each key of a configuration stood, so that a mistake found later still has its line.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace forebay::config {

class Places {
 public:
  explicit Places(std::string file) : file_(std::move(file)) {}
  void put(std::string key, std::string place) { places_[std::move(key)] = std::move(place); }
  // "joint.toml:12", or the file when the key was not written; "engine.tp", "arm.0.policy".
  [[nodiscard]] std::string of(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const { return places_.contains(key); }
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  std::string file_;
  std::map<std::string, std::string, std::less<>> places_;
};

}  // namespace forebay::config
