#include "core/printable.h"

#include <gtest/gtest.h>

#include "core/diagnostics.h"
#include "core/log.h"

namespace forebay {
namespace {

TEST(Printable, PlainTextAndOtherAlphabetsStay) {
  for (const std::string_view text :
       {"", "a b~", R"(C:\path\n)", "Grüße", "日本語", "🦀", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, WhatMovesTheCursorIsEscaped) {
  EXPECT_EQ(printable("a\nforebay: error: b"), R"(a\nforebay: error: b)");
  EXPECT_EQ(printable("\x1b[2J\r\t\x7f"), R"(\x1b[2J\r\t\x7f)");
  EXPECT_EQ(printable(std::string_view("\0x", 2)), R"(\x00x)");
  EXPECT_EQ(printable("\xc2\x9b\x32J"), R"(\xc2\x9b2J)");  // U+009B: another way to say ESC [
}

TEST(Printable, MarksThatHideOrTurnTextAreEscaped) {
  EXPECT_EQ(printable("a\xe2\x80\xa8g"), R"(a\xe2\x80\xa8g)");      // U+2028, a line separator
  EXPECT_EQ(printable("\xe2\x80\xae txt"), R"(\xe2\x80\xae txt)");  // U+202E, right to left
  EXPECT_EQ(printable("\xe2\x81\xa6 txt"), R"(\xe2\x81\xa6 txt)");  // U+2066, isolate
  EXPECT_EQ(printable("a\xef\xbb\xbf"
                      "b"),
            R"(a\xef\xbb\xbfb)");  // U+FEFF, nothing to see
}

// Each is no UTF-8 by RFC 3629: alone, cut short, too long, a surrogate, beyond U+10FFFF.
TEST(Printable, BytesThatAreNoTextAreEscaped) {
  EXPECT_EQ(printable("\x80"), R"(\x80)");
  EXPECT_EQ(printable("\xe2\x82"), R"(\xe2\x82)");
  EXPECT_EQ(printable("\xc0\xaf"), R"(\xc0\xaf)");
  EXPECT_EQ(printable("\xe0\x80\xaf"), R"(\xe0\x80\xaf)");
  EXPECT_EQ(printable("\xed\xa0\x80"), R"(\xed\xa0\x80)");
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), R"(\xf4\x90\x80\x80)");
  EXPECT_EQ(printable("\xc3(ä"), R"(\xc3(ä)");
}

TEST(Printable, NoNameForgesALogLine) {
  testing::internal::CaptureStderr();
  log_warn("policy `{}` is unknown", "x`\nforebay: info: all is well\n");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said, "forebay: warning: policy `x`\\nforebay: info: all is well\\n` is unknown\n");
}

TEST(Printable, NoNameForgesAMistake) {
  Diagnostics mistakes;
  mistakes.add("a\n.toml", "`\x1b[1m` is\nnew", "drop\rit");
  EXPECT_EQ(mistakes.text(), "a\\n.toml: `\\x1b[1m` is\\nnew\n  hint: drop\\rit\n");
}

}  // namespace
}  // namespace forebay
