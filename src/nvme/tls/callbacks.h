// What OpenSSL asks of a session: keys by identity, and bytes from and to its buffers.
#pragma once

#include <openssl/ssl.h>

#include "nvme/tls/session.h"

namespace forebay::nvme::tls {

// What all sessions of one role share. Made once, never freed.
[[nodiscard]] SSL_CTX* shared_context(bool server);

struct Session::Callbacks {
  static int read(BIO* bio, char* place, int size);
  static int write(BIO* bio, const char* bytes, int size);
  static long control(BIO* bio, int command, long number, void* pointer);
  static int client_hello(SSL* ssl, int* alert, void* context);
  static int find_session(SSL* ssl, const unsigned char* identity, std::size_t size,
                          SSL_SESSION** session);
  static int use_session(SSL* ssl, const EVP_MD* digest, const unsigned char** identity,
                         std::size_t* size, SSL_SESSION** session);
  // A BIO over the session's buffers; null: no memory.
  [[nodiscard]] static BIO* make_bio(Session& session);

 private:
  [[nodiscard]] static Session& of(const SSL* ssl);
  [[nodiscard]] static Session& of(BIO* bio);
  [[nodiscard]] static SSL_SESSION* make_session(SSL* ssl, const Psk& psk);
};

}  // namespace forebay::nvme::tls
