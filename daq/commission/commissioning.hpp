#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daq/commission/encoder_watch.hpp"
#include "daq/commission/hand_findings.hpp"
#include "daq/commission/motor_findings.hpp"
#include "daq/config/rig_config.hpp"
#include "firmware_iface/link/unit_sample.hpp"

namespace daq {

/// One sentence of a commissioning.
struct Finding {
  enum class Kind {
    kGood,
    kNote,
    kChange,  ///< the rig file's unit section is to be changed, which commissioning does
    kFault,   ///< something at the rig or in another section must be corrected first
  };
  Kind kind = Kind::kGood;
  std::string text;
};
using Findings = std::vector<Finding>;

/// What a commissioning found about one joint with an encoder.
struct CheckedJoint {
  std::string name;
  std::size_t encoder = 0;     ///< of the unit, that counts when it moves
  double counted_share = 0.0;  ///< of the counts expected in a motion by hand, signed
  bool inverted = false;
  double offset = 0.0;          ///< for the rig file [rad] or [m]
  double present_offset = 0.0;  ///< so that the zero it was brought to is exactly zero
  bool has_zero = false;
  bool rests = false;      ///< its encoder keeps still while nobody touches it
  bool is_turned = false;  ///< its encoder and sign are known
  bool is_scaled = false;  ///< counts_per_turn is confirmed
  bool is_reliable() const { return rests && is_turned && is_scaled; }
};

/// What a commissioning found about the motor of a joint.
struct CheckedMotor {
  std::string joint;
  std::string command_unit;
  double command_max = 0.0;
  std::size_t index = 0;    ///< in the unit's order
  std::size_t channel = 0;  ///< of the joint
  MotorFigures figures;
  std::optional<StallLimits> stall;  ///< for the rig file, where its own do not suit
  bool is_good = false;              ///< moves its joint both ways, as the rig file says
};

/// What is concluded about a rig from recorded counts and pulses. Does no input or output. A step
/// that is repeated replaces what it found before.
class Commissioning {
 public:
  /// @param names  joints to check; none: all with an encoder
  /// @throws proto::InputError for a name that is no channel of the rig file
  Commissioning(RigConfig rig, const firmware_iface::UnitFacts& facts,
                const std::vector<std::string>& names);

  /// The rig file with its channels in the order found.
  const RigConfig& rig() const { return rig_; }
  /// The same with the signs found and every joint's zero where the operator has shown it.
  RigConfig found_rig() const;
  const std::vector<CheckedJoint>& joints() const { return joints_; }
  /// Motors of checked joints.
  const std::vector<CheckedMotor>& motors() const { return motors_; }
  /// Limits of a checked joint.
  const JointLimits& limits_of(std::size_t joint) const;

  /// True when all joints with an encoder are checked.
  bool is_whole() const { return joints_.size() == rig_.channel.size(); }

  /// Nobody touched the rig.
  Findings add_rest(const EncoderWatch& watch);

  /// A joint was moved by hand.
  Findings add_turn(std::size_t joint, const HandMotion& motion, const EncoderWatch& watch);

  /// All joints were moved: which encoder belongs to which. Reorders the channels.
  Findings conclude_turns();

  /// A joint was brought to its zero.
  Findings add_zero(std::size_t joint, const EncoderWatch& watch);

  /// Why motors are not to be tried; empty when they may be.
  std::string reason_against_motors() const;

  /// Pulses at +level and −level.
  /// @param is_last  the level is not raised further
  /// @param others   joints that moved beside the motor's own
  Findings add_pulses(std::size_t motor, double level, bool is_last, const NudgeFinding& positive,
                      const NudgeFinding& negative, const std::string& others);

  /// The joint moved against its motor, so that the monitor ended the pulse.
  Findings add_reversed(std::size_t motor);

  Findings add_ramps(std::size_t motor, const NudgeFinding& rise, const NudgeFinding& fall,
                     std::optional<int> delay_ticks);

 private:
  const ChannelConfig& channel_of(const CheckedJoint& joint) const;
  Findings judge_stall(CheckedMotor& motor) const;

  RigConfig rig_;
  firmware_iface::UnitFacts facts_;
  std::vector<CheckedJoint> joints_;
  std::vector<CheckedMotor> motors_;
  double level_ = 0.0;  // of the last pulses
  NudgeFinding positive_, negative_;
};

/// A name as sentences show it.
std::string in_quotes(const std::string& name);

std::size_t fault_count(const Findings& findings);

}  // namespace daq
