#include "nvme/tls/psk_file.h"

#include "nvme/auth/key_file.h"

namespace forebay::nvme::tls {

Result<TlsKey> read_tls_key_file(const std::string& path) {
  FOREBAY_TRY(text, auth::read_key_file(path));
  return TlsKey::parse(auth::text_of(text));
}

std::string_view tls_key_hint(const Error& error) {
  if (error.code == Errc::kNotFound) return "make one: forebay key generate --tls --output FILE";
  const std::string_view hint = auth::key_file_hint(error);
  return !hint.empty() ? hint
                       : "it holds one line NVMeTLSkey-1:hh:BASE64:, as `forebay key generate "
                         "--tls` and `nvme gen-tls-key` write it";
}

}  // namespace forebay::nvme::tls
