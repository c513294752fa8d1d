// `forebay trace describe|convert|synthesise`: workloads in, out, and made from a seed.
#include <fmt/core.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/part_file.h"
#include "cli/process_limit.h"
#include "cli/standard_error.h"
#include "cli/standard_output.h"
#include "cli/trace_flags.h"
#include "cli/trace_progress.h"
#include "cli/trace_table.h"
#include "engine/model.h"
#include "workload/writer.h"

namespace forebay::cli {
namespace {

constexpr auto kDescribeFlags =
    joined(kTraceReadFlags,
           std::array<Flag, 2>{{
               {"--model", "NAME", "", "model whose KV bytes the working set is counted in"},
               {"--kv-bytes-per-token", "SIZE", "", "the same as a number"},
           }});
constexpr auto kConvertFlags = joined(
    kTraceReadFlags,
    std::array<Flag, 8>{{
        {"--output", "FILE", "", "where the trace goes (required)"},
        {"--to", "FORMAT", "forebay", "trace format to write"},
        {"--begin", "SECONDS", "", "drop what arrives before; arrivals then count from here"},
        {"--end", "SECONDS", "", "drop what arrives then or later"},
        {"--limit", "COUNT", "", "keep the first requests only"},
        {"--speed-up", "FACTOR", "1", "arrivals and waits come so much faster"},
        {"--reblock", "COUNT", "", "tokens per block id in the output"},
        {"--scale-tokens", "N/M", "1", "lengths and blocks times a factor; ids stay"},
    }});

constexpr std::string_view kFormatsText =
    "Formats are recognised by their content: mooncake, azure, weka (a JSON file a session, a "
    "folder "
    "or a tar of them), tracelab-csv, tracelab-jsonl, bailian, burstgpt and our own, forebay. "
    "Files may be packed with zstd or gzip, and `-` is standard input; an output of that name is "
    "standard output, one that ends in .zst is packed. Malformed entries are reported with file "
    "and line, counted and skipped.";

// KV bytes a token by --model or --kv-bytes-per-token; 0: neither was given.
std::uint64_t kv_bytes(const Invocation& call) {
  const std::string name = call.text("--model");
  if (name.empty()) return call.bytes("--kv-bytes-per-token");
  const engine::ModelGeometry* model = engine::find_model(name);
  if (model != nullptr) return engine::kv_bytes_per_token(*model);
  std::vector<std::string_view> names;
  for (const engine::ModelGeometry& known : engine::all_models()) names.push_back(known.name);
  call.mistakes().add("--model", fmt::format("unknown model `{}`", name), suggest(name, names));
  return 0;
}

// What was wrong with the input, on standard error; the exit code that it asks for.
int report_entries(const Invocation& call, const Diagnostics& diagnostics, std::uint64_t skipped) {
  tell_lines(diagnostics.text());
  return skipped > 0 && call.has("--strict") ? kExitFailed : kExitOk;
}

// A trace without a single request is no trace: exit code, after saying why there is none.
int nothing_usable(const std::string& path, std::uint64_t skipped) {
  tell("{}: no request could be read: {}\n", path,
       skipped > 0 ? fmt::format("all {} entries are malformed", skipped)
                   : std::string("the file has no entries"));
  tell(
      "  hint: is it a trace? --format NAME says which, `forebay help trace "
      "describe` lists them\n");
  return kExitFailed;
}

int nothing_left(const std::string& path) {
  tell("{}: no request arrives between --begin and --end\n", path);
  return kExitFailed;
}

int broken(const std::string& path, const Error& error, const Diagnostics& diagnostics) {
  tell_lines(diagnostics.text());
  tell("{}: {}\n", path, to_string(error));
  return kExitFailed;
}

int run_describe(const Invocation& call) {
  const std::string& path = call.arguments()[0];
  const workload::ReadOptions options = read_options(call);
  const std::uint64_t kv_bytes_per_token = kv_bytes(call);
  if (const auto refused = call.refuse()) return *refused;
  Diagnostics diagnostics;
  auto reader = workload::open_trace(path, options, diagnostics);
  if (!reader) {
    tell_lines(diagnostics.text());
    return kExitUsage;
  }
  *reader = with_progress(std::move(*reader), call);
  const auto trace = workload::describe(**reader, kv_bytes_per_token);
  if (!trace) return broken(path, trace.error(), diagnostics);
  const int code = report_entries(call, diagnostics, trace->skipped_count);
  if (trace->request_count == 0) return nothing_usable(path, trace->skipped_count);
  if (call.json()) {
    fmt::print("{}\n", description_json(*trace));
  } else {
    fmt::print("{}", description_table(*trace));
  }
  return code;
}

// Where a trace goes, and what became of it.
struct Output {
  std::string path;
  std::optional<PartFile> part;  // without keep() nothing is left of it; nullopt: standard output
  std::unique_ptr<workload::TraceWriter> writer;
  std::uint64_t request_count = 0;
  std::string why;  // set when a request could not be written

  Status write(const workload::Request& request) {
    FOREBAY_TRY_STATUS(writer->write(request, why));
    ++request_count;
    return {};
  }
  Status keep() {
    FOREBAY_TRY_STATUS(writer->close());
    return part ? part->keep() : Status{};
  }
  [[nodiscard]] bool is_standard_output() const { return path == workload::kStandardOutput; }
};

// Neither the output nor its part may be what is being read.
bool is_input(const Invocation& call, const std::string& path) {
  std::error_code ignored;
  const std::string& input = call.arguments()[0];
  return std::filesystem::equivalent(path, input, ignored) ||
         std::filesystem::equivalent(path + ".part", input, ignored);
}

std::string output_hint(const Error& error) {
  if (error.os == ENAMETOOLONG) return "a name has at most 255 bytes, `.part` behind it included";
  if (error.code == Errc::kExists) return "";  // what is in the way is named
  if (error.code == Errc::kDenied) return "may you write there?";
  return "does the folder exist?";
}

bool open_part(const Invocation& call, Output& output) {
  std::error_code ignored;
  if (std::filesystem::is_directory(output.path, ignored)) {
    call.mistakes().add("--output", fmt::format("{}: is a folder", output.path),
                        "name a file in it");
    return false;
  }
  auto part = PartFile::open(output.path);
  if (part) {
    output.part.emplace(std::move(*part));
    return true;
  }
  call.mistakes().add(output.path, to_string(part.error()), output_hint(part.error()));
  return false;
}

std::optional<Output> create_output(const Invocation& call, const std::string& origin) {
  Output output;
  output.path = call.text("--output");
  if (output.path.empty()) {
    call.mistakes().add("--output", "is missing", "name the file to write");
  } else if (!call.arguments().empty() && is_input(call, output.path)) {
    call.mistakes().add("--output", "is the file being read", "write to another one");
  }
  if (!call.mistakes().empty()) return std::nullopt;
  if (!output.is_standard_output() && !open_part(call, output)) return std::nullopt;
  const std::string written_path = output.part ? output.part->written_path() : output.path;
  auto writer =
      workload::create_trace(output.path, call.text("--to"),
                             {.origin = origin, .written_path = written_path}, call.mistakes());
  if (!writer) return std::nullopt;
  output.writer = std::move(*writer);
  return output;
}

// Closes the file and gives it its name.
int finish(const Invocation& call, Output& output, Status status, std::vector<std::string> notes) {
  if (status) status = output.keep();
  if (!status && output.is_standard_output() && output.why.empty()) {
    output_failed(status.error().os);  // said once, when the command has ended
    return kExitFailed;
  }
  if (!status) {
    const std::string reason = output.why.empty() ? to_string(status.error()) : output.why;
    tell("{}: {}\n", output.path, reason);
    tell_lines(limit_hint(status.error()));
    return kExitFailed;
  }
  for (std::string& note : output.writer->notes()) notes.push_back(std::move(note));
  std::string said =
      fmt::format("{} requests written to {}\n", output.request_count, printable(output.path));
  for (const std::string& note : notes) said += fmt::format("note: {}\n", printable(note));
  if (call.json()) {
    const nlohmann::ordered_json json = {{"output", output.path},
                                         {"format", call.text("--to")},
                                         {"request_count", output.request_count},
                                         {"notes", notes}};
    said = json_text(json) + "\n";
  }
  // Standard output may be the trace itself.
  if (!output.is_standard_output()) {
    fmt::print("{}", said);
  } else if (!call.quiet()) {
    tell_lines(said);
  }
  return kExitOk;
}

Status change_and_write(workload::Request& request, const Changes& changes, Output& output) {
  workload::speed_up(request, changes.speed_up);
  auto status = workload::scale_tokens(request, changes.scale);
  if (status && changes.reblock_tokens > 0) {
    status = workload::reblock(request, changes.reblock_tokens);
  }
  if (!status) {
    output.why = fmt::format("request {} has blocks of {} tokens: {}", request.index,
                             request.block_tokens, to_string(status.error()));
    return status;
  }
  return output.write(request);
}

// A slice needs the whole trace in order of arrival; everything else passes through.
Status convert_slice(workload::TraceReader& reader, const Changes& changes, Output& output,
                     std::vector<std::string>& notes) {
  FOREBAY_TRY(trace, workload::read_all(reader));
  workload::slice(trace, *changes.slice);
  notes = trace.notes;
  for (workload::Request& request : trace.requests) {
    FOREBAY_TRY_STATUS(change_and_write(request, changes, output));
  }
  return {};
}

Status convert_stream(workload::TraceReader& reader, const Changes& changes, Output& output,
                      std::vector<std::string>& notes) {
  workload::Request request;
  while (true) {
    FOREBAY_TRY(more, reader.next(request));
    if (!more) break;
    FOREBAY_TRY_STATUS(change_and_write(request, changes, output));
  }
  notes = reader.notes();
  return {};
}

int run_convert(const Invocation& call) {
  const std::string& path = call.arguments()[0];
  const workload::ReadOptions options = read_options(call);
  const Changes wanted = changes(call);
  if (const auto refused = call.refuse()) return *refused;
  Diagnostics diagnostics;
  auto reader = workload::open_trace(path, options, diagnostics);
  if (!reader) {
    tell_lines(diagnostics.text());
    return kExitUsage;
  }
  *reader = with_progress(std::move(*reader), call);
  const std::string origin = fmt::format("converted from {}", (*reader)->format());
  auto output = create_output(call, origin);
  if (const auto refused = call.refuse()) return *refused;
  std::vector<std::string> notes;
  const Status status = wanted.slice ? convert_slice(**reader, wanted, *output, notes)
                                     : convert_stream(**reader, wanted, *output, notes);
  const int entries = report_entries(call, diagnostics, (*reader)->skipped_count());
  if (status && output->request_count == 0) {
    return wanted.slice ? nothing_left(path) : nothing_usable(path, (*reader)->skipped_count());
  }
  const int written = finish(call, *output, status, std::move(notes));
  return written == kExitOk ? entries : written;
}

int run_synthesise(const Invocation& call) {
  const workload::GeneratorOptions options = generator_options(call);
  if (const auto refused = call.refuse()) return *refused;
  auto output = create_output(call, fmt::format("synthesised with seed {}", options.seed));
  if (const auto refused = call.refuse()) return *refused;
  const auto reader = workload::generate(options);
  std::vector<std::string> notes;
  const Status status = convert_stream(*reader, {}, *output, notes);
  return finish(call, *output, status, std::move(notes));
}

}  // namespace

const Command kTraceDescribeCommand{.name = "trace describe",
                                    .arguments = "FILE",
                                    .summary = "print the numbers of a trace that matter first",
                                    .details = kFormatsText,
                                    .flags = kDescribeFlags,
                                    .arguments_min = 1,
                                    .arguments_max = 1,
                                    .run = run_describe};
const Command kTraceConvertCommand{.name = "trace convert",
                                   .arguments = "FILE",
                                   .summary = "write a trace in another format, whole or a part",
                                   .details = kFormatsText,
                                   .flags = kConvertFlags,
                                   .arguments_min = 1,
                                   .arguments_max = 1,
                                   .run = run_convert};
const Command kTraceSynthesiseCommand{
    .name = "trace synthesise",
    .arguments = "",
    .summary = "make a workload from a seed",
    .details =
        "Sessions begin by a Poisson, Gamma or on-off process; each has turns that wait for a "
        "person or a tool, a system prompt chosen by Zipf, and a context that grows.",
    .flags = kGenerateFlags,
    .run = run_synthesise};

}  // namespace forebay::cli
