#include "report/facts.h"

#include <fmt/core.h>

#include <concepts>
#include <exception>
#include <nlohmann/json.hpp>

namespace forebay::report {
namespace {

using Json = nlohmann::ordered_json;

// One list of members for both directions: `io` either puts a member into the object or takes it.
struct Writer {
  Json& object;
  template <class T>
  void operator()(const char* key, const T& value) {
    object[key] = value;
  }
  void operator()(const char* key, const std::optional<double>& value) {
    if (value) object[key] = *value;
  }
  template <class T>
  void list(const char* key, const std::vector<T>& items) {
    Json& array = object[key] = Json::array();
    for (const T& item : items) {
      Json entry = Json::object();
      Writer writer{entry};
      visit(writer, item);
      array.push_back(std::move(entry));
    }
  }
};

struct Reader {
  const Json& object;
  template <class T>
  void operator()(const char* key, T& value) {
    value = object.at(key).get<T>();
  }
  // Not as the library reads them, which takes any number for one.
  template <class T>
    requires std::unsigned_integral<T> && (!std::same_as<T, bool>)
  void operator()(const char* key, T& value) {
    value = static_cast<T>(object.at(key).get_ref<const Json::number_unsigned_t&>());
  }
  void operator()(const char* key, std::optional<double>& value) {
    if (object.contains(key)) value = object.at(key).get<double>();
  }
  template <class T>
  void list(const char* key, std::vector<T>& items) {
    for (const Json& entry : object.at(key)) {
      Reader reader{entry};
      visit(reader, items.emplace_back());
    }
  }
};

template <class T, class Plain>
concept Same = std::is_same_v<std::remove_const_t<T>, Plain>;

template <class Io, Same<ArmFacts> Arm>
void visit(Io& io, Arm& arm) {
  io("name", arm.name);
  io("kind", arm.kind);
  io("detail", arm.detail);
  io("skipped", arm.skipped);
}

template <class Io, Same<PublishedRow> Row>
void visit(Io& io, Row& row) {
  io("name", row.name);
  io("source", row.source);
  io("ttft_s", row.ttft_s);
  io("output_tokens_per_second", row.output_tokens_per_second);
  io("load_bytes_per_second", row.load_bytes_per_second);
}

template <class Io, Same<Assumption> Item>
void visit(Io& io, Item& item) {
  io("name", item.name);
  io("value", item.value);
  io("source", item.source);
}

template <class Io, Same<Variant> Item>
void visit(Io& io, Item& item) {
  io("key", item.key);
  io("value", item.value);
}

template <class Io, Same<RunFacts> Facts>
void visit(Io& io, Facts& facts) {
  io("name", facts.name);
  io("forebay_version", facts.forebay_version);
  io("started_utc", facts.started_utc);
  io("seed", facts.seed);
  io("rounds_wanted", facts.rounds_wanted);
  io("scale", facts.scale);
  io("virtual_time", facts.virtual_time);
  io("partial", facts.partial);
  io("candidate", facts.candidate);
  io("kv_bytes_per_token", facts.kv_bytes_per_token);
  io("block_tokens", facts.block_tokens);
  io("workload", facts.workload);
  io("workload_varies", facts.workload_varies);
  io("lag_ms_max", facts.thresholds.lag_ms_max);
  io("step_lag_share_max", facts.thresholds.step_lag_share_max);
  io("disks", facts.disks);
  io.list("arms", facts.arms);
  io.list("published", facts.published);
  io.list("assumptions", facts.assumptions);
  io.list("variants", facts.variants);
  io("notes", facts.notes);
}

constexpr int kFactsDepthMax = 16;  // run.json has 3

}  // namespace

std::vector<std::string_view> RunFacts::arm_names() const {
  std::vector<std::string_view> names;
  for (const ArmFacts& arm : arms) names.push_back(arm.name);
  return names;
}

std::string facts_to_json(const RunFacts& facts) {
  Json object{{"format", "forebay-run"}, {"version", kFactsVersion}};
  Writer writer{object};
  visit(writer, facts);
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<RunFacts> facts_from_json(std::string_view file, std::string_view text,
                                        Diagnostics& mistakes) {
  // The library reports a missing or mistyped member by an exception; it ends here.
  try {
    // Deeper values are left out: what is shown of them is made by recursion.
    const auto shallow = [](int depth, Json::parse_event_t, Json&) {
      return depth <= kFactsDepthMax;
    };
    const Json object = Json::parse(text, shallow);
    if (object.at("format") != "forebay-run") {
      mistakes.add_at(file, 0, "is not the run.json of a result folder");
      return std::nullopt;
    }
    if (object.at("version") != kFactsVersion) {
      mistakes.add_at(file, 0,
                      fmt::format("has version {}; this program reads {}",
                                  object.at("version").dump(), kFactsVersion));
      return std::nullopt;
    }
    RunFacts facts;
    Reader reader{object};
    visit(reader, facts);
    return facts;
  } catch (const std::exception& error) {
    mistakes.add_at(file, 0, fmt::format("cannot be read: {}", error.what()));
    return std::nullopt;
  }
}

}  // namespace forebay::report
