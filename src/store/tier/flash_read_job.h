// One read call in flight (flash_reader.h): its records, its transfers, and who waits for it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "store/tier/flash_core.h"
#include "store/tier/flash_stream.h"
#include "store/tier/flash_wait.h"

namespace forebay::store {

class FlashReader;

class ReadJob {
 public:
  explicit ReadJob(FlashReader& reader, FlashCore& core) : reader_(reader), core_(core) {}

  // Items that cannot be read at all get their status here.
  void start(std::span<FlashRead> items, const FlashCall& call);
  [[nodiscard]] bool all_decided() const { return undecided_ == 0; }
  // Someone's memory has no owner and the device still has it.
  [[nodiscard]] bool must_wait() const { return unowned_ && outstanding_ > 0; }
  void wait_with(Waiter* waiter) { waiter_ = waiter; }
  // The deadline passed or the caller took the call back: undecided items get `why`.
  void give_up(const Error& why);
  void hand_out_headers(std::vector<IoBuffer>& headers);
  // The coroutine leaves.
  void detach();

 private:
  struct Record {
    FlashRead* item = nullptr;
    std::uint32_t segment = 0;
    std::uint64_t sequence = 0;
    std::uint64_t data_begin = 0;  // on the device
    std::uint32_t next_slot = 0;   // its transfers: next to be checked, last
    std::uint32_t last_slot = 0;
    std::uint64_t checked_bytes = 0;
    std::uint32_t crc = 0;
    std::size_t piece = 0;  // where checking stands in the caller's pieces
    std::size_t piece_at = 0;
    bool decided = false;
    bool retried = false;
    IoBuffer header;
  };
  struct Slot {
    std::uint64_t end = 0;  // on the device
    std::uint32_t first_record = 0;
    std::uint32_t last_record = 0;
    bool done = false;
    Transfer* transfer = nullptr;  // in the queue or on the device
  };

  [[nodiscard]] Status admit(const FlashRead& item) const;
  [[nodiscard]] block::Request prototype(const block::IoOptions& io) const;
  void add_record(FlashRead& item);
  void lay(StreamBuilder& builder, std::uint32_t index);
  void take_transfers();
  void submit_from(std::size_t slot);
  void finish(Transfer& done);
  void fail_records(const Slot& slot, const Error& error);
  void retry_alone(std::uint32_t index);
  void advance(std::uint32_t index);
  void check_bytes(Record& record, std::uint64_t bytes);
  [[nodiscard]] Status prove(Record& record);
  void decide(Record& record, Status status);
  void settle();
  void recycle();

  FlashReader& reader_;
  FlashCore& core_;
  block::IoOptions io_;
  std::span<FlashRead> items_;
  std::vector<Record> records_;
  std::vector<Slot> slots_;
  std::vector<Transfer*> laid_;  // by the builder, not yet a slot
  std::vector<std::shared_ptr<const void>> owners_;
  std::size_t undecided_ = 0;
  std::size_t outstanding_ = 0;
  bool unowned_ = false;
  bool attached_ = false;
  Waiter* waiter_ = nullptr;
};

}  // namespace forebay::store
