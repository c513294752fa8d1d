#include "workload/formats.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "workload/format/azure.h"
#include "workload/format/bailian.h"
#include "workload/format/burstgpt.h"
#include "workload/format/forebay.h"
#include "workload/format/mooncake.h"
#include "workload/format/tracelab_csv.h"
#include "workload/format/tracelab_jsonl.h"
#include "workload/format/weka.h"
#include "workload/row_reader.h"

namespace forebay::workload {
namespace {

// Asked in this order: the marks of the first ones are the surest.
constexpr std::array kFormats{&kForebayFormat, &kBailianFormat,      &kMooncakeFormat,
                              &kAzureFormat,   &kBurstGptFormat,     &kTraceLabCsvFormat,
                              &kWekaFormat,    &kTraceLabJsonlFormat};

const std::array<std::string_view, kFormats.size()>& names() {
  static const auto all = [] {
    std::array<std::string_view, kFormats.size()> made;
    std::ranges::transform(kFormats, made.begin(), &TraceFormat::name);
    return made;
  }();
  return all;
}

const TraceFormat* recognise(const TraceHead& head) {
  const auto found = std::ranges::find_if(
      kFormats, [&](const TraceFormat* format) { return format->matches(head); });
  return found == kFormats.end() ? nullptr : *found;
}

// The format that the user named, or that the bytes show; null after noting why.
const TraceFormat* choose(const TraceHead& head, const std::string& path,
                          const ReadOptions& options, Diagnostics& diagnostics) {
  if (!options.format.empty()) {
    const TraceFormat* named = find_trace_format(options.format);
    if (named == nullptr) {
      diagnostics.add("--format", fmt::format("unknown trace format `{}`", options.format),
                      suggest(options.format, names()));
    }
    return named;
  }
  const TraceFormat* found = recognise(head);
  if (found == nullptr) {
    std::string known;
    for (const std::string_view name : names()) known += fmt::format(" {}", name);
    diagnostics.add(path,
                    head.bytes.empty() && !head.is_folder ? "the file is empty"
                                                          : "not a trace of a known format",
                    fmt::format("name it with --format, one of:{}", known));
  }
  return found;
}

// Bytes that no format begins with, and what makes them readable.
struct ForeignBytes {
  std::string_view magic;
  const char* what;
  const char* remedy;  // "{}": the path
};
constexpr std::array kForeignBytes{
    ForeignBytes{std::string_view("\xfd\x37\x7a\x58\x5a\0", 6), "is packed with xz",
                 "unpack it on the way: xz -dc {} | forebay trace describe -"},
    ForeignBytes{"BZh", "is packed with bzip2",
                 "unpack it on the way: bzip2 -dc {} | forebay trace describe -"},
    ForeignBytes{"PK\x03\x04", "is a zip archive",
                 "unpack it on the way: unzip -p {} | forebay trace describe -"},
    ForeignBytes{
        "\xff\xfe", "is UTF-16 text",
        "make it UTF-8 on the way: iconv -f UTF-16 -t UTF-8 {} | forebay trace describe -"},
    ForeignBytes{
        "\xfe\xff", "is UTF-16 text",
        "make it UTF-8 on the way: iconv -f UTF-16 -t UTF-8 {} | forebay trace describe -"},
};

bool is_foreign(std::string_view bytes, const std::string& path, Diagnostics& diagnostics) {
  for (const ForeignBytes& foreign : kForeignBytes) {
    if (!bytes.starts_with(foreign.magic)) continue;
    diagnostics.add(path, foreign.what, fmt::format(fmt::runtime(foreign.remedy), path));
    return true;
  }
  return false;
}

Result<std::unique_ptr<TraceReader>> open_input(TraceInput input, const ReadOptions& options,
                                                Diagnostics& diagnostics) {
  TraceHead head{.bytes = {}, .is_folder = input.bytes == nullptr};
  if (input.bytes != nullptr) {
    auto bytes = input.bytes->peek(kHeadBytes);
    if (!bytes) {
      diagnostics.add(input.path, to_string(bytes.error()), "is the file whole?");
      return std::unexpected(bytes.error());
    }
    head.bytes = *bytes;
    if (is_foreign(head.bytes, input.path, diagnostics)) {
      return fail(Errc::kUnsupported, "open trace");
    }
  }
  if (options.block_tokens != 0 && options.block_tokens < kBlockTokensMin) {
    diagnostics.add("--block-tokens",
                    fmt::format("a block has at least {} tokens", kBlockTokensMin));
    return fail(Errc::kInvalid, "open trace");
  }
  const TraceFormat* format = choose(head, input.path, options, diagnostics);
  if (format == nullptr) return fail(Errc::kInvalid, "recognise trace format");
  if (head.is_folder && !format->takes_folders) {
    diagnostics.add(input.path, fmt::format("a {} trace is a file, not a folder", format->name));
    return fail(Errc::kInvalid, "open trace");
  }
  return format->open(std::move(input), options, diagnostics);
}

Result<TraceInput> open_path(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return TraceInput{path, nullptr};
  FOREBAY_TRY(file, open_file(path));
  FOREBAY_TRY(bytes, decompressed(std::move(file)));
  return TraceInput{path, std::move(bytes)};
}

}  // namespace

std::span<const TraceFormat* const> all_trace_formats() { return kFormats; }

std::span<const std::string_view> trace_format_names() { return names(); }

const TraceFormat* find_trace_format(std::string_view name) {
  const auto found = std::ranges::find(kFormats, name, &TraceFormat::name);
  return found == kFormats.end() ? nullptr : *found;
}

Result<std::unique_ptr<TraceReader>> open_trace(const std::string& path, const ReadOptions& options,
                                                Diagnostics& diagnostics) {
  auto input = open_path(path);
  if (!input) {
    diagnostics.add(path, to_string(input.error()), "is the path right, and is the file whole?");
    return std::unexpected(input.error());
  }
  return open_input(std::move(*input), options, diagnostics);
}

Result<std::unique_ptr<TraceReader>> open_trace_bytes(std::string bytes, const ReadOptions& options,
                                                      Diagnostics& diagnostics) {
  FOREBAY_TRY(source, decompressed(memory_source(std::move(bytes))));
  return open_input({"trace", std::move(source)}, options, diagnostics);
}

}  // namespace forebay::workload
