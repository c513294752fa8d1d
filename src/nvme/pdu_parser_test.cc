// The parser against literals of the specification, any split of them, and every refusal.
#include "nvme/pdu_parser.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/crc32c.h"
#include "nvme/pdu_encoder.h"
#include "nvme/test_pdus.h"

namespace forebay::nvme {
namespace {

constexpr Digests kBoth{.header = true, .data = true};

PduRules from_host(Digests digests = {}) {
  return {.sender = Sender::kHost,
          .initialized = true,
          .digests = digests,
          .capsule_data_bytes_max = 8192,
          .data_bytes_max = 4096};
}

// Everything a parser said about some bytes.
struct Told {
  std::vector<PduEvent> events;  // runs of kData count once, kMore not at all
  std::vector<std::byte> data;
  std::vector<bool> intact;
  PduFault fault;
  friend bool operator==(const Told&, const Told&) = default;
};

void feed(PduParser& parser, std::span<const std::byte> input, Told& told) {
  while (true) {
    const PduEvent event = parser.next(input);
    if (event == PduEvent::kMore) return;
    if (event != PduEvent::kData || told.events.back() != PduEvent::kData) {
      told.events.push_back(event);
    }
    if (event == PduEvent::kData) append(told.data, parser.data());
    if (event == PduEvent::kEnd) told.intact.push_back(parser.data_intact());
    if (event == PduEvent::kFault) {
      told.fault = parser.fault();
      return;
    }
  }
}

Told parse(std::span<const std::byte> input, const PduRules& rules) {
  PduParser parser(rules);
  Told told;
  feed(parser, input, told);
  return told;
}

PduFault fault_of(std::span<const std::byte> input, const PduRules& rules) {
  return parse(input, rules).fault;
}

std::vector<std::byte> with_data(const HeaderBytes& header, std::span<const std::byte> data,
                                 bool digest) {
  std::vector<std::byte> bytes;
  append(bytes, header.bytes());
  append(bytes, data);
  if (digest) append(bytes, bytes_of(crc32c(data)));
  return bytes;
}

std::vector<std::byte> counting(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i);
  return bytes;
}

// Of tests/interop/nvme_pdus.py: a write with 64 bytes of in-capsule data and both digests.
const std::string kCapsuleHex =
    "0403484c90000000014007000100000000000000000000000000000000000000000000000000000040000000"
    "000000010500000000000000000000000000000000000000000000005d07ac4d000102030405060708090a0b"
    "0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f3031323334353637"
    "38393a3b3c3d3e3feb366dfb";

TEST(PduParser, ReadsACapsuleWithDigestsThatAnotherWriterMade) {
  const Told told = parse(bytes_from_hex(kCapsuleHex), from_host(kBoth));
  EXPECT_EQ(told.events, (std::vector{PduEvent::kHeader, PduEvent::kData, PduEvent::kEnd}));
  EXPECT_EQ(told.data, counting(64));
  EXPECT_EQ(told.intact, std::vector{true});
}

TEST(PduParser, HandsOutHeaderFieldsAndWhatDataIsToCome) {
  PduParser parser(from_host(kBoth));
  const auto bytes = bytes_from_hex(kCapsuleHex);
  std::span<const std::byte> input(bytes);
  ASSERT_EQ(parser.next(input), PduEvent::kHeader);
  EXPECT_EQ(parser.type(), PduType::kCommand);
  EXPECT_EQ(parser.header<CommandCapsule>().sqe.command_id, 7);
  EXPECT_EQ(parser.data_bytes(), 64U);
  EXPECT_EQ(parser.data_left(), 64U);
  auto first = input.first(10);
  ASSERT_EQ(parser.next(first), PduEvent::kData);
  EXPECT_EQ(parser.data_left(), 54U);
  // The very bytes that were passed: received in their place they need no copy.
  EXPECT_EQ(parser.data().data(), input.data());
}

TEST(PduParser, ABrokenDataDigestIsToldAndTheNextPduStillRead) {
  auto bytes = bytes_from_hex(kCapsuleHex);
  bytes[80] ^= std::byte{1};
  append(bytes, bytes_from_hex(kCapsuleHex));
  EXPECT_EQ(parse(bytes, from_host(kBoth)).intact, (std::vector{false, true}));
}

TEST(PduParser, ABrokenHeaderDigestIsAFault) {
  auto bytes = bytes_from_hex(kCapsuleHex);
  bytes[40] ^= std::byte{1};
  EXPECT_EQ(fault_of(bytes, from_host(kBoth)), (PduFault{TerminateReason::kHeaderDigest, 0}));
}

TEST(PduParser, SkipsPaddingBeforeData) {
  const auto data = counting(100);
  const DataPdu pdu{.command_id = 1, .data_bytes = 100};
  const SendFormat format{.digests = kBoth, .data_align_bytes = 128};
  PduRules rules = from_host(kBoth);
  rules.sender = Sender::kController;
  const Told told = parse(
      with_data(encode_data(PduType::kControllerData, kFlagLast, pdu, format), data, true), rules);
  EXPECT_EQ(told.data, data);
  EXPECT_EQ(told.intact, std::vector{true});
}

TEST(PduParser, TheFirstPduIsAnIcPduAndNoOther) {
  PduRules before = from_host();
  before.initialized = false;
  const PduFault sequence{TerminateReason::kSequence, 0};
  EXPECT_EQ(fault_of(encode_command({}, 0, {}).bytes(), before), sequence);
  EXPECT_EQ(fault_of(encode_ic_request({}).bytes(), from_host()), sequence);
  EXPECT_EQ(parse(encode_ic_request({}).bytes(), before).events,
            (std::vector{PduEvent::kHeader, PduEvent::kEnd}));
}

TEST(PduParser, APeerMayGiveUpAtAnyTime) {
  const auto refused = bytes_from_hex("0500180018000000");
  const auto bytes =
      encode_terminate(PduType::kHostTerminate, TerminateReason::kDataLimit, 4, refused);
  PduRules rules = from_host(kBoth);
  EXPECT_EQ(parse(bytes.bytes(), rules).data, refused);
  rules.initialized = false;
  EXPECT_EQ(parse(bytes.bytes(), rules).data, refused);
}

// One byte of a good PDU changed: the offset of the field, or of what the field made wrong.
struct Damage {
  const char* what;
  std::size_t at;
  std::uint8_t value;
  PduFault fault;
};

class PduParserRefuses : public testing::TestWithParam<Damage> {};

TEST_P(PduParserRefuses, AHeaderFieldThatDoesNotFit) {
  const DataPdu pdu{.command_id = 1, .transfer_tag = 2, .data_bytes = 512};
  auto bytes = with_data(encode_data(PduType::kHostData, kFlagLast, pdu, {}), counting(512), false);
  ASSERT_EQ(fault_of(bytes, from_host()), PduFault{});
  bytes[GetParam().at] = static_cast<std::byte>(GetParam().value);
  EXPECT_EQ(fault_of(bytes, from_host()), GetParam().fault);
}

constexpr auto kField = TerminateReason::kInvalidField;
INSTANTIATE_TEST_SUITE_P(
    Damages, PduParserRefuses,
    testing::Values(Damage{"UnknownType", 0, 0x0A, {kField, 0}},
                    Damage{"TypeOfTheOtherSide", 0, 0x07, {kField, 0}},
                    Damage{"HeaderDigestThatWasNotAgreed", 1, 0x05, {kField, 1}},
                    Damage{"DataDigestThatWasNotAgreed", 1, 0x06, {kField, 1}},
                    Damage{"HeaderLength", 2, 0x20, {kField, 2}},
                    Damage{"DataInsideTheHeader", 3, 0x10, {kField, 3}},
                    Damage{"UnalignedData", 3, 0x1A, {kField, 3}},
                    Damage{"TotalLengthOfFourGigabytes", 7, 0xFF, {TerminateReason::kDataLimit, 4}},
                    Damage{"DataLengthThatIsNotTheTotals", 17, 0x04, {kField, 16}}),
    [](const auto& damage) { return std::string(damage.param.what); });

TEST(PduParser, RefusesALengthThatEndsBeforeTheHeaderDoes) {
  auto bytes = with_data(encode_command({}, 0, {}), {}, false);
  bytes[4] = std::byte{71};
  EXPECT_EQ(fault_of(bytes, from_host()), (PduFault{kField, 4}));
}

TEST(PduParser, BoundsDataOfCapsulesAndDataPdusByTheirOwnLimits) {
  const PduFault limit{TerminateReason::kDataLimit, 4};
  EXPECT_EQ(fault_of(encode_command({}, 8192, {}).bytes(), from_host()), PduFault{});
  EXPECT_EQ(fault_of(encode_command({}, 8196, {}).bytes(), from_host()), limit);
  DataPdu pdu{.data_bytes = 4096};
  EXPECT_EQ(fault_of(encode_data(PduType::kHostData, 0, pdu, {}).bytes(), from_host()), PduFault{});
  pdu.data_bytes = 4100;
  EXPECT_EQ(fault_of(encode_data(PduType::kHostData, 0, pdu, {}).bytes(), from_host()), limit);
}

TEST(PduParser, AfterAFaultItTakesNothing) {
  PduParser parser(from_host());
  const auto bytes = bytes_from_hex("ff00000000000000");
  std::span<const std::byte> input(bytes);
  EXPECT_EQ(parser.next(input), PduEvent::kFault);
  EXPECT_EQ(parser.next(input), PduEvent::kFault);
  EXPECT_EQ(to_string(parser.state()), "failed");
}

// A conversation of the host: commands with and without data, and data PDUs.
std::vector<std::byte> conversation(Digests digests, std::uint32_t align_bytes,
                                    const std::vector<std::uint8_t>& sizes) {
  const SendFormat format{.digests = digests, .data_align_bytes = align_bytes};
  std::vector<std::byte> bytes;
  for (const std::uint8_t size : sizes) {
    const std::uint32_t data_bytes = size * 4U;
    const auto data = counting(data_bytes);
    const bool digest = digests.data && data_bytes != 0;
    if (size % 2 == 0) {
      append(bytes, with_data(encode_command({}, data_bytes, format), data, digest));
    } else {
      const DataPdu pdu{.data_bytes = data_bytes};
      append(bytes, with_data(encode_data(PduType::kHostData, 0, pdu, format), data, digest));
    }
  }
  return bytes;
}

RC_GTEST_PROP(PduParserProperty, AnySplitOfTheBytesTellsTheSame,
              (const std::vector<std::uint8_t>& sizes, bool header, bool data)) {
  const Digests digests{.header = header, .data = data};
  const std::uint32_t align = *rc::gen::element(4U, 8U, 64U, 128U);
  const auto bytes = conversation(digests, align, sizes);
  const Told whole = parse(bytes, from_host(digests));
  RC_ASSERT(whole.intact == std::vector<bool>(sizes.size(), true));
  PduParser parser(from_host(digests));
  Told split;
  std::span<const std::byte> rest(bytes);
  while (!rest.empty()) {
    const std::size_t size = std::min(rest.size(), *rc::gen::inRange<std::size_t>(1, 200));
    feed(parser, rest.first(size), split);
    rest = rest.subspan(size);
  }
  RC_ASSERT(split == whole);
}

TEST(PduParser, OneByteAtATimeTellsTheSame) {
  const auto bytes = conversation(kBoth, 64, {0, 1, 2, 9, 16, 0, 255});
  const Told whole = parse(bytes, from_host(kBoth));
  PduParser parser(from_host(kBoth));
  Told split;
  for (const std::byte& byte : bytes) feed(parser, std::span(&byte, 1), split);
  EXPECT_EQ(split, whole);
  EXPECT_EQ(whole.intact.size(), 7U);
}

}  // namespace
}  // namespace forebay::nvme
