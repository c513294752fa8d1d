// An end that speaks TLS 1.3 well and does not hold the key: a server that answers with a
// certificate, and a client that offers none.
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <memory>

#include "nvme/tls/tls_testing.h"

namespace forebay::nvme::tls {
namespace {

template <auto kFree>
struct Freed {
  template <class T>
  void operator()(T* held) const {
    kFree(held);
  }
};

// OpenSSL itself, over memory, with none of our callbacks.
class Stranger {
 public:
  explicit Stranger(bool server)
      : context_(SSL_CTX_new(server ? TLS_server_method() : TLS_client_method())) {
    if (server) take_certificate();
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    server ? SSL_set_accept_state(ssl_.get()) : SSL_set_connect_state(ssl_.get());
  }
  // Until neither has anything to say.
  void talk_with(Session& session) {
    bool moved = true;
    while (moved) {
      (void)SSL_do_handshake(ssl_.get());
      const auto output = session.output();
      moved = !output.empty();
      if (moved)
        BIO_write(SSL_get_rbio(ssl_.get()), output.data(), static_cast<int>(output.size()));
      session.sent(output.size());
      (void)SSL_do_handshake(ssl_.get());
      const auto place = session.receive_place();
      const int size =
          BIO_read(SSL_get_wbio(ssl_.get()), place.data(), static_cast<int>(place.size()));
      if (size <= 0) continue;
      session.received(static_cast<std::size_t>(size));
      moved = true;
    }
  }
  [[nodiscard]] bool done() const { return SSL_is_init_finished(ssl_.get()) == 1; }

 private:
  void take_certificate() {
    const std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>> key(EVP_EC_gen("P-256"));
    const std::unique_ptr<X509, Freed<X509_free>> certificate(X509_new());
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    ASSERT_GT(X509_sign(certificate.get(), key.get(), EVP_sha256()), 0);
    ASSERT_EQ(SSL_CTX_use_certificate(context_.get(), certificate.get()), 1);
    ASSERT_EQ(SSL_CTX_use_PrivateKey(context_.get(), key.get()), 1);
  }

  std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>> context_;
  std::unique_ptr<SSL, Freed<SSL_free>> ssl_;
};

// Whoever sits at the target's address needs no key to have a certificate.
TEST(TlsStranger, AServerWithACertificateInPlaceOfTheKeyIsRefused) {
  const auto session = Session::connect(test_psk());
  Stranger server(true);
  server.talk_with(*session);
  EXPECT_EQ(session->state(), SessionState::kFailed);
  EXPECT_EQ(session->error().code, Errc::kDenied);
  EXPECT_NE(std::string_view(session->error().what).find("does not prove"), std::string_view::npos)
      << session->error().what << ": " << session->detail();
  EXPECT_FALSE(server.done());
}

TEST(TlsStranger, AClientWithoutAKeyIsRefused) {
  const auto session = Session::accept([](std::string_view) { return std::vector<Psk>{}; });
  Stranger client(false);
  client.talk_with(*session);
  EXPECT_EQ(session->state(), SessionState::kFailed);
  EXPECT_EQ(session->detail(), "it offers no pre-shared key");
  EXPECT_FALSE(client.done());
}

}  // namespace
}  // namespace forebay::nvme::tls
