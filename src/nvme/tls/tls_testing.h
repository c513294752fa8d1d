// For tests: keys, and two sessions whose bytes go from one to the other in pieces of any size.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "nvme/tls/host_keys.h"
#include "nvme/tls/session.h"

namespace forebay::nvme::tls {

// Lines of tests/interop/nvme_tls_psk.py.
inline constexpr std::string_view kPlainKey32 =
    "NVMeTLSkey-1:00:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:";
inline constexpr std::string_view kBoundKey32 =
    "NVMeTLSkey-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:";
inline constexpr std::string_view kPlainKey48 =
    "NVMeTLSkey-1:00:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vcSEgBQ==:";
inline constexpr std::string_view kBoundKey48 =
    "NVMeTLSkey-1:02:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vcSEgBQ==:";
inline const PskParties kPskParties{.host_nqn = "nqn.2026-12.org.forebay:host",
                                    .subsystem_nqn = "nqn.2026-12.org.forebay:disk"};

inline TlsKey tls_key(std::string_view line) {
  auto key = TlsKey::parse(line);
  FOREBAY_CHECK(key.has_value());
  return *key;
}

inline Psk test_psk(std::string_view line = kBoundKey32,
                    IdentityVersion version = IdentityVersion::kDigest,
                    Derivation derivation = Derivation::kSpec) {
  return derive_psk(tls_key(line), kPskParties, version, derivation).value();
}

class SessionPair {
 public:
  // The controller knows `key`; pieces of `step` bytes at most go over at a time.
  explicit SessionPair(Psk host_psk, std::string_view key = kBoundKey32, std::size_t step = 1 << 20)
      : host(Session::connect(std::move(host_psk))),
        controller(
            Session::accept([keys = HostKeys{{kPskParties.host_nqn, tls_key(key)}}](
                                std::string_view identity) { return find_psks(keys, identity); })),
        step_(step) {}

  void set_step(std::size_t bytes) { step_ = bytes; }
  // One piece of `from`'s output; false: there is none.
  bool carry(Session& from, Session& to) {
    const auto output = from.output();
    const auto place = to.receive_place();
    const std::size_t size = std::min({step_, output.size(), place.size()});
    if (size == 0) return false;
    std::memcpy(place.data(), output.data(), size);
    from.sent(size);
    to.received(size);
    return true;
  }
  // Until neither has anything to say.
  void settle() {
    while (carry(*host, *controller) || carry(*controller, *host)) {
    }
  }
  [[nodiscard]] bool ready() const {
    return host->state() == SessionState::kReady && controller->state() == SessionState::kReady;
  }

  // What arrives at `to` of all these pieces that `from` sends.
  std::vector<std::byte> send(Session& from, Session& to, std::span<const iovec> pieces) {
    std::vector<iovec> left(pieces.begin(), pieces.end());
    std::vector<std::byte> arrived;
    std::vector<std::byte> place(10'000);
    const iovec to_place{place.data(), place.size()};
    bool moved = true;
    while (moved) {
      moved = false;
      std::size_t taken = from.write(left);
      while (taken != 0) {
        moved = true;
        const std::size_t here = std::min(taken, left.front().iov_len);
        left.front() = {static_cast<std::byte*>(left.front().iov_base) + here,
                        left.front().iov_len - here};
        taken -= here;
        if (left.front().iov_len == 0) left.erase(left.begin());
      }
      moved = carry(from, to) || moved;
      moved = carry(to, from) || moved;
      while (const std::size_t size = to.read({&to_place, 1})) {
        arrived.insert(arrived.end(), place.begin(),
                       place.begin() + static_cast<std::ptrdiff_t>(size));
      }
      (void)from.read({&to_place, 1});  // a key update of the peer
    }
    return arrived;
  }

  std::unique_ptr<Session> host;
  std::unique_ptr<Session> controller;

 private:
  std::size_t step_;
};

}  // namespace forebay::nvme::tls
