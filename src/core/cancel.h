// Cancellation: the caller keeps a CancelSource, the work holds a pointer and listens.
//
// cancel() runs every listener once, in the order they came, on the calling core. A listener that
// is destroyed first is not run. Threads: source and listeners belong to one core.
#pragma once

#include <functional>
#include <list>
#include <utility>

namespace forebay {

class CancelSource {
 public:
  CancelSource() = default;
  CancelSource(const CancelSource&) = delete;
  CancelSource& operator=(const CancelSource&) = delete;

  [[nodiscard]] bool cancelled() const { return cancelled_; }

  void cancel() {
    cancelled_ = true;
    while (!listeners_.empty()) {
      auto listener = std::move(listeners_.front());
      listeners_.front() = nullptr;
      running_.splice(running_.end(), listeners_, listeners_.begin());
      if (listener) listener();
    }
  }

  // Listens for as long as it lives. On a source that is already cancelled it never fires: ask
  // first.
  class Listener {
   public:
    Listener() = default;
    Listener(CancelSource* source, std::function<void()> on_cancel) : source_(source) {
      if (source_ != nullptr && !source_->cancelled_) {
        at_ = source_->listeners_.insert(source_->listeners_.end(), std::move(on_cancel));
      } else {
        source_ = nullptr;
      }
    }
    ~Listener() {
      if (source_ == nullptr) return;
      // cancel() empties a node before it moves it: an empty one has fired.
      (*at_ == nullptr ? source_->running_ : source_->listeners_).erase(at_);
    }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

   private:
    CancelSource* source_ = nullptr;
    std::list<std::function<void()>>::iterator at_;
  };

 private:
  bool cancelled_ = false;
  std::list<std::function<void()>> listeners_;
  std::list<std::function<void()>> running_;  // already fired, waiting for their Listener to go
};

}  // namespace forebay
