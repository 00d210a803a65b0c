#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "daq/commission/encoder_watch.hpp"
#include "daq/config/rig_config.hpp"

namespace daq {

/// A motion that an operator is asked to make by hand.
struct HandMotion {
  double amount = 0.25;  ///< [turns], or [m] of a joint that slides
  const char* words = "a quarter turn";
  double tolerance = 1.3;  ///< factor within which a hand makes it
};

/// The largest motion that half of the joint's range takes: at most a quarter turn, or 100 mm.
HandMotion hand_motion(const JointLimits& limits);

/// A whole turn, which a hand makes more exactly, where the joint's range takes it.
std::optional<HandMotion> exact_hand_motion(const JointLimits& limits);

enum class RestVerdict {
  kStill,
  kMoves,    ///< to and fro
  kDrifts,   ///< steadily one way
  kMissing,  ///< was never read
};

/// Judges an encoder while nobody touches the rig.
RestVerdict judge_rest(const EncoderTrack& track);

enum class TurnVerdict {
  kRight,         ///< the joint's own encoder counted as expected
  kFactor,        ///< it counted a usual factor more or less
  kUncertain,     ///< it counted, by no usual factor
  kOtherEncoder,  ///< another encoder counted instead
  kTwoEncoders,   ///< another one counted about as much
  kNothing,       ///< no encoder counted
};

struct TurnFinding {
  TurnVerdict verdict = TurnVerdict::kNothing;
  std::size_t encoder = 0;  ///< that counted; the joint's own where none did
  std::size_t other = 0;    ///< kTwoEncoders: the other one
  double counts = 0.0;      ///< of that encoder, signed
  double expected = 0.0;    ///< magnitude
  double factor = 1.0;      ///< kFactor: counted by expected
};

/// Judges what the encoders counted while one joint was moved by hand.
/// @param own       the joint's encoder, by the rig file
/// @param expected  counts of the motion asked for, above zero
TurnFinding judge_turn(std::span<const EncoderTrack> tracks, std::size_t own, double expected,
                       double tolerance);

/// Size of a jump between two samples that no hand can make, 0 without one.
/// @param counts_per_turn  of an encoder that turns; 0: of one that slides
std::int64_t find_jump(const EncoderTrack& track, double counts_per_turn);

/// The modulus of a counter that such a jump hints at; 0: none.
std::uint32_t modulus_of_jump(std::int64_t jump);

struct ZeroFinding {
  double offset = 0.0;          ///< for the rig file: its own where that is confirmed [rad] or [m]
  double present_offset = 0.0;  ///< makes the joint's present position exactly zero
  bool confirmed = false;       ///< the rig file's offset, to the accuracy of a hand
  int whole_turns = 0;          ///< between the two
};

/// Judges a joint that the operator has brought to its zero.
/// @param channel  of the joint, with its sign as found
ZeroFinding judge_zero(double counts, const ChannelConfig& channel);

}  // namespace daq
