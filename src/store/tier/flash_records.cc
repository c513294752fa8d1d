#include "store/tier/flash_records.h"

#include "core/check.h"

namespace forebay::store {

std::size_t SegmentRecords::add(const RecordFacts& facts, std::uint32_t page, RecordState state) {
  LoggedRecord record;
  record.id = facts.id;
  record.parent = facts.parent;
  record.page = page;
  record.data_bytes = facts.data_bytes;
  record.token_count = facts.token_count;
  record.chain_depth = facts.chain_depth;
  record.heat = facts.heat;
  record.space = intern(facts.tenant, facts.layout_fingerprint);
  record.state = state;
  records_.push_back(record);
  return records_.size() - 1;
}

std::size_t SegmentRecords::add_tombstone_record(std::uint32_t page, RecordState state) {
  LoggedRecord record;
  record.page = page;
  record.kind = RecordKind::kTombstones;
  record.state = state;
  records_.push_back(record);
  return records_.size() - 1;
}

std::uint32_t SegmentRecords::first_pending_page(std::uint32_t end_page) const {
  for (const LoggedRecord& record : records_) {
    if (record.state == RecordState::kPending) return record.page;
  }
  return end_page;
}

std::uint16_t SegmentRecords::intern(std::string_view tenant, std::string_view layout) {
  if (last_space_ < space_names_.size() && this->tenant(last_space_) == tenant &&
      layout_fingerprint(last_space_) == layout) {
    return last_space_;
  }
  auto found = spaces_.find(NameViews{tenant, layout});
  if (found == spaces_.end()) {
    // A segment of 2 GiB has room for more records than that, but the writer starts a new segment
    // before it has more spaces.
    FOREBAY_CHECK_LT(space_names_.size(), std::size_t{65'535});
    const auto next = static_cast<std::uint16_t>(space_names_.size());
    found = spaces_.emplace(Names{tenant, layout}, next).first;
    space_names_.push_back(found);
    space_bytes_ += 4 + tenant.size() + layout.size();
  }
  last_space_ = found->second;
  return last_space_;
}

RecordFacts SegmentRecords::facts(const LoggedRecord& record) const {
  RecordFacts facts;
  facts.id = record.id;
  facts.parent = record.parent;
  facts.tenant = tenant(record.space);
  facts.layout_fingerprint = layout_fingerprint(record.space);
  facts.data_bytes = record.data_bytes;
  facts.token_count = record.token_count;
  facts.chain_depth = record.chain_depth;
  facts.heat = record.heat;
  return facts;
}

void SegmentRecords::clear() {
  records_.clear();
  tombstones_.clear();
  spaces_.clear();
  space_names_.clear();
  space_bytes_ = 0;
  last_space_ = 0;
}

}  // namespace forebay::store
