#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace daq {

/// Detects changes of an encoder's counts that no motion of its joint can cause: a single step that
/// stands out from its neighbours, and a speed that reverses at once. Real-time safe.
class CountStepDetector {
 public:
  /// A quantity and the largest value that a joint can reach. NaN exceeds every limit.
  struct Comparison {
    double value = 0.0;
    double limit = 0.0;
    bool is_exceeded() const noexcept { return !(value <= limit); }
  };

  CountStepDetector() = default;
  /// @param acceleration_max  magnitude, without an impact [counts/s²]
  explicit CountStepDetector(double acceleration_max) noexcept
      : acceleration_max_(acceleration_max) {}

  /// Adds a valid reading.
  void add(std::int64_t counts, double time_s) noexcept;

  /// Forgets the changes of speed so far.
  void start_phase() noexcept { changes_ = {}; }

  /// Compares the step of kNeighbours samples ago [counts] with the steps of the kNeighbours
  /// samples before and after it.
  Comparison compare_step() const noexcept;

  /// Compares the last change of the joint's speed [counts/s] with the largest change that a joint
  /// can reach, and with twice the largest earlier change in this phase. The change is zero during
  /// the first kBlocksMin blocks of readings, and unless the joint reversed from motion in
  /// `direction` to motion against it.
  /// @param direction  sign of the counts in which the joint's motor pushes
  /// @param pushed_s   time for which the motor has pushed that way
  Comparison compare_reversal(double direction, double pushed_s) const noexcept;

 private:
  static constexpr std::size_t kNeighbours = 8;
  static constexpr std::size_t kWindowMax = 16;
  static constexpr std::size_t kHistory = 2 * kWindowMax + 1;
  static constexpr std::size_t kBlock = 2 * kWindowMax;  // a change of speed ends within it
  static constexpr std::size_t kBlocksMin = 6;

  struct Reading {
    double counts = 0.0, time_s = 0.0;
  };
  /// Speeds in two adjacent windows before the last reading [counts/s].
  struct Turn {
    double before = 0.0, after = 0.0;
    double duration_s = 0.0;  // of both windows
    double limit = 0.0;       // of the change
    double change() const noexcept { return after - before; }
  };
  /// Largest changes of speed in blocks of readings.
  struct LargestChanges {
    std::size_t readings = 0;
    double block = 0.0, last_block = 0.0, earlier = 0.0;
  };
  void store_change() noexcept;
  /// Returns the changes of counts and time from the previous reading to a reading.
  Reading step(std::size_t ago) const noexcept;
  Turn find_turn() const noexcept;
  const Reading& reading(std::size_t ago) const noexcept {
    return history_[(next_ - 1 - ago) % kHistory];
  }

  double acceleration_max_ = 0.0;
  std::array<Reading, kHistory> history_{};
  std::size_t next_ = 0;
  Turn turn_;
  LargestChanges changes_;
};

}  // namespace daq
