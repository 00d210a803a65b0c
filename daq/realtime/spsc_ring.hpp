#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <type_traits>

namespace daq {

/// Bounded queue from one producer thread to one consumer thread. Neither side waits, locks or
/// allocates. A push into a full ring fails, and the caller counts the dropped element.
///
/// Holds up to Capacity elements; Capacity is a power of two.
template <typename T, std::size_t Capacity>
class SpscRing {
  static_assert(std::has_single_bit(Capacity));
  static_assert(std::is_trivially_copyable_v<T>, "a push must not allocate or throw");

 public:
  static constexpr std::size_t kCapacity = Capacity;

  /// Appends a value; for the producer thread only. Returns false, without any change, if the ring
  /// is full.
  bool try_push(const T& value) noexcept {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) == Capacity) return false;
    slots_[tail % Capacity] = value;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  /// Removes the oldest value; for the consumer thread only. Returns false, with `value` unchanged,
  /// if the ring is empty.
  bool try_pop(T& value) noexcept {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return false;
    value = slots_[head % Capacity];
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

 private:
  // Producer and consumer use separate cache lines, as otherwise each push would stall the other.
  static constexpr std::size_t kCacheLineBytes = 64;
  alignas(kCacheLineBytes) std::atomic<std::size_t> head_{0};
  alignas(kCacheLineBytes) std::atomic<std::size_t> tail_{0};
  alignas(kCacheLineBytes) std::array<T, Capacity> slots_{};
};

}  // namespace daq
