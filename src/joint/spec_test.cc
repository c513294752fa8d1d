#include "joint/spec.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "joint/flash_need.h"
#include "joint/sensitivity.h"
#include "joint/spec_fields.h"

namespace forebay::joint {
namespace {

// Four arms over a generated workload, nothing wrong with it.
constexpr std::string_view kGood = R"([run]
rounds = 6
scale = 16

[workload]
kind = "generated"
request_count = 100
context_tokens_max = 4096

[engine]
model = "llama-3.1-8b"
accelerator = "h100"

[storage]
dram_bytes = "4GiB"
flash_bytes = "32GiB"

[[arm]]
kind = "recompute"

[[arm]]
kind = "dram"

[[arm]]
kind = "forebay"
policy = "lru"
)";

std::string with(std::string_view line, std::string_view after) {
  std::string text(kGood);
  const std::size_t at = text.find(after);
  EXPECT_NE(at, std::string::npos);
  text.insert(at + after.size(), "\n" + std::string(line));
  return text;
}

std::string without(std::string_view part) {
  std::string text(kGood);
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos);
  return text.erase(at, part.size());
}

std::string mistakes_of(const std::string& text, std::vector<std::string> sets = {}) {
  Diagnostics mistakes;
  const auto spec = read_spec({"joint.toml", text, std::move(sets)}, mistakes);
  EXPECT_EQ(spec.has_value(), mistakes.empty());
  return mistakes.text();
}

Spec read_good(const std::string& text = std::string(kGood), std::vector<std::string> sets = {}) {
  Diagnostics mistakes;
  auto spec = read_spec({"joint.toml", text, std::move(sets)}, mistakes);
  EXPECT_TRUE(spec) << mistakes.text();
  return spec.value_or(Spec{});
}

TEST(Spec, ReadsSectionsSizesAndDefaults) {
  const Spec spec = read_good();
  EXPECT_EQ(spec.run.name, "joint");
  EXPECT_EQ(spec.run.rounds, 6U);
  EXPECT_EQ(spec.run.seed, 1U);
  EXPECT_EQ(spec.storage.dram_bytes, 4ULL << 30);
  ASSERT_EQ(spec.arms.size(), 3U);
  EXPECT_EQ(spec.arms[0].name, "recompute");
  EXPECT_EQ(spec.arms[2].flash_bytes, 32ULL << 30);
  EXPECT_EQ(spec.arms[2].policy, "lru");
  EXPECT_EQ(spec.run.candidate, "forebay");
}

TEST(Spec, AnArmMayDifferFromTheStorageSection) {
  const Spec spec =
      read_good(with("dram_bytes = \"1GiB\"\nbytes_per_second = \"2.5GB\"", "policy = \"lru\""));
  EXPECT_EQ(spec.arms[1].dram_bytes, 4ULL << 30);
  EXPECT_EQ(spec.arms[2].dram_bytes, 1ULL << 30);
  EXPECT_EQ(spec.arms[2].bytes_per_second, 2.5e9);
}

TEST(Spec, ArmsOfEnginesOwnTiersKeepBlocksByRecencyUnlessToldOtherwise) {
  const std::string files = "[[arm]]\nkind = \"files\"\n";
  const Spec spec =
      read_good(std::string(kGood) + files + "[[arm]]\nname = \"ours\"\nkind = \"forebay\"\n");
  EXPECT_EQ(spec.arms[1].policy, "lru");  // dram
  EXPECT_EQ(spec.arms[3].policy, "lru");  // files
  EXPECT_EQ(spec.arms[4].policy, "forebay");
  EXPECT_EQ(read_good(std::string(kGood) + files + "policy = \"gdsf\"\n").arms[3].policy, "gdsf");
}

TEST(Spec, WhatIsWrittenBackIsTheSameSpec) {
  std::string text(kGood);
  text += R"(
[[published]]
name = "before"
source = "a \"claim\"\twith marks"
ttft_s = 37.97
[[assumption]]
name = "prompt"
value = "16384 tokens"
source = "not published"
[[sensitivity]]
key = "engine.tp"
values = [1, 2]
)";
  const std::string written = spec_to_toml(read_good(text));
  EXPECT_EQ(spec_to_toml(read_good(written)), written);
  EXPECT_EQ(read_good(written).published[0].source, "a \"claim\"\twith marks");
}

TEST(Spec, AMisspeltKeySuggestsTheRightOne) {
  EXPECT_EQ(mistakes_of(with("poliy = \"lru\"", "kind = \"forebay\"")),
            "joint.toml:26: unknown key `poliy` in [[arm]]\n  hint: did you mean `policy`?\n");
  EXPECT_EQ(mistakes_of(with("warmup_s = 1", "rounds = 6")),
            "joint.toml:3: unknown key `warmup_s` in [run]\n  hint: did you mean `warm_up_s`?\n");
}

TEST(Spec, AMisspeltSectionSuggestsTheRightOne) {
  EXPECT_EQ(mistakes_of(std::string(kGood) + "[engin]\n"),
            "joint.toml:27: unknown section `engin`\n  hint: did you mean `engine`?\n");
}

TEST(Spec, AKeyOfAnotherKindOfWorkloadIsToldApartFromAnUnknownOne) {
  EXPECT_EQ(mistakes_of(with("speed_up = 4", "request_count = 100")),
            "joint.toml:8: `speed_up` is for a workload of another kind\n"
            "  hint: remove it, or change `kind` (`generated`)\n");
}

TEST(Spec, AKeyThatMeansNothingForAnArmIsRefused) {
  EXPECT_EQ(mistakes_of(with("read_threads = 4", "kind = \"recompute\"")),
            "joint.toml:20: `read_threads` is for an arm of another kind\n"
            "  hint: remove it, or change `kind` (`recompute`)\n");
  EXPECT_NE(mistakes_of(with("flash_bytes = 4096", "kind = \"recompute\"")).find("another kind"),
            std::string::npos);
  EXPECT_NE(mistakes_of(with("blocks_per_job = 4", "kind = \"forebay\"")).find("another kind"),
            std::string::npos);
  // Results of older versions hold every key of every arm.
  Diagnostics mistakes;
  const std::string older = with("read_threads = 4", "kind = \"recompute\"");
  EXPECT_TRUE(read_spec({"joint.toml", older, {}, false}, mistakes)) << mistakes.text();
}

TEST(Spec, AnUnknownKindIsOneMistake) {
  std::string text(kGood);
  text.replace(text.find("kind = \"generated\""), 18, "kind = \"generatd\"");
  EXPECT_EQ(mistakes_of(text),
            "joint.toml:6: `kind` cannot be `generatd`\n  hint: did you mean `generated`?\n");
  text = with("candidate = \"forebay\"", "rounds = 6");
  text.replace(text.find("kind = \"forebay\""), 16, "kind = \"forbay\"");
  EXPECT_EQ(mistakes_of(text),
            "joint.toml:26: `kind` cannot be `forbay`\n  hint: did you mean `forebay`?\n");
}

TEST(Spec, AFlashTierThatCannotBeAStoreIsAMistake) {
  const std::string told = mistakes_of(with("flash_bytes = \"1MiB\"", "kind = \"forebay\""));
  EXPECT_TRUE(told.starts_with("joint.toml:26: arm `forebay`: ")) << told;
  EXPECT_NE(told.find("too small for a store"), std::string::npos) << told;
  EXPECT_NE(mistakes_of(std::string(kGood), {"storage.flash_bytes=1M"}).find("too small"),
            std::string::npos);
}

TEST(FlashNeed, TheLeastHoldsAndHalfOfItDoesNot) {
  for (const std::uint64_t block :
       {std::uint64_t{0}, std::uint64_t{4096}, std::uint64_t{1} << 20, std::uint64_t{32} << 20}) {
    const std::uint64_t least = least_flash_bytes(block);
    EXPECT_TRUE(flash_holds(least, block)) << block;
    EXPECT_FALSE(flash_holds(least / 2, block)) << block;
    // Eight segments of at least a block each.
    EXPECT_GE(least, 8 * block);
  }
}

TEST(Spec, AWrongTypeSaysWhatItIsAndWhatItMustBe) {
  EXPECT_EQ(mistakes_of(with("seed = \"seven\"", "rounds = 6")),
            "joint.toml:3: `seed` is a text; it must be a whole number from 0 to "
            "9223372036854775807\n"
            "  hint: of the order of arms, the workload and the contents\n");
  EXPECT_NE(mistakes_of(with("prepare = 1", "rounds = 6")).find("it must be true or false"),
            std::string::npos);
  EXPECT_NE(mistakes_of(with("name = 5", "rounds = 6")).find("must be a text in quotes"),
            std::string::npos);
  EXPECT_NE(mistakes_of(std::string(kGood) + "[published]\nname = \"x\"\n")
                .find("joint.toml:27: `published` must be a list of sections\n"
                      "  hint: write [[published]] above each"),
            std::string::npos);
}

TEST(Spec, AValueOutOfRangeNamesTheRange) {
  EXPECT_EQ(mistakes_of(with("warm_up_s = -1", "rounds = 6")),
            "joint.toml:3: `warm_up_s` is -1; it must be 0 to 31536000\n"
            "  hint: requests that start before this are not counted\n");
  EXPECT_NE(mistakes_of(std::string(kGood), {"run.rounds=0"})
                .find("--set run.rounds=0: `rounds` is 0; it must be 1 to 200"),
            std::string::npos);
  EXPECT_NE(mistakes_of(with("lag_ms_max = nan", "rounds = 6")).find("`lag_ms_max` is nan"),
            std::string::npos);
  // The generator's own ranges keep the line of the key.
  EXPECT_NE(mistakes_of(with("turns_mean = 0.5", "request_count = 100"))
                .find("joint.toml:8: `turns_mean`"),
            std::string::npos);
}

// Written as a number or as a text, for all arms or for one.
TEST(Spec, ARateAtWhichNoRunCouldEndIsRefused) {
  const auto says = [](const std::string& key, const std::string& value, const std::string& range) {
    const std::string name = key.substr(key.rfind('.') + 1);
    const std::string text = mistakes_of(std::string(kGood), {key + "=" + value});
    EXPECT_NE(text.find(fmt::format("`{}` is ", name)), std::string::npos) << key << "\n" << text;
    EXPECT_NE(text.find("it must be " + range), std::string::npos) << key << "\n" << text;
  };
  says("storage.operations_per_second", "1e-9", "0, or 1 to");
  says("storage.bytes_per_second", "10000", "0, or 1048576 to");
  says("arm.forebay.bytes_per_second", "\"1KiB\"", "0, or 1048576 to");
  says("engine.link_bytes_per_second", "1", "0, or 1048576 to");
  says("engine.prefill_tokens_per_second", "1e-300", "0, or 1 to");
  says("engine.decode_seconds_per_step", "1e9", "0, or 1e-09 to 3600");
  says("workload.sessions_per_s", "1e-6", "0.001 to");
  EXPECT_EQ(mistakes_of(std::string(kGood), {"storage.operations_per_second=0"}), "");
}

TEST(Spec, WhatScaleLeavesOfARateIsBoundedToo) {
  EXPECT_EQ(mistakes_of(std::string(kGood), {"storage.bytes_per_second=1048576", "run.scale=1024"}),
            "");
  EXPECT_NE(
      mistakes_of(std::string(kGood), {"storage.bytes_per_second=1048576", "run.scale=1025"})
          .find("storage.bytes_per_second=1048576: arm `forebay`: `bytes_per_second` by `scale` "
                "1025 leaves 1.02e+03 bytes a second; it must leave 1024"),
      std::string::npos);
}

TEST(Spec, ASizeThatIsNoneSaysHowToWriteOne) {
  EXPECT_EQ(mistakes_of(with("hbm_kv_bytes = \"12 apples\"", "accelerator = \"h100\"")),
            "joint.toml:13: `hbm_kv_bytes` is `12 apples`, which is not a size\n"
            "  hint: write a number of bytes, or a text such as \"4GiB\" or \"2.5GB\"\n");
}

TEST(Spec, AWordThatIsNotAllowedSuggestsOneThatIs) {
  EXPECT_EQ(mistakes_of(with("admission = \"reuze\"", "policy = \"lru\"")),
            "joint.toml:27: `admission` cannot be `reuze`\n  hint: did you mean `reuse`?\n");
}

TEST(Spec, UnknownModelsAndAcceleratorsSuggestKnownOnes) {
  std::string text = without("model = \"llama-3.1-8b\"\naccelerator = \"h100\"");
  text.insert(text.find("[engine]") + 8, "\nmodel = \"llama-3.1-8B-x\"\naccelerator = \"h10\"");
  EXPECT_EQ(mistakes_of(text),
            "joint.toml:11: no model `llama-3.1-8B-x`\n  hint: did you mean `llama-3.1-8b`?\n"
            "joint.toml:12: no accelerator `h10`\n  hint: did you mean `h100`?\n");
}

TEST(Spec, WithoutTablesEveryFigureMustBeGiven) {
  const std::string text = mistakes_of(without("accelerator = \"h100\"\n"));
  for (const char* key : {"hbm_kv_bytes", "prefill_tokens_per_second", "decode_seconds_per_step"}) {
    EXPECT_NE(text.find(fmt::format("joint.toml:10: `{}` is missing in [engine]", key)),
              std::string::npos)
        << text;
  }
  EXPECT_EQ(text.find("kv_bytes_per_token"), std::string::npos);  // the model gives it
}

TEST(Spec, WeightsThatDoNotFitSayHowManyCardsThereAre) {
  std::string text = without("model = \"llama-3.1-8b\"\n");
  text.insert(text.find("accelerator"), "model = \"llama-3.1-70b\"\n");
  EXPECT_NE(mistakes_of(text).find("141 GB of weights do not fit into 1 x h100 of 80 GB"),
            std::string::npos);
  text.insert(text.find("accelerator"), "tp = 4\n");
  EXPECT_EQ(mistakes_of(text), "");
}

TEST(Spec, ContradictionsAreRefusedAtTheLineOfOneSide) {
  EXPECT_NE(mistakes_of(with("restart = true", "rounds = 6"))
                .find("joint.toml:3: `restart` without `prepare` reopens an empty store"),
            std::string::npos);
  EXPECT_NE(mistakes_of(with("device = \"/dev/nvme9n1\"", "[storage]"))
                .find("joint.toml:15: a device is never emptied for you"),
            std::string::npos);
  EXPECT_NE(mistakes_of(with("candidate = \"forbay\"", "rounds = 6"))
                .find("joint.toml:3: no arm is named `forbay`\n  hint: did you mean `forebay`?"),
            std::string::npos);
  EXPECT_NE(mistakes_of(std::string(kGood) + "[[arm]]\nkind = \"dram\"\n")
                .find("two arms are named `dram`"),
            std::string::npos);
  EXPECT_NE(mistakes_of(std::string(kGood) + "[[arm]]\nkind = \"files\"\nlatency_us = 5\n")
                .find("joint.toml:27: arm `files` goes through the file system, which cannot be "
                      "throttled"),
            std::string::npos);
}

TEST(Spec, MissingPartsAreNamed) {
  EXPECT_NE(mistakes_of(without("flash_bytes = \"32GiB\"\n"))
                .find("joint.toml:23: arm `forebay` has no `flash_bytes`"),
            std::string::npos);
  EXPECT_NE(mistakes_of(without("dram_bytes = \"4GiB\"\n")).find("arm `dram` has no `dram_bytes`"),
            std::string::npos);
  std::string no_arms(kGood);
  no_arms.resize(no_arms.find("[[arm]]"));
  EXPECT_NE(mistakes_of(no_arms).find("there is no [[arm]]"), std::string::npos);
  EXPECT_NE(mistakes_of(std::string(kGood) + "[[arm]]\nname = \"x\"\n")
                .find("joint.toml:27: `kind` is missing in [[arm]]"),
            std::string::npos);
  EXPECT_NE(mistakes_of(std::string(kGood) + "[[published]]\nname = \"x\"\n")
                .find("`source` is missing in [[published]]"),
            std::string::npos);
}

TEST(Spec, AMissingTraceSaysWhereItWasLookedForAndWhereToGetIt) {
  std::string text =
      without("kind = \"generated\"\nrequest_count = 100\ncontext_tokens_max = 4096\n");
  text.insert(text.find("[workload]") + 11,
              "file = \"../none/trace.jsonl\"\norigin = \"example.org\"\n");
  Diagnostics mistakes;
  EXPECT_FALSE(read_spec({"a/b/joint.toml", text, {}}, mistakes));
  EXPECT_EQ(mistakes.text(),
            "a/b/joint.toml:6: the trace `a/none/trace.jsonl` is not there\n"
            "  hint: get it from example.org, then say where it lies: --set workload.file=PATH\n");
  // A result is looked at without its trace.
  EXPECT_TRUE(read_spec({"a/b/joint.toml", text, {}, false}, mistakes));
  // What the command line names lies where the command runs, and the mistake is the flag's.
  const std::string shown = mistakes_of(text, {"workload.file=near/x.jsonl"});
  EXPECT_TRUE(shown.starts_with("--set workload.file=near/x.jsonl: the trace `" +
                                std::filesystem::absolute("near/x.jsonl").string() +
                                "` is not there"))
      << shown;
}

TEST(Spec, AllMistakesAreShownTogetherInTheOrderOfTheFile) {
  std::string text = with("scael = 2", "rounds = 6");
  text += "[[arm]]\nkind = \"forebai\"\n[[arm]]\nkind = \"dram\"\n";
  const std::string shown = mistakes_of(text);
  const std::size_t first = shown.find("unknown key `scael`");
  const std::size_t second = shown.find("`kind` cannot be `forebai`");
  const std::size_t third = shown.find("two arms are named `dram`");
  EXPECT_NE(third, std::string::npos) << shown;
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
}

TEST(Spec, WhatIsNotTomlIsOneMistakeWithItsLine) {
  EXPECT_NE(mistakes_of("[run]\nrounds = = 3\n").find("joint.toml:2: "), std::string::npos);
  EXPECT_NE(mistakes_of("[run\n").find("hint: this is not TOML"), std::string::npos);
  // Letters that the library's tables had no answer for.
  EXPECT_NE(mistakes_of("[run]\nrounds = 3 \xc3\xa9\n").find("joint.toml:2: "), std::string::npos);
  EXPECT_NE(mistakes_of("\xef\xbb\xbb").find("joint.toml:1: "), std::string::npos);
  EXPECT_NE(mistakes_of(std::string(kSpecBytesMax + 1, '#')).find("is longer than"),
            std::string::npos);
}

TEST(Spec, SetReplacesAKeyAndNamesItselfInMistakes) {
  const Spec spec = read_good(
      std::string(kGood), {"run.rounds=2", "arm.forebay.policy=gdsf", "storage.dram_bytes=\"1GiB\"",
                           "engine.link_bytes_per_second=5e9"});
  EXPECT_EQ(spec.run.rounds, 2U);
  EXPECT_EQ(spec.arms[2].policy, "gdsf");
  EXPECT_EQ(spec.storage.dram_bytes, 1ULL << 30);
  EXPECT_EQ(mistakes_of(std::string(kGood), {"run.roundz=2"}),
            "--set run.roundz=2: unknown key `roundz` in [run]\n  hint: did you mean `rounds`?\n");
  // A bare word, a text with quotes of its own, a section that is new: never "joint.toml:0".
  EXPECT_TRUE(mistakes_of(std::string(kGood), {"run.rounds=many"})
                  .starts_with("--set run.rounds=many: `rounds` is a text"));
  EXPECT_TRUE(mistakes_of(std::string(kGood), {"arm.forebay.policy=\"l\"ru\\"})
                  .starts_with("--set arm.forebay.policy=\"l\"ru\\: `policy` cannot be"));
  EXPECT_TRUE(mistakes_of(std::string(kGood), {"storrage.path=x"})
                  .starts_with("--set storrage.path=x: unknown section `storrage`"));
  EXPECT_EQ(mistakes_of(std::string(kGood), {"arm.forbay.policy=lru"}),
            "--set arm.forbay.policy=lru: no arm is named `forbay`\n"
            "  hint: did you mean `forebay`?\n");
  EXPECT_NE(mistakes_of(std::string(kGood), {"arm.nobody.policy=lru"}).find("one of: recompute"),
            std::string::npos);
  EXPECT_NE(mistakes_of(std::string(kGood), {"rounds"}).find("is not section.key=value"),
            std::string::npos);
}

TEST(Spec, NamesThatCannotStandInALogAreRefused) {
  EXPECT_NE(mistakes_of(with("name = \"a,b\"", "kind = \"forebay\"")).find("cannot be a name"),
            std::string::npos);
  EXPECT_NE(mistakes_of(with("name = \"..\"", "rounds = 6")).find("cannot be a name"),
            std::string::npos);
}

TEST(Sensitivity, EachValueIsASpecOfItsOwnInVirtualTime) {
  std::string text(kGood);
  text += "[[sensitivity]]\nkey = \"engine.prefill_flops_share\"\nvalues = [0.3, 0.5]\n";
  const Spec spec = read_good(text);
  Diagnostics mistakes;
  const auto variants = variant_specs(spec, {"joint.toml", text, {}}, mistakes);
  ASSERT_EQ(variants.size(), 2U) << mistakes.text();
  EXPECT_EQ(variants[1].variant.value, "0.5");
  EXPECT_EQ(variants[1].spec.engine.prefill_flops_share, 0.5);
  EXPECT_TRUE(variants[1].spec.run.virtual_time);
  EXPECT_EQ(variants[1].spec.run.rounds, 1U);
  EXPECT_EQ(variants[1].spec.run.scale, 16);  // its flash is not throttled: bytes set the time
}

TEST(Sensitivity, WhereFlashIsThrottledBytesAreScaledDownFurther) {
  std::string text = with("bytes_per_second = \"2GB\"", "[storage]");
  text += "[[sensitivity]]\nkey = \"engine.tp\"\nvalues = [2]\n";
  text.insert(text.find("[[arm]]"), "\n");
  Diagnostics mistakes;
  const auto variants = variant_specs(read_good(text), {"joint.toml", text, {}}, mistakes);
  ASSERT_EQ(variants.size(), 1U);
  // 131,072 bytes a token / 16, 64 tokens a block: 512 KiB can be halved once.
  EXPECT_EQ(variants[0].spec.run.scale, 32);
}

TEST(Sensitivity, AKeyThatIsNotThereIsAMistake) {
  std::string text(kGood);
  text += "[[sensitivity]]\nkey = \"engine.tpp\"\nvalues = [2]\n";
  Diagnostics mistakes;
  EXPECT_TRUE(variant_specs(read_good(text), {"joint.toml", text, {}}, mistakes).empty());
  EXPECT_EQ(mistakes.text(),
            "joint.toml:27: [[sensitivity]] engine.tpp = 2: unknown key `tpp` in [engine]\n"
            "  hint: did you mean `tp`?\n");
}

}  // namespace
}  // namespace forebay::joint
