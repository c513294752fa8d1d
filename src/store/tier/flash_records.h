// The records of one segment in memory: what the open segment's summary will say.
//
// Kept only for segments that are not sealed, and for short whiles by recovery, reclaim and verify.
// Units: pages within the segment. Pure; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/tier/flash_format.h"

namespace forebay::store {

// kPending: being written. kGood: durable, or proven by a scan. kFailed: a hole, never shown.
enum class RecordState : std::uint8_t { kPending, kGood, kFailed };

struct LoggedRecord {
  BlockId id;
  BlockId parent;
  std::uint32_t page = 0;  // within the segment
  std::uint32_t data_bytes = 0;
  std::uint32_t token_count = 0;
  std::uint32_t chain_depth = 0;
  std::uint32_t heat = 0;
  std::uint16_t space = 0;
  RecordKind kind = RecordKind::kBlock;
  RecordState state = RecordState::kPending;
};

class SegmentRecords {
 public:
  // Each returns the index of the new record.
  std::size_t add(const RecordFacts& facts, std::uint32_t page, RecordState state);
  // A record of tombstones takes a place like any other; what it says comes by add_tombstone().
  std::size_t add_tombstone_record(std::uint32_t page, RecordState state);
  void add_tombstone(const Tombstone& tombstone) { tombstones_.push_back(tombstone); }

  [[nodiscard]] std::vector<LoggedRecord>& records() { return records_; }
  [[nodiscard]] const std::vector<LoggedRecord>& records() const { return records_; }
  [[nodiscard]] const std::vector<Tombstone>& tombstones() const { return tombstones_; }
  [[nodiscard]] std::size_t space_count() const { return space_names_.size(); }
  [[nodiscard]] std::size_t space_bytes() const { return space_bytes_; }
  [[nodiscard]] std::string_view tenant(std::uint16_t space) const {
    return space_names_[space]->first.first;
  }
  [[nodiscard]] std::string_view layout_fingerprint(std::uint16_t space) const {
    return space_names_[space]->first.second;
  }
  // A block that stands: what summaries, scans and owners are about.
  [[nodiscard]] static bool stands(const LoggedRecord& record) {
    return record.kind == RecordKind::kBlock && record.state == RecordState::kGood;
  }
  // Where the first record whose fate is open begins; `end_page` when there is none.
  [[nodiscard]] std::uint32_t first_pending_page(std::uint32_t end_page) const;
  // Everything but the engine key.
  [[nodiscard]] RecordFacts facts(const LoggedRecord& record) const;
  void clear();

 private:
  using Names = std::pair<std::string, std::string>;
  using NameViews = std::pair<std::string_view, std::string_view>;
  struct Less {
    using is_transparent = void;
    static NameViews views(const Names& names) { return {names.first, names.second}; }
    static NameViews views(const NameViews& names) { return names; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return views(a) < views(b);
    }
  };
  using Spaces = std::map<Names, std::uint16_t, Less>;
  [[nodiscard]] std::uint16_t intern(std::string_view tenant, std::string_view layout);

  std::vector<LoggedRecord> records_;
  std::vector<Tombstone> tombstones_;
  Spaces spaces_;
  std::vector<Spaces::const_iterator> space_names_;
  std::size_t space_bytes_ = 0;
  std::uint16_t last_space_ = 0;  // chains come from one space: no search for most records
};

}  // namespace forebay::store
