#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>

#include "daq/config/rig_config.hpp"
#include "firmware_iface/link/unit_sample.hpp"

namespace daq {

/// Summary of the counts that one encoder reported in a time interval.
struct EncoderCounts {
  double first = 0.0;  ///< at the beginning [counts]
  double last = 0.0;   ///< at the end, mean of the last tenth of a second [counts]
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  std::int64_t step_max = 0;     ///< largest change between two samples, signed
  std::int64_t recent_span = 0;  ///< highest minus lowest in the last half second
  std::uint64_t sample_count = 0;
  std::uint64_t missing_count = 0;  ///< samples without a reading of the encoder

  double total_change() const { return last - first; }
  std::int64_t span() const { return highest - lowest; }
};

/// Records the counts of all encoders of a conversion unit and summarizes them.
class EncoderRecorder {
 public:
  void add(const firmware_iface::UnitSample& sample);

  int encoder_count() const { return encoder_count_; }
  EncoderCounts track(std::size_t encoder) const;

  /// Returns the time from the first to the last sample.
  double duration_s() const;

  /// Returns whether the encoder's count varied by at most kFlickerCounts in the last half second.
  bool is_still(std::size_t encoder) const;

 private:
  struct RecentSample {
    std::int64_t unit_time_us;
    std::uint16_t valid;
    std::array<std::int64_t, ENCODERS_MAX> counts;
  };

  int encoder_count_ = 0;
  std::int64_t first_time_us_ = 0;
  std::deque<RecentSample> recent_;  // of the last half second
  std::array<EncoderCounts, ENCODERS_MAX> tracks_{};
  std::array<bool, ENCODERS_MAX> seen_{};
};

/// Largest variation of an encoder's count at rest. An encoder that rests at the edge between two
/// counts may flicker.
inline constexpr std::int64_t kFlickerCounts = 2;

/// Joint motion that the operator is asked to make by hand.
struct HandMotion {
  double amount = 0.25;  ///< [turns], or [m] of a sliding joint
  const char* words = "a quarter turn";
  double tolerance = 1.3;  ///< largest factor between the made and the requested motion
};

/// Returns the hand motion to request from the operator: the largest one within half of the joint's
/// range, but at most a quarter turn, or 100 mm for a sliding joint.
HandMotion choose_hand_motion(const JointLimits& limits);

/// Returns a hand motion of a whole turn; nullopt if the joint's range does not allow it. An
/// operator can make a whole turn more exactly than a part of a turn.
std::optional<HandMotion> choose_full_turn(const JointLimits& limits);

enum class RestVerdict {
  kStill,
  kMoves,    ///< back and forth
  kDrifts,   ///< steadily in one direction
  kMissing,  ///< no reading at all
};

/// Assesses the counts of an encoder recorded while nobody touched the rig.
RestVerdict assess_rest(const EncoderCounts& track);

enum class HandMotionVerdict {
  kRight,         ///< the joint's own encoder counted as expected
  kFactor,        ///< its own encoder was wrong by a typical factor, such as 4
  kUncertain,     ///< its own encoder was wrong by another factor
  kOtherEncoder,  ///< another encoder counted instead
  kTwoEncoders,   ///< another encoder counted about as much as the joint's own
  kNothing,       ///< no encoder counted
};

struct HandMotionResult {
  HandMotionVerdict verdict = HandMotionVerdict::kNothing;
  std::size_t encoder = 0;  ///< the encoder that counted; the joint's own if none did
  std::size_t other = 0;    ///< kTwoEncoders: index of the second encoder
  double counts = 0.0;      ///< counts of `encoder`, signed
  double expected = 0.0;    ///< counts expected for the motion, magnitude
  double factor = 1.0;      ///< kFactor: counted / expected
};

/// Assesses the counts of all encoders recorded while one joint was moved by hand.
/// @param own       the joint's encoder according to the rig file
/// @param expected  counts of the requested motion, above zero
HandMotionResult assess_hand_motion(std::span<const EncoderCounts> tracks, std::size_t own,
                                    double expected, double tolerance);

/// Returns the largest change of the count between two samples if it is too large for a motion by
/// hand, otherwise 0 [counts].
/// @param counts_per_turn  0 for a linear encoder
std::int64_t find_count_jump(const EncoderCounts& track, double counts_per_turn);

/// Returns the likely modulus of a counter that wrapped around and thus jumped by `jump` counts; 0
/// if no modulus is likely.
std::uint32_t guess_counter_modulus(std::int64_t jump);

struct ZeroResult {
  double offset = 0.0;  ///< zero offset for the rig file, unchanged if confirmed [rad] or [m]
  double present_offset = 0.0;  ///< offset at which the present position reads exactly zero
  bool confirmed = false;       ///< the rig file's offset is right within the accuracy of a hand
  int whole_turns = 0;          ///< between the present position and the rig file's zero
};

/// Assesses a joint that the operator has moved to its zero.
/// @param channel  settings of the joint's channel, with the encoder sign found
ZeroResult assess_zero(double counts, const ChannelConfig& channel);

}  // namespace daq
