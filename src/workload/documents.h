// Whole JSON documents from where a trace keeps one file a session: a folder, a tar archive, or a
// single file.
//
// Ownership: a document's text is valid until the next call, with LineReader::kPaddingBytes
// readable behind it. Threads: one owner. Memory: the largest document, at most
// `document_bytes_max`; larger ones are Diagnostics and passed over. Errors: kIo, kCorrupt: nothing
// more can be read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnostics.h"
#include "core/error.h"
#include "workload/byte_source.h"

namespace forebay::workload {

struct Document {
  std::string place;      // for messages: "sessions.tar.zst/trace_0001.json"
  std::string file_name;  // without folders
  std::string_view text;
};

class Documents {
 public:
  virtual ~Documents() = default;
  [[nodiscard]] virtual Result<bool> next(Document& document) = 0;
  // How many were too large or could not be opened.
  [[nodiscard]] virtual std::uint64_t skipped_count() const = 0;
};

struct DocumentsInput {
  std::string path;
  std::unique_ptr<PeekSource> bytes;  // null: `path` is a folder, read in the order of names
  std::uint64_t document_bytes_max;
};
[[nodiscard]] Result<std::unique_ptr<Documents>> open_documents(DocumentsInput input,
                                                                Diagnostics& diagnostics);

}  // namespace forebay::workload
