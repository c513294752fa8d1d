// GB/s of writing and checking block contents, against a plain copy and a plain compare.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "engine/content.h"

namespace forebay::engine {
namespace {

constexpr std::size_t kPoolBytes = std::size_t{64} << 20;  // beyond the caches of a core

void fill(benchmark::State& state) {
  std::vector<std::byte> pool(kPoolBytes);
  const auto block_bytes = static_cast<std::size_t>(state.range(0));
  std::uint64_t name = 0;
  for (auto _ : state) {
    const std::size_t at = name * block_bytes % kPoolBytes;
    fill_content(std::span(pool).subspan(at, block_bytes), content_key(1, name++, 2));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(fill)->Arg(256 << 10)->Arg(2 << 20);

void check(benchmark::State& state) {
  std::vector<std::byte> pool(kPoolBytes);
  const auto block_bytes = static_cast<std::size_t>(state.range(0));
  const auto block_count = kPoolBytes / block_bytes;
  for (std::size_t i = 0; i < block_count; ++i) {
    fill_content(std::span(pool).subspan(i * block_bytes, block_bytes), content_key(1, i, 2));
  }
  std::size_t i = 0;
  for (auto _ : state) {
    const auto bad =
        check_content(std::span(pool).subspan(i * block_bytes, block_bytes), content_key(1, i, 2));
    if (bad) state.SkipWithError("a good block was refused");
    i = (i + 1) % block_count;
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(check)->Arg(256 << 10)->Arg(2 << 20);

void copy(benchmark::State& state) {
  std::vector<std::byte> pool(kPoolBytes);
  std::vector<std::byte> other(static_cast<std::size_t>(state.range(0)), std::byte{1});
  std::size_t at = 0;
  for (auto _ : state) {
    std::memcpy(pool.data() + at, other.data(), other.size());
    benchmark::DoNotOptimize(pool.data());
    benchmark::ClobberMemory();
    at = (at + other.size()) % kPoolBytes;
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(copy)->Arg(256 << 10)->Arg(2 << 20);

}  // namespace
}  // namespace forebay::engine
