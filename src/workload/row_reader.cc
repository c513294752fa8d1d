#include "workload/row_reader.h"

#include <fmt/core.h>

#include <utility>

namespace forebay::workload {

void clear_request(Request& request) {
  std::vector<std::uint64_t> ids = std::move(request.block_ids);
  std::string model = std::move(request.model);
  ids.clear();
  model.clear();
  request = Request{};
  request.block_ids = std::move(ids);
  request.model = std::move(model);
}

std::string skipped_note(std::uint64_t skipped, std::uint64_t kept) {
  if (skipped == 0) return {};
  return fmt::format("{} of {} entries were malformed and skipped", skipped, skipped + kept);
}

RowReader::RowReader(RowInput input, std::unique_ptr<RowParser> parser, const ReadOptions& options,
                     Diagnostics& diagnostics)
    : path_(std::move(input.path)),
      format_(input.format),
      lines_(std::move(input.bytes), options.line_bytes_max),
      parser_(std::move(parser)),
      line_bytes_max_(options.line_bytes_max),
      diagnostics_(diagnostics) {}

Row RowReader::parse(const Line& line, Request& request) {
  Mistake mistake;
  Row row = Row::kMalformed;
  if (line.too_long) {
    mistake = {fmt::format("line is longer than {} bytes", line_bytes_max_),
               "is it one request a line? raise --line-bytes if so"};
  } else if (line.text.find_first_not_of(" \t") == std::string_view::npos) {
    return Row::kNothing;
  } else {
    clear_request(request);
    request.index = request_count_;
    request.line = line.number;
    row = parser_->parse(line.text, request, mistake);
  }
  if (row == Row::kMalformed) {
    ++skipped_count_;
    diagnostics_.add_at(path_, line.number, std::move(mistake.message), std::move(mistake.hint));
  }
  return row;
}

void RowReader::note_order(const Request& request) {
  if (request.arrival_ns < last_arrival_ns_) ++backward_count_;
  last_arrival_ns_ = request.arrival_ns;
}

Result<bool> RowReader::next(Request& request) {
  Line line;
  while (true) {
    FOREBAY_TRY(more, lines_.next(line));
    if (!more) return false;
    if (parse(line, request) != Row::kRequest) continue;
    note_order(request);
    ++request_count_;
    return true;
  }
}

std::vector<std::string> RowReader::notes() const {
  std::vector<std::string> notes;
  parser_->add_notes(notes);
  if (backward_count_ > 0) {
    notes.push_back(
        fmt::format("{} requests stand behind a later one; they are sorted by arrival wherever a "
                    "whole trace is "
                    "read",
                    backward_count_));
  }
  if (skipped_count_ > 0) notes.push_back(skipped_note(skipped_count_, request_count_));
  return notes;
}

}  // namespace forebay::workload
