// A FIFO of caller-owned nodes linked through a member pointer: no allocation, O(1) at both ends.
//
//   struct Op { Op* next = nullptr; };
//   IntrusiveQueue<Op, &Op::next> queue;
//
// A node may stand in one queue at a time. Threads: one owner.
#pragma once

#include <cstddef>

#include "core/check.h"

namespace forebay {

template <class T, T* T::* kNext>
class IntrusiveQueue {
 public:
  [[nodiscard]] bool empty() const { return head_ == nullptr; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T* front() const { return head_; }

  void push_back(T& node) {
    node.*kNext = nullptr;
    (tail_ == nullptr ? head_ : tail_->*kNext) = &node;
    tail_ = &node;
    ++size_;
  }
  void push_front(T& node) {
    node.*kNext = head_;
    head_ = &node;
    if (tail_ == nullptr) tail_ = &node;
    ++size_;
  }
  T& pop_front() {
    FOREBAY_CHECK(head_ != nullptr);
    T& node = *head_;
    head_ = node.*kNext;
    if (head_ == nullptr) tail_ = nullptr;
    node.*kNext = nullptr;
    --size_;
    return node;
  }
  // O(n). False when the node is not here.
  bool remove(T& node) {
    T* previous = nullptr;
    for (T* at = head_; at != nullptr; previous = at, at = at->*kNext) {
      if (at != &node) continue;
      (previous == nullptr ? head_ : previous->*kNext) = node.*kNext;
      if (tail_ == &node) tail_ = previous;
      node.*kNext = nullptr;
      --size_;
      return true;
    }
    return false;
  }

 private:
  T* head_ = nullptr;
  T* tail_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace forebay
