#include "core/error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace forebay {
namespace {

Result<int> parse_digit(char c) {
  if (c < '0' || c > '9') return fail(Errc::kInvalid, "parse digit");
  return c - '0';
}

Result<int> add_digits(char a, char b) {
  FOREBAY_TRY(left, parse_digit(a));
  FOREBAY_TRY(right, parse_digit(b));
  return left + right;
}

TEST(Error, TryPassesTheValueOnOrReturnsTheError) {
  EXPECT_EQ(add_digits('3', '4').value(), 7);
  const auto failed = add_digits('3', 'x');
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::kInvalid);
  EXPECT_STREQ(failed.error().what, "parse digit");
}

TEST(Error, TextNamesStepCauseAndCode) {
  EXPECT_EQ(to_string(Error(Errc::kIo, "read header", EIO)),
            "read header: Input/output error (io)");
  EXPECT_EQ(to_string(Error(Errc::kTimedOut, "get")), "get (timed_out)");
}

TEST(Error, ErrnoMapsToWhatTheCallerShouldDo) {
  EXPECT_EQ(errc_from_errno(ENOSPC), Errc::kNoSpace);
  EXPECT_EQ(errc_from_errno(EDQUOT), Errc::kNoSpace);
  EXPECT_EQ(errc_from_errno(EROFS), Errc::kReadOnly);
  EXPECT_EQ(errc_from_errno(ENODEV), Errc::kGone);
  EXPECT_EQ(errc_from_errno(EAGAIN), Errc::kBusy);
  EXPECT_EQ(errc_from_errno(EACCES), Errc::kDenied);
  EXPECT_EQ(errc_from_errno(ENOENT), Errc::kNotFound);
  EXPECT_EQ(errc_from_errno(ECANCELED), Errc::kCancelled);
  EXPECT_EQ(errc_from_errno(ETIME), Errc::kTimedOut);
  EXPECT_EQ(errc_from_errno(ENOSYS), Errc::kUnsupported);
  EXPECT_EQ(errc_from_errno(EINVAL), Errc::kInvalid);
  EXPECT_EQ(errc_from_errno(EEXIST), Errc::kExists);
  EXPECT_EQ(errc_from_errno(EBADMSG), Errc::kCorrupt);
  EXPECT_EQ(errc_from_errno(EIO), Errc::kIo);
}

}  // namespace
}  // namespace forebay
