#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daq/commission/hand_motion.hpp"
#include "daq/commission/motor_test.hpp"
#include "daq/config/rig_config.hpp"
#include "firmware_iface/link/unit_sample.hpp"

namespace daq {

/// One result of a commissioning: its kind, and a sentence for the operator.
struct Finding {
  enum class FindingKind {
    kGood,
    kNote,
    kChange,  ///< commissioning must change the unit section of the rig file
    kFault,   ///< the rig or another section of its file must be corrected first
  };
  FindingKind kind = FindingKind::kGood;
  std::string text;
};
using Findings = std::vector<Finding>;

/// Commissioning results for one joint with an encoder.
struct CheckedJoint {
  std::string name;
  std::size_t encoder = 0;   ///< index of the unit's encoder that counts when the joint moves
  double count_ratio = 0.0;  ///< counts / expected counts of a motion by hand, signed
  bool inverted = false;
  double offset = 0.0;          ///< zero offset to write into the rig file [rad] or [m]
  double present_offset = 0.0;  ///< offset at which the operator's zero reads exactly zero
  bool has_zero = false;
  bool is_still_at_rest = false;    ///< the encoder does not count while nobody touches the joint
  bool is_encoder_known = false;    ///< encoder and sign are known
  bool is_scale_confirmed = false;  ///< counts_per_turn is confirmed
  bool is_reliable() const { return is_still_at_rest && is_encoder_known && is_scale_confirmed; }
};

/// Commissioning results for the motor of a joint.
struct CheckedMotor {
  std::string joint;
  std::string command_unit;
  double command_max = 0.0;
  std::size_t index = 0;    ///< index of the motor in the unit's order
  std::size_t channel = 0;  ///< channel of the motor's joint
  MotorProperties figures;
  std::optional<StallLimits> stall;  ///< for the rig file, if its present limits are unsuitable
  bool is_good = false;  ///< the motor moves its joint both ways, with the sign in the rig file
};

/// Evaluates the recorded encoder counts and motor tests of a commissioning. Performs no input or
/// output. If a step is repeated, its new results replace the earlier ones.
class Commissioning {
 public:
  /// @param names  joints to check; empty: all joints with an encoder
  /// @throws proto::InputError for a name that is not a channel of the rig file
  Commissioning(RigConfig rig, const firmware_iface::UnitDescription& facts,
                const std::vector<std::string>& names);

  /// Returns the settings of the rig file, with the channels in the order found by commissioning.
  const RigConfig& rig() const { return rig_; }
  /// Returns the settings of rig() with the encoder signs and zero offsets that commissioning has
  /// found. If the operator has not moved a joint to its zero, its zero offset is unchanged.
  RigConfig corrected_rig() const;
  const std::vector<CheckedJoint>& joints() const { return joints_; }
  /// Returns the motors of checked joints.
  const std::vector<CheckedMotor>& motors() const { return motors_; }
  /// Returns the safety limits of a checked joint.
  const JointLimits& joint_limits(std::size_t joint) const;

  /// Returns whether all joints with an encoder are checked.
  bool covers_all_joints() const { return joints_.size() == rig_.channel.size(); }

  /// Returns a note for each position limit that is beyond an end stop in the rig file.
  Findings find_limits_beyond_stops() const;

  /// Adds a recording during which nobody touched the rig.
  Findings add_rest_recording(const EncoderRecorder& watch);

  /// Adds a recording during which one joint was moved by hand.
  Findings add_hand_motion(std::size_t joint, const HandMotion& motion,
                           const EncoderRecorder& watch);

  /// Assigns each encoder to the joint that it measures, and reorders the channels accordingly. To
  /// be called after the operator has moved all joints.
  Findings assign_encoders();

  /// Adds a recording of a joint that the operator has moved to its zero.
  Findings add_zero_recording(std::size_t joint, const EncoderRecorder& watch);

  /// Returns the reason why the motors must not be tested; empty if they may be tested.
  std::string reason_against_motor_tests() const;

  /// Adds the responses of a motor's joint to command pulses of +level and −level.
  /// @param is_last  the level is not raised further
  /// @param others   names of other joints that moved
  Findings add_pulses(std::size_t motor, double level, bool is_last, const TestPushResult& positive,
                      const TestPushResult& negative, const std::string& others);

  /// Adds a motor pulse that the safety monitor ended because the joint moved against the command.
  Findings add_reversed_pulse(std::size_t motor);

  Findings add_ramps(std::size_t motor, const TestPushResult& rise, const TestPushResult& fall,
                     std::optional<int> delay_ticks);

 private:
  const ChannelConfig& joint_channel(const CheckedJoint& joint) const;
  Findings assess_stall_limits(CheckedMotor& motor) const;

  RigConfig rig_;
  firmware_iface::UnitDescription facts_;
  std::vector<CheckedJoint> joints_;
  std::vector<CheckedMotor> motors_;
  double level_ = 0.0;  // of the last pulses
  TestPushResult positive_, negative_;
};

/// Returns a name in quotes.
std::string quote_name(const std::string& name);

std::size_t count_faults(const Findings& findings);

}  // namespace daq
