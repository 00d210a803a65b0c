#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "daq/commission/encoder_recorder.hpp"
#include "daq/config/rig_config.hpp"

namespace daq {

/// A motion that the operator makes by hand.
struct HandMotion {
  double amount = 0.25;  ///< [turns], or [m] of a sliding joint
  const char* words = "a quarter turn";
  double tolerance = 1.3;  ///< largest factor between the made and the requested motion
};

/// Returns the motion to request from the operator: the largest within half of the joint's range,
/// at most a quarter turn or, for a sliding joint, 100 mm.
HandMotion hand_motion(const JointLimits& limits);

/// Returns a motion of a whole turn, which an operator can make more exactly; nullopt if the
/// joint's range does not allow it.
std::optional<HandMotion> exact_hand_motion(const JointLimits& limits);

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
  kFactor,        ///< its own encoder was wrong by a common factor, such as 4
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

/// Returns a jump between two samples that is too large for a motion by hand; 0 if there is none.
/// @param counts_per_turn  0 for a linear encoder
std::int64_t find_jump(const EncoderCounts& track, double counts_per_turn);

/// Returns the likely modulus of a counter that jumped by `jump` counts; 0 if none is likely.
std::uint32_t modulus_of_jump(std::int64_t jump);

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
