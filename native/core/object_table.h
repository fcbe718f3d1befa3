// Slots with generations. A handle names one object for ever: after its removal the slot's next
// object has another generation, so a stale handle finds nothing.
//
// insert() and remove() lock and may be called from any thread; get() takes no lock. Who calls
// get() holds the progress token, and objects are destroyed only under the token, so a pointer from
// get() is good until the token is released.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace queuepair {

struct Handle {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  // 0 names nothing
};

template <typename T>
class ObjectTable {
 public:
  static constexpr std::uint32_t kChunk = 256;    // entries; a table of a few objects stays small
  static constexpr std::uint32_t kChunks = 1024;  // 262,144 objects at most
  ObjectTable() = default;
  ~ObjectTable() {
    for (auto& chunk : chunks_) delete chunk.load(std::memory_order_relaxed);
  }
  ObjectTable(const ObjectTable&) = delete;
  ObjectTable& operator=(const ObjectTable&) = delete;

  // {0, 0} when the table is full.
  Handle insert(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    const std::uint32_t slot = free_.empty() ? size_ : free_.back();
    Entry* entry = entryFor(slot);
    if (entry == nullptr) return {};
    if (free_.empty()) {
      ++size_;
    } else {
      free_.pop_back();
    }
    const std::uint32_t generation = entry->last + 1 == 0 ? 1 : entry->last + 1;
    entry->last = generation;
    // An object that keeps its own name learns it before anyone can find it.
    if constexpr (requires { object->slot = slot, object->generation = generation; }) {
      object->slot = slot;
      object->generation = generation;
    }
    entry->object.store(object.release(), std::memory_order_relaxed);
    entry->generation.store(generation, std::memory_order_release);
    return {slot, generation};
  }

  [[nodiscard]] T* get(Handle handle) const noexcept {
    if (handle.generation == 0 || handle.slot >= kChunk * kChunks) return nullptr;
    const Chunk* chunk = chunks_[handle.slot / kChunk].load(std::memory_order_acquire);
    if (chunk == nullptr) return nullptr;
    const Entry& entry = chunk->entries[handle.slot % kChunk];
    if (entry.generation.load(std::memory_order_acquire) != handle.generation) return nullptr;
    return entry.object.load(std::memory_order_relaxed);
  }

  std::unique_ptr<T> remove(Handle handle) {
    const std::lock_guard lock(mutex_);
    if (get(handle) == nullptr) return nullptr;
    Entry& entry = *entryFor(handle.slot);
    entry.generation.store(0, std::memory_order_release);
    free_.push_back(handle.slot);
    return std::unique_ptr<T>(entry.object.exchange(nullptr, std::memory_order_relaxed));
  }

  // Under the token.
  template <typename Visit>
  void forEach(Visit visit) {
    for (auto& slot : chunks_) {
      Chunk* chunk = slot.load(std::memory_order_acquire);
      if (chunk == nullptr) return;
      for (Entry& entry : chunk->entries) {
        if (entry.generation.load(std::memory_order_acquire) == 0) continue;
        visit(*entry.object.load(std::memory_order_relaxed));
      }
    }
  }

 private:
  struct Entry {
    std::atomic<std::uint32_t> generation{0};
    std::uint32_t last = 0;
    std::atomic<T*> object{nullptr};
  };
  struct Chunk {
    std::array<Entry, kChunk> entries{};
    ~Chunk() {
      for (Entry& entry : entries) delete entry.object.load(std::memory_order_relaxed);
    }
  };
  Entry* entryFor(std::uint32_t slot) {
    if (slot >= kChunk * kChunks) return nullptr;
    std::atomic<Chunk*>& place = chunks_[slot / kChunk];
    Chunk* chunk = place.load(std::memory_order_relaxed);
    if (chunk == nullptr) {
      chunk = new Chunk();
      place.store(chunk, std::memory_order_release);
    }
    return &chunk->entries[slot % kChunk];
  }

  std::mutex mutex_;
  std::array<std::atomic<Chunk*>, kChunks> chunks_{};
  std::vector<std::uint32_t> free_;
  std::uint32_t size_ = 0;
};

}  // namespace queuepair
