#include "engine/timing.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace forebay::engine {
namespace {

const ModelGeometry& model(std::string_view name) {
  const ModelGeometry* found = find_model(name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}
const Accelerator& card(std::string_view name) {
  const Accelerator* found = find_accelerator(name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

// The sizes that the models' users publish, not recomputed here.
TEST(Model, KvBytesATokenAreThePublishedOnes) {
  const std::pair<const char*, std::uint64_t> published[] = {
      {"llama-3.1-8b", 131072},    {"llama-3.1-70b", 327680},
      {"llama-3.1-405b", 516096},  {"mistral-7b", 131072},
      {"mistral-large-2", 360448}, {"mixtral-8x22b", 229376},
      {"qwen2.5-7b", 57344},       {"qwen2.5-32b", 262144},
      {"qwq-32b", 262144},         {"qwen2.5-72b", 327680},
      {"qwen3-8b", 147456},        {"qwen3-14b", 163840},
      {"qwen3-32b", 262144},       {"qwen3-30b-a3b", 98304},
      {"qwen3-235b-a22b", 192512}, {"qwen3-coder-480b-a35b", 253952},
      {"glm-4.5", 376832},         {"gpt-oss-20b", 24576},
      {"gpt-oss-120b", 36864},     {"deepseek-v3", 70272},
      {"deepseek-r1", 70272},      {"kimi-k2", 70272},
  };
  EXPECT_EQ(std::size(published), all_models().size());
  for (const auto& [name, bytes] : published) {
    EXPECT_EQ(kv_bytes_per_token(model(name)), bytes) << name;
  }
}

TEST(Model, AnFp8CacheIsHalfAsLarge) {
  ModelGeometry half = model("llama-3.1-8b");
  half.kv_element_bytes = 1;
  EXPECT_EQ(kv_bytes_per_token(half), 65536U);
}

TEST(Model, TheFormulaShowsItsFields) {
  EXPECT_EQ(kv_formula(model("llama-3.1-8b")),
            "2 x 32 layers x 8 kv heads x 128 x 2 bytes = 131072");
  EXPECT_EQ(kv_formula(model("deepseek-v3")), "61 layers x (512 + 64) x 2 bytes = 70272");
  EXPECT_EQ(kv_formula(model("gpt-oss-120b")),
            "2 x 18 layers (18 more keep a sliding window) x 8 kv heads x 64 x 2 bytes = 36864");
}

TEST(Model, IsFoundByNameOrRepositoryInAnyCase) {
  EXPECT_EQ(find_model("Llama-3.1-8B"), find_model("meta-llama/Llama-3.1-8B"));
  EXPECT_EQ(find_model("llama"), nullptr);
}

TEST(Model, NamesAreUniqueAndEveryRowHasASource) {
  std::set<std::string_view> names;
  for (const ModelGeometry& row : all_models()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_NE(row.source.find('/'), std::string_view::npos) << row.name;
    EXPECT_GT(row.weight_bytes, 0) << row.name;
    EXPECT_LE(row.active_parameter_count, row.parameter_count) << row.name;
    EXPECT_GT(row.active_parameter_count, 0) << row.name;
  }
}

TEST(Model, KvIsCopiedToCardsThatCannotShareIt) {
  EXPECT_EQ(kv_copies(model("llama-3.1-70b"), 8), 1U);
  EXPECT_EQ(kv_copies(model("qwen3-235b-a22b"), 8), 2U);  // 4 kv heads on 8 cards
  EXPECT_EQ(kv_copies(model("deepseek-v3"), 8), 8U);
}

TEST(Accelerator, EveryFigureHasASource) {
  for (const Accelerator& row : all_accelerators()) {
    EXPECT_FALSE(row.source.empty()) << row.name;
    EXPECT_FALSE(row.link_source.empty()) << row.name;
    EXPECT_GT(row.bf16_flops_per_second, 1e14) << row.name;
    EXPECT_GT(row.hbm_bytes_per_second, 5e11) << row.name;
    EXPECT_GT(row.link_bytes_per_second, 1e10) << row.name;
    EXPECT_EQ(find_accelerator(row.name), &row);
  }
  for (const PublishedRate& row : published_rates()) {
    EXPECT_NE(find_model(row.model), nullptr) << row.model;
    EXPECT_NE(find_accelerator(row.accelerator), nullptr) << row.accelerator;
    EXPECT_FALSE(row.source.empty());
  }
}

TEST(Timing, IsComputedByFlopsAndBandwidthWhereNothingIsPublished) {
  const auto timing = timing_for(model("llama-3.1-8b"), card("h100"), 1);
  ASSERT_TRUE(timing);
  // 989e12 x 0.4 / (2 x 8.03e9); 16.06 GB / (3.35 TB/s x 0.7)
  EXPECT_NEAR(timing->prefill_tokens_per_second, 24632.6, 0.1);
  EXPECT_NEAR(timing->decode_seconds_per_step, 0.0068486, 1e-6);
  // 2 x 32 layers x 32 heads x (128 + 128) operations over 395.6e12 a second
  EXPECT_NEAR(timing->prefill_seconds_per_token_pair, 1.3253e-9, 1e-12);
  // 8,192 tokens of 128 KiB over 2.345 TB/s, and 16.06 GFLOP over 395.6e12
  EXPECT_NEAR(timing->decode_seconds_per_sequence, 457.9e-6 + 40.6e-6, 1e-6);
  EXPECT_NEAR(static_cast<double>(timing->hbm_kv_bytes), 72e9 - 16.06e9, 1e3);
  EXPECT_NE(timing->prefill_source.find("computed: 1 cards x 989 TFLOPS"), std::string::npos)
      << timing->prefill_source;
  EXPECT_NE(timing->decode_source.find("computed"), std::string::npos);
  EXPECT_NE(timing->kv_source.find("131072"), std::string::npos);
}

TEST(Timing, APublishedRateWins) {
  const auto timing = timing_for(model("qwq-32b"), card("h100"), 4);
  ASSERT_TRUE(timing);
  EXPECT_NEAR(timing->prefill_tokens_per_second, 21672, 1);
  EXPECT_EQ(timing->prefill_seconds_per_token_pair, 0);
  EXPECT_NE(timing->prefill_source.find("published"), std::string::npos);
  const auto other = timing_for(model("qwq-32b"), card("h100"), 2);
  ASSERT_TRUE(other);
  EXPECT_NE(other->prefill_source.find("computed"), std::string::npos);
}

TEST(Timing, LatentKvIsHeldAndReceivedByEveryCard) {
  const auto timing = timing_for(model("deepseek-v3"), card("h200"), 8);
  ASSERT_TRUE(timing);
  EXPECT_NEAR(static_cast<double>(timing->hbm_kv_bytes), (8 * 141e9 * 0.9 - 688.6e9) / 8, 1e3);
  EXPECT_NEAR(timing->link_bytes_per_second, 53e9, 1);
  const auto grouped = timing_for(model("llama-3.1-70b"), card("h200"), 8);
  ASSERT_TRUE(grouped);
  EXPECT_NEAR(grouped->link_bytes_per_second, 8 * 53e9, 1);
}

TEST(Timing, RefusesWhatCannotRun) {
  EXPECT_EQ(timing_for(model("llama-3.1-8b"), card("h100"), 0).error().code, Errc::kInvalid);
  EXPECT_EQ(timing_for(model("llama-3.1-405b"), card("l40s"), 8).error().code, Errc::kInvalid);
}

TEST(Timing, ScaleDividesBytesAndLeavesTimesAlone) {
  const auto timing = timing_for(model("llama-3.1-8b"), card("h100"), 1);
  ASSERT_TRUE(timing);
  EngineOptions options;
  apply_timing(*timing, 64, options);
  EXPECT_EQ(options.kv_bytes_per_token, 2048U);
  EXPECT_NEAR(static_cast<double>(options.hbm_kv_bytes), (72e9 - 16.06e9) / 64, 1);
  EXPECT_NEAR(options.link_bytes_per_second, 53e9 / 64, 1);
  EXPECT_EQ(options.prefill_tokens_per_second, timing->prefill_tokens_per_second);
  EXPECT_EQ(options.decode_seconds_per_step, timing->decode_seconds_per_step);
}

}  // namespace
}  // namespace forebay::engine
