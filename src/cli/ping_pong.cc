#include "cli/ping_pong.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>
#include <vector>

#include "core/clock.h"

namespace forebay::cli {
namespace {

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&&) = delete;

  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] bool send(const std::vector<char>& bytes) const {
    return ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  [[nodiscard]] bool receive(std::vector<char>& bytes) const {
    return ::recv(descriptor_, bytes.data(), bytes.size(), MSG_WAITALL) ==
           static_cast<ssize_t>(bytes.size());
  }
  void send_at_once() const {
    const int on = 1;
    (void)::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

 private:
  int descriptor_;
};

struct Ends {
  Socket host;
  Socket target;
};

Result<Ends> connected_ends() {
  const auto refused = [] { return fail(Errc::kIo, "loopback sockets", errno); };
  const Socket listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (::bind(listener.get(), generic, size) != 0 || ::listen(listener.get(), 1) != 0 ||
      ::getsockname(listener.get(), generic, &size) != 0) {
    return refused();
  }
  Socket host(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(host.get(), generic, size) != 0) return refused();
  Socket target(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (target.get() < 0) return refused();
  host.send_at_once();
  target.send_at_once();
  return Ends{std::move(host), std::move(target)};
}

}  // namespace

Result<double> ping_pong_us(const PingPong& wanted) {
  FOREBAY_TRY(ends, connected_ends());
  std::vector<char> request(wanted.request_bytes);
  std::vector<char> answer(wanted.answer_bytes);
  std::thread answering([&target = ends.target, wanted] {
    std::vector<char> asked(wanted.request_bytes);
    const std::vector<char> said(wanted.answer_bytes);
    while (target.receive(asked) && target.send(said)) {
    }
  });
  const SystemClock clock;
  const Nanos start = clock.now();
  bool good = true;
  for (std::size_t i = 0; good && i < wanted.count; ++i) {
    good = ends.host.send(request) && ends.host.receive(answer);
  }
  const Nanos took = clock.now() - start;
  ::shutdown(ends.host.get(), SHUT_RDWR);
  answering.join();
  if (!good) return fail(Errc::kIo, "a loopback connection broke");
  return std::chrono::duration<double, std::micro>(took).count() /
         static_cast<double>(wanted.count);
}

}  // namespace forebay::cli
