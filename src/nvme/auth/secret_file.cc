#include "nvme/auth/secret_file.h"

#include "nvme/auth/key_file.h"

namespace forebay::nvme::auth {

Result<Secret> read_secret_file(const std::string& path) {
  FOREBAY_TRY(text, read_key_file(path));
  return Secret::parse(text_of(text));
}

std::string_view secret_hint(const Error& error) {
  const std::string_view hint = key_file_hint(error);
  return !hint.empty() ? hint
                       : "it holds one line DHHC-1:hh:BASE64:, as `forebay key generate` and `nvme "
                         "gen-dhchap-key` write it";
}

}  // namespace forebay::nvme::auth
