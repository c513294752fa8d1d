#include "engine/accelerator.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace forebay::engine {
namespace {

// Where no measured host-to-device rate was found, PCIe's raw rate times what an H100 reaches of it
// (53 of 63 GB/s). Replace it by a measurement of your own host.
constexpr double kGen4Computed = 31.5e9 * 53 / 63;
constexpr double kGen5Computed = 63e9 * 53 / 63;
constexpr std::string_view kGen4Source = "computed: PCIe 4.0 x16, 31.5 GB/s x 0.84 (as on H100)";
constexpr std::string_view kGen5Source = "computed: PCIe 5.0 x16, 63 GB/s x 0.84 (as on H100)";

constexpr std::array kAccelerators{
    Accelerator{"a100-40g", 312e12, 1.555e12, 40e9, 26.09e9, "NVIDIA A100 datasheet (SXM)",
                "measured, FlagPerf: pinned native copy 26.09 GB/s"},
    Accelerator{"a100-80g", 312e12, 2.039e12, 80e9, 26.09e9, "NVIDIA A100 datasheet (SXM)",
                "measured, FlagPerf: pinned native copy 26.09 GB/s"},
    Accelerator{"h100", 989e12, 3.35e12, 80e9, 53e9, "NVIDIA H100 datasheet (SXM, dense)",
                "measured by others: pinned, PCIe 5.0, about 53 GB/s"},
    Accelerator{"h200", 989e12, 4.8e12, 141e9, 53e9, "NVIDIA H200 datasheet (SXM, dense)",
                "as H100: the same link"},
    Accelerator{"h20", 148e12, 4.0e12, 96e9, 54e9, "NVIDIA H20 figures (dense)",
                "measured by others: about 54 GB/s"},
    Accelerator{"b200", 2250e12, 8e12, 180e9, kGen5Computed,
                "NVIDIA B200 figures (dense, unverified)", kGen5Source},
    Accelerator{"l40s", 362e12, 0.864e12, 48e9, kGen4Computed, "NVIDIA L40S datasheet (dense)",
                kGen4Source},
    Accelerator{"l20", 119.5e12, 0.864e12, 48e9, 22.1e9, "NVIDIA L20 figures (dense)",
                "measured, LMCache issue 4626: 22.1 of 25.07 GB/s"},
    Accelerator{"rtx4090", 165.2e12, 1.008e12, 24e9, kGen4Computed,
                "NVIDIA Ada whitepaper (bf16 with fp32 accumulate, dense)", kGen4Source},
    Accelerator{"mi300x", 1307e12, 5.3e12, 192e9, kGen5Computed, "AMD MI300X datasheet (dense)",
                kGen5Source},
    Accelerator{"ascend-910b", 304e12, 1.6e12, 64e9, 24.8e9,
                "Atlas 800T A2: 304 TFLOPS measured, 1.6 TB/s", "measured, ascend-dmi: 24.8 GB/s"},
    Accelerator{"ascend-910c", 752e12, 3.2e12, 128e9, 110e9, "Atlas A3 figures, one package",
                "vendor claim: about 110 GB/s from registered host memory"},
};

constexpr std::array kPublished{
    PublishedRate{"qwq-32b", "h100", 4, 32768 / 1.512,
                  "published by UCM: 32K prompt, one at a time, 1,512 ms (vendor claim)"},
    PublishedRate{"deepseek-r1", "h100", 8, 32768 / 3.087,
                  "published by UCM: AWQ weights, 32K prompt, 3,087 ms (vendor claim)"},
};

}  // namespace

std::span<const Accelerator> all_accelerators() { return kAccelerators; }

const Accelerator* find_accelerator(std::string_view name) {
  for (const Accelerator& accelerator : kAccelerators) {
    const bool same = std::ranges::equal(
        accelerator.name, name,
        [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
    if (same) return &accelerator;
  }
  return nullptr;
}

std::span<const PublishedRate> published_rates() { return kPublished; }

}  // namespace forebay::engine
