#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace daq {

/// Detects a driven joint's counts that repeat earlier ones exactly, although the motor's commands
/// do not repeat or nothing but friction acts on a joint that moves to and fro. A replayed
/// recording does so, a joint does not: its counts scatter, and with constant commands its motion
/// decays. Only the constructor allocates.
class CountRepetitionDetector {
 public:
  /// Number of changes of the counts that a joint does not repeat exactly.
  static constexpr int kChangesMax = 200;

  /// @param stall_command  command that surely moves the joint; 0: nothing is detected
  explicit CountRepetitionDetector(double stall_command);

  /// Adds a reading.
  /// @param command   of the joint's motor, in effect before the reading
  /// @param steady_s  time since any motor's command changed
  /// @return number of repeated changes if it is above kChangesMax and no motion of the joint
  ///         explains them, else 0
  int add(std::int64_t counts, double command, double time_s, double steady_s) noexcept;

 private:
  static constexpr std::size_t kHistory = 8192;  // eight seconds at 1 kHz
  static constexpr std::size_t kSlots = 8192;
  static constexpr std::size_t kWindow = 32;  // samples by which a repetition is found

  struct Reading {
    std::int64_t counts = 0;
    double command = 0.0, time_s = 0.0;
  };
  struct Repetition {
    std::size_t lag = 0;  // samples; 0: nothing repeats
    int changes = 0;
    std::int64_t lowest = 0, highest = 0;
    double impulse = 0.0;  // ∫ of the difference of the commands
    double largest_impulse = 0.0;
    double since_s = 0.0;  // when the original began
  };

  const Reading& reading(std::size_t number) const noexcept { return history_[number % kHistory]; }
  bool matches(std::size_t number) const noexcept;
  void find_repetition() noexcept;
  void extend_repetition(std::size_t number) noexcept;

  double stall_command_;
  std::vector<Reading> history_;
  std::vector<std::size_t> last_with_hash_;
  std::size_t count_ = 0;   // of readings
  std::uint64_t hash_ = 0;  // of the last kWindow counts
  Repetition repetition_;
};

}  // namespace daq
