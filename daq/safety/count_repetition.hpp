#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace daq {

/// Detects a driven joint's counts that repeat a motion to and fro exactly, although the motor's
/// commands do not repeat or are constant. The counts of a replayed recording repeat exactly. The
/// counts of a real joint do not: the instants at which its encoder counts scatter, and its motion
/// decays if the commands are constant. Motions in one direction only may repeat exactly, such as
/// two pushes at constant speed, and are not detected. Only the constructor allocates.
class CountRepetitionDetector {
 public:
  /// By chance, the counts of a joint may repeat a path exactly if the path is longer than its
  /// extent by at most this number. In simulations, this excess is one count for most rigs, but up
  /// to this number for a coarse encoder on a joint that swings for more than 300 periods.
  static constexpr std::int64_t kReversedMax = 32;

  /// @param stall_command  command that surely moves the joint; 0: nothing is detected
  explicit CountRepetitionDetector(double stall_command);

  /// Adds a reading.
  /// @param command   of the joint's motor, in effect before the reading
  /// @param steady_s  time since any motor's command changed
  /// @param is_open_loop  the commands depend on time alone, so that periodic ones may cause a
  ///                      periodic motion. Under feedback no motion repeats exactly.
  /// @return number of counts by which a repeated path is longer than its extent, if above
  ///         kReversedMax and no motion of the joint explains it, else 0
  std::int64_t add(std::int64_t counts, double command, double time_s, double steady_s,
                   bool is_open_loop) noexcept;

 private:
  static constexpr std::size_t kHistory = 8192;  // eight seconds at 1 kHz
  static constexpr std::size_t kSlots = 8192;
  static constexpr std::size_t kWindow = 32;  // samples by which a repetition is found

  struct Reading {
    std::int64_t counts = 0;
    double command = 0.0, time_s = 0.0;
  };
  /// Counts that the joint passed.
  struct Path {
    std::int64_t length = 0;  // sum of all steps
    std::int64_t last = 0, lowest = 0, highest = 0;

    Path() = default;
    explicit Path(std::int64_t counts) : last(counts), lowest(counts), highest(counts) {}
    void add(std::int64_t counts) noexcept;
    /// Returns by how much the path is longer than its extent, if by more than kReversedMax, else
    /// 0.
    std::int64_t reversed() const noexcept;
  };
  struct Repetition {
    std::size_t lag = 0;  // samples; 0: nothing repeats
    Path path;
    Path steady_path;      // since the commands are the same constants as in the original
    double impulse = 0.0;  // ∫ of the difference of the commands
    double largest_impulse = 0.0;
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
  double steady_since_s_ = 0.0;
  Repetition repetition_;
};

}  // namespace daq
