#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "daq/scenario/feedback.hpp"
#include "estimator/design/design.hpp"
#include "estimator/model/encoder.hpp"

namespace service {

/// Returns whether an encoder reads only this joint.
bool measures_only(const estimator::Encoder& encoder, int joint);

/// Returns whether a joint has an encoder that reads only this joint.
bool has_own_encoder(const estimator::Mechanism& mechanism, int joint);

/// Returns a text in quotes, with special characters escaped, for a Protobuf text file.
std::string quote_for_text_file(const std::string& text);

/// Properties of a rig that determine the feedback law for swinging up its pendulum.
struct SwingUpProperties {
  int pendulum = 0;                   ///< joint that hangs at zero and has its own encoder
  std::string name = {};              ///< name of the joint
  double natural_frequency_Hz = 0.0;  ///< frequency of small oscillations with the motor free
  double command_max = 0.0;           ///< largest magnitude of the command [unit of the control]
};

/// Returns the properties of the first pendulum joint that the motor can swing up; nullopt if there
/// is none.
/// @param motor  index of the driven joint
std::optional<SwingUpProperties> find_swing_up_joint(const estimator::Mechanism& mechanism,
                                                     int motor, double command_max);

/// Returns the gains of the swing-up feedback law, clamped to valid ranges. The vector `plan`
/// consists of energy gain, largest command and kick command (relative to command_max), stop angle
/// [rad] and kick duration [s]. In the returned settings, the pendulum is joint 0.
daq::SwingUpSettings compute_swing_up_gains(const SwingUpProperties& rig,
                                            const Eigen::VectorXd& plan);

/// Returns the swing-up feedback law, with the elements of a plan as gains.
estimator::FeedbackLaw make_swing_up_law(const SwingUpProperties& rig);

/// Properties of a rig that determine the position feedback of a designed run.
struct FeedbackProperties {
  double setpoint = 0.0;     ///< coordinate of the driven joint before the run [rad or m]
  double offset = 0.0;       ///< encoder offset: coordinate at reading zero [rad or m]
  double reach = 1.0;        ///< distance from the setpoint to the nearest limit [rad or m]
  double direction = 1.0;    ///< sign of the motion due to a positive command
  double command_max = 0.0;  ///< largest magnitude of the whole command [unit of the control]
  bool slides = false;       ///< whether the driven joint is prismatic
};

/// Returns the settings of the position feedback of a plan, whose joint is joint 0. The vector
/// `gains`, divided by command_max, consists of the largest feedback command (relative to
/// command_max), the distance at which the feedback reaches it (relative to the reach), and the
/// ratio of derivative to proportional gain [s].
daq::PositionFeedbackSettings compute_feedback_settings(const FeedbackProperties& rig,
                                                        const Eigen::VectorXd& gains);

/// Returns a swing-up plan with its commands multiplied by `share`, which is below 1.
Eigen::VectorXd reduce_swing_up_commands(const SwingUpProperties& rig, Eigen::VectorXd plan,
                                         double share);

/// Kind of motor command in a designed experiment: sum of sines, pulses, or swing-up feedback.
enum class CommandKind { kMultisine, kPulses, kSwingUp };

/// Shape of a designed motor command. The shape is fixed before the amplitudes or gains of the
/// command are optimized.
struct CommandShape {
  CommandKind kind = CommandKind::kMultisine;
  double duration = 0.0;                 ///< [s]
  double ramp = 0.0;                     ///< initial ramp of a multisine [s]
  std::vector<double> frequencies = {};  ///< tones of a multisine [Hz]
  int pulses = 0;                        ///< number of adjacent pulses over the whole duration
  double rate = 0.0;                     ///< sampling rate of the pulses [Hz]
  SwingUpProperties swing_up = {};       ///< properties of the rig, for CommandKind::kSwingUp
  /// Position feedback that is added to the motor command; unset if the driven joint has no
  /// encoder.
  std::optional<FeedbackProperties> feedback = {};
  int motor = 0;  ///< index of the driven joint
};

/// Returns the shape of a motor command of the given kind.
/// @param duration    length of the experiment [s]
/// @param fastest_hz  highest natural frequency of the rig [Hz]; 0: the rig does not oscillate
/// @param rate        sampling rate [Hz]
/// @param swing_up    properties of the rig, used for CommandKind::kSwingUp
CommandShape make_command_shape(CommandKind kind, double duration, double fastest_hz, double rate,
                                const SwingUpProperties& swing_up);

/// Sets the signals and the feedback law of a design task. The signals are the columns of a matrix
/// (samples × signals): the sine and cosine of each tone, or one signal per pulse. A swing-up has
/// no signals.
/// @param task  its sampling period must be set
void set_task_signals(const CommandShape& shape, estimator::DesignTask& task);

/// Returns a plan with its commands multiplied by `share` below 1, so that the rig moves less.
Eigen::VectorXd reduce_plan_commands(const CommandShape& shape, const Eigen::VectorXd& plan,
                                     double share);

/// Returns the motor command as text for a scenario file (proto/scenario.proto).
/// @param plan  amplitudes of the signals, or gains of the swing-up law
std::string format_scenario_excitation(const CommandShape& shape, const std::string& motor,
                                       const Eigen::VectorXd& plan);

/// Returns the name of a kind of motor command: "multisine", "pulses" or "swing-up".
std::string command_kind_name(CommandKind kind);

}  // namespace service
