// A list of objects that add and remove themselves, also while it is being visited: callbacks into
// the engine may destroy any of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace queuepair::shm {

template <typename T>
class StableList {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }

  void add(T* item) { items_.push_back(item); }

  void remove(T* item) {
    const auto at = std::find(items_.begin(), items_.end(), item);
    if (at == items_.end()) return;
    if (visits_ == 0) {
      *at = items_.back();
      items_.pop_back();
    } else {
      *at = nullptr;
      holes_ = true;
    }
  }

  template <typename Look>
  void forEach(Look look) const {
    for (const T* item : items_) {
      if (item != nullptr) look(*item);
    }
  }

  // Calls `visit` with each item that is there now and still there at its turn.
  template <typename Visit>
  void visit(Visit visit) {
    ++visits_;
    for (std::size_t i = 0, count = items_.size(); i < count; ++i) {
      if (items_[i] != nullptr) visit(*items_[i]);
    }
    if (--visits_ > 0 || !holes_) return;
    std::erase(items_, nullptr);
    holes_ = false;
  }

 private:
  std::vector<T*> items_;
  std::size_t visits_ = 0;
  bool holes_ = false;
};

}  // namespace queuepair::shm
