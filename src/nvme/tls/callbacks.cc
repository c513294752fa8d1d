#include "nvme/tls/callbacks.h"

#include <openssl/bio.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "core/check.h"

namespace forebay::nvme::tls {
namespace {

BIO_METHOD* buffer_method(int (*write)(BIO*, const char*, int), int (*read)(BIO*, char*, int),
                          long (*control)(BIO*, int, long, void*)) {
  BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "session buffers");
  FOREBAY_CHECK(method != nullptr);
  BIO_meth_set_write(method, write);
  BIO_meth_set_read(method, read);
  BIO_meth_set_ctrl(method, control);
  return method;
}

}  // namespace

Session& Session::Callbacks::of(const SSL* ssl) {
  return *static_cast<Session*>(SSL_get_app_data(ssl));
}

Session& Session::Callbacks::of(BIO* bio) { return *static_cast<Session*>(BIO_get_data(bio)); }

int Session::Callbacks::read(BIO* bio, char* place, int size) {
  Session& session = of(bio);
  BIO_clear_retry_flags(bio);
  const std::size_t there = session.input_end_ - session.input_begin_;
  const std::size_t taken = std::min(there, static_cast<std::size_t>(std::max(size, 0)));
  if (taken == 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  std::memcpy(place, session.input_.get() + session.input_begin_, taken);
  session.input_begin_ += taken;
  return static_cast<int>(taken);
}

int Session::Callbacks::write(BIO* bio, const char* bytes, int size) {
  Session& session = of(bio);
  BIO_clear_retry_flags(bio);
  const auto count = static_cast<std::size_t>(std::max(size, 0));
  if (count > kCipherOutputBytes + kControlOutputBytes - session.output_end_) return -1;
  std::memcpy(session.output_.get() + session.output_end_, bytes, count);
  session.output_end_ += count;
  return size;
}

long Session::Callbacks::control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO* Session::Callbacks::make_bio(Session& session) {
  static BIO_METHOD* const method = buffer_method(write, read, control);
  BIO* bio = BIO_new(method);
  if (bio == nullptr) return nullptr;
  BIO_set_data(bio, &session);
  BIO_set_init(bio, 1);
  return bio;
}

SSL_SESSION* Session::Callbacks::make_session(SSL* ssl, const Psk& psk) {
  const unsigned char suite[2] = {0x13, static_cast<unsigned char>(psk.hash)};
  const SSL_CIPHER* cipher = SSL_CIPHER_find(ssl, suite);
  SSL_SESSION* session = SSL_SESSION_new();
  FOREBAY_CHECK(session != nullptr && cipher != nullptr);
  const auto key = psk.key.bytes();
  FOREBAY_CHECK(SSL_SESSION_set1_master_key(
                    session, reinterpret_cast<const unsigned char*>(key.data()), key.size()) == 1 &&
                SSL_SESSION_set_cipher(session, cipher) == 1 &&
                SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1);
  return session;
}

// Before a cipher suite is chosen: the key's hash must be the suite's.
int Session::Callbacks::client_hello(SSL* ssl, int* alert, void* /*context*/) {
  Session& session = of(ssl);
  const unsigned char* extension = nullptr;
  std::size_t size = 0;
  *alert = SSL_AD_HANDSHAKE_FAILURE;
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_psk, &extension, &size) != 1) {
    session.detail_ = "it offers no pre-shared key";
    return SSL_CLIENT_HELLO_ERROR;
  }
  if (!session.take_identities(std::as_bytes(std::span(extension, size)))) {
    *alert = SSL_AD_UNKNOWN_PSK_IDENTITY;
    return SSL_CLIENT_HELLO_ERROR;
  }
  const std::string suite(cipher_suite(session.psk().hash));
  return SSL_set_ciphersuites(ssl, suite.c_str()) == 1 ? SSL_CLIENT_HELLO_SUCCESS
                                                       : SSL_CLIENT_HELLO_ERROR;
}

int Session::Callbacks::find_session(SSL* ssl, const unsigned char* identity, std::size_t size,
                                     SSL_SESSION** session) {
  const Session& self = of(ssl);
  *session = nullptr;
  const std::string_view name(reinterpret_cast<const char*>(identity), size);
  if (self.candidate_ < self.candidates_.size() && self.psk().identity == name) {
    *session = make_session(ssl, self.psk());
  }
  return 1;
}

int Session::Callbacks::use_session(SSL* ssl, const EVP_MD* /*digest*/,
                                    const unsigned char** identity, std::size_t* size,
                                    SSL_SESSION** session) {
  const Psk& psk = of(ssl).psk();
  *session = make_session(ssl, psk);
  *identity = reinterpret_cast<const unsigned char*>(psk.identity.data());
  *size = psk.identity.size();
  return 1;
}

namespace {

SSL_CTX* make_context(bool server) {
  SSL_CTX* context = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
  FOREBAY_CHECK(context != nullptr);
  FOREBAY_CHECK(
      SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
      SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
      SSL_CTX_set_ciphersuites(context, "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256") == 1);
  // Linux's host takes a ticket for an error; and there is nothing to resume.
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
  if (server) {
    SSL_CTX_set_client_hello_cb(context, Session::Callbacks::client_hello, nullptr);
  } else {
    // Whoever answers with a certificate instead of the key is a stranger.
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  }
  return context;
}

}  // namespace

SSL_CTX* shared_context(bool server) {
  static SSL_CTX* const hosts = make_context(false);
  static SSL_CTX* const controllers = make_context(true);
  return server ? controllers : hosts;
}

}  // namespace forebay::nvme::tls
