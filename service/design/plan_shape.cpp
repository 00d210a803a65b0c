#include "service/design/plan_shape.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "estimator/simulation/statics/equilibrium.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

enum Gain { kEnergyGain, kCommand, kKick, kStopAngle, kKickTime, kGains };
enum FeedbackGain { kFeedbackCommand, kDistance, kDerivativeTime, kFeedbackGains };

constexpr double kHangs = 0.1;       // largest angle that counts as hanging at zero [rad]
constexpr double kLeastGain = 1e-3;  // smallest magnitude, relative to command_max
constexpr double kQuietest = 0.01;   // smallest limit of a plan's command, relative to command_max
// The prediction of a plan does not round readings to counts. A weaker or shorter first command
// would hardly move the pendulum by a count, so that the run would move much later than predicted.
constexpr double kKickMin = 0.1;          // relative to command_max
constexpr double kKickPeriodsMin = 0.25;  // of the pendulum
constexpr double kKickMax_s = 1.0;
constexpr double kStopAngleMax = 0.5 * std::numbers::pi;  // stop angles end at the horizontal [rad]

constexpr double kFeedbackCommandMax = 0.5;  // relative to command_max
constexpr double kFeedbackCommandMin = 0.01;
constexpr double kDistanceMin = 0.05;        // relative to the reach
constexpr double kDerivativeTimeMax_s = 1.0;

constexpr double kTwoPi = 2.0 * std::numbers::pi;
constexpr int kTones = 12;
constexpr double kCyclesMin = 1.5;       // of the slowest tone per run
constexpr double kFastestTone_Hz = 2.0;  // at least
constexpr double kBeyondModes = 3.0;     // the fastest tone, in frequencies of the fastest mode
constexpr double kSamplesACycle = 20.0;  // at least
constexpr double kRamp_s = 0.5;
constexpr int kPulsesMax = 24;
constexpr double kPulseMin_s = 0.2;
constexpr int kCommandDigits = 8;
constexpr int kTimeDigits = 9;  // resolves microseconds in the longest run

/// Returns the start time of a pulse [µs], at most the time of the first sample that has the
/// pulse's command.
double pulse_start(const CommandShape& shape, int pulse) {
  const double sample = std::ceil(shape.duration * pulse / shape.pulses * shape.rate - 1e-6);
  return std::floor(1e6 * sample / shape.rate + 1e-6);
}

Eigen::Index signal_count(const CommandShape& shape) {
  return shape.kind == CommandKind::kPulses
             ? static_cast<Eigen::Index>(shape.pulses)
             : 2 * static_cast<Eigen::Index>(shape.frequencies.size());
}

Eigen::MatrixXd signals_of(const CommandShape& shape, double period, Eigen::Index samples) {
  const Eigen::Index count = signal_count(shape);
  Eigen::MatrixXd signals = Eigen::MatrixXd::Zero(samples, count);
  for (Eigen::Index k = 0; k + 1 < samples; ++k) {  // the command ends at zero
    const double time = static_cast<double>(k) * period;
    if (shape.kind == CommandKind::kPulses) {
      const int pulse = static_cast<int>((time + 1e-9) / shape.duration * shape.pulses);
      signals(k, std::min(pulse, shape.pulses - 1)) = 1.0;
      continue;
    }
    const double share = time < shape.ramp ? time / shape.ramp : 1.0;
    for (std::size_t i = 0; i < shape.frequencies.size(); ++i) {
      const double angle = kTwoPi * shape.frequencies[i] * time;
      signals(k, 2 * static_cast<Eigen::Index>(i)) = share * std::sin(angle);
      signals(k, 2 * static_cast<Eigen::Index>(i) + 1) = share * std::cos(angle);
    }
  }
  return signals;
}

/// Returns a command as text with eight significant digits.
std::string command_text(double value) { return format_number(value, kCommandDigits); }

estimator::FeedbackLaw make_position_feedback_law(const FeedbackProperties& rig, int motor) {
  return {.command =
              [rig, motor](const Eigen::VectorXd& gains, double time, const Eigen::VectorXd& joints,
                           const Eigen::VectorXd& rates) {
                const double angle = joints[motor], rate = rates[motor];
                const daq::JointState measured = {angle, rate, std::isfinite(angle + rate)};
                return daq::PositionFeedback(compute_feedback_settings(rig, gains))
                    .compute_command({time, {&measured, 1}});
              },
          .command_max =
              [rig](const Eigen::VectorXd& gains) {
                return compute_feedback_settings(rig, gains).command_max;
              },
          .draw =
              [rig](std::mt19937_64& random) {
                std::normal_distribution<double> normal;
                std::uniform_real_distribution<double> uniform;
                Eigen::VectorXd gains(kFeedbackGains);
                gains[kFeedbackCommand] = kFeedbackCommandMax * uniform(random);
                gains[kDistance] = std::exp(normal(random));
                gains[kDerivativeTime] = kDerivativeTimeMax_s * uniform(random);
                return Eigen::VectorXd(rig.command_max * gains);
              }};
}

std::string feedback_text(const CommandShape& shape, const std::string& motor,
                          const Eigen::VectorXd& plan) {
  if (!shape.feedback) return "";
  const daq::PositionFeedbackSettings settings =
      compute_feedback_settings(*shape.feedback, plan.tail(kFeedbackGains));
  return fmt::format(
      "position_feedback {{\n"
      "  motor: {}\n"
      "  {}: {}\n"
      "  proportional_gain: {}\n"
      "  derivative_gain: {}\n"
      "  command_max: {}\n"
      "}}\n",
      quote_for_text_file(motor), shape.feedback->slides ? "position_m" : "angle_rad",
      command_text(settings.setpoint_rad - shape.feedback->offset),
      command_text(settings.proportional_gain), command_text(settings.derivative_gain),
      command_text(settings.command_max));
}

std::string swing_up_text(const CommandShape& shape, const std::string& motor,
                          const Eigen::VectorXd& plan) {
  const daq::SwingUpSettings gains = compute_swing_up_gains(shape.swing_up, plan);
  return "swing_up {\n  motor: " + quote_for_text_file(motor) +
         "\n  pendulum: " + quote_for_text_file(shape.swing_up.name) +
         "\n  energy_gain: " + command_text(gains.energy_gain) +
         "\n  command_max: " + command_text(gains.command_max) +
         "\n  natural_frequency_hz: " + command_text(gains.natural_frequency_Hz) +
         "\n  stop_angle_rad: " + command_text(gains.stop_angle_rad) +
         "\n  kick_command: " + command_text(gains.kick_command) +
         "\n  kick_time_s: " + command_text(gains.kick_time_s) + "\n}\n";
}

}  // namespace

bool measures_only(const estimator::Encoder& encoder, int joint) {
  return encoder.terms.size() == 1 && encoder.terms.front().joint == joint;
}

bool has_own_encoder(const estimator::Mechanism& mechanism, int joint) {
  return std::ranges::any_of(
      estimator::used_encoders(mechanism),
      [&](const estimator::Encoder& encoder) { return measures_only(encoder, joint); });
}

std::string quote_for_text_file(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::optional<SwingUpProperties> find_swing_up_joint(const estimator::Mechanism& mechanism,
                                                     int motor, double command_max) {
  const std::optional<estimator::Equilibrium> rest = estimator::find_stable_equilibrium(mechanism);
  if (!rest) return std::nullopt;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const estimator::Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    if (j == motor || joint.motor.present || !joint.kind_traits().turns) continue;
    if (!has_own_encoder(mechanism, j) || find_mimic_joint(mechanism, j) != nullptr) continue;
    const double hangs = std::remainder(rest->coordinates[j], 2.0 * std::numbers::pi);
    if (!(std::abs(hangs) < kHangs)) continue;
    const auto mode = std::ranges::max_element(rest->modes, {}, [&](const auto& each) {
      return is_neutral_mode(each, rest->modes) ? 0.0 : std::abs(each.shape[j]);
    });
    if (mode == rest->modes.end() || is_neutral_mode(*mode, rest->modes)) continue;
    return SwingUpProperties{
        .pendulum = j,
        .name = joint.name,
        .natural_frequency_Hz = std::sqrt(mode->rate_squared) / (2.0 * std::numbers::pi),
        .command_max = command_max};
  }
  return std::nullopt;
}

daq::SwingUpSettings compute_swing_up_gains(const SwingUpProperties& rig,
                                            const Eigen::VectorXd& plan) {
  const double gain =
      std::copysign(std::max(std::abs(plan[kEnergyGain]), kLeastGain), plan[kEnergyGain]);
  return {
      .energy_gain = rig.command_max * gain,
      .command_max = rig.command_max * std::clamp(std::abs(plan[kCommand]), kQuietest, 1.0),
      .natural_frequency_Hz = rig.natural_frequency_Hz,
      .stop_angle_rad = std::clamp(plan[kStopAngle], 0.0, kStopAngleMax),
      .kick_command = rig.command_max *
                      std::copysign(std::clamp(std::abs(plan[kKick]), kKickMin, 1.0), plan[kKick]),
      .kick_time_s = std::max(kKickPeriodsMin / rig.natural_frequency_Hz,
                              std::min(plan[kKickTime], kKickMax_s))};
}

daq::PositionFeedbackSettings compute_feedback_settings(const FeedbackProperties& rig,
                                                        const Eigen::VectorXd& gains) {
  const Eigen::VectorXd relative = gains / rig.command_max;
  const double command_max =
      rig.command_max *
      std::clamp(relative[kFeedbackCommand], kFeedbackCommandMin, kFeedbackCommandMax);
  const double distance = rig.reach * std::max(std::abs(relative[kDistance]), kDistanceMin);
  const double gain = rig.direction * command_max / distance;
  return {.setpoint_rad = rig.setpoint,
          .proportional_gain = gain,
          .derivative_gain =
              gain * std::clamp(relative[kDerivativeTime], 0.0, kDerivativeTimeMax_s),
          .command_max = command_max};
}

estimator::FeedbackLaw make_swing_up_law(const SwingUpProperties& rig) {
  return {.command =
              [rig](const Eigen::VectorXd& plan, double time, const Eigen::VectorXd& joints,
                    const Eigen::VectorXd& rates) {
                const double angle = joints[rig.pendulum], rate = rates[rig.pendulum];
                const daq::JointState measured = {angle, rate, std::isfinite(angle + rate)};
                return daq::SwingUp(compute_swing_up_gains(rig, plan))
                    .compute_command({time, {&measured, 1}});
              },
          .command_max =
              [rig](const Eigen::VectorXd& plan) {
                return daq::SwingUp(compute_swing_up_gains(rig, plan)).command_peak();
              },
          .draw =
              [](std::mt19937_64& random) {
                std::normal_distribution<double> normal;
                std::uniform_real_distribution<double> uniform;
                const auto sign = [&] { return uniform(random) < 0.5 ? -1.0 : 1.0; };
                Eigen::VectorXd plan(kGains);
                plan[kEnergyGain] = sign() * std::exp(normal(random));
                plan[kCommand] = std::pow(kQuietest, uniform(random));
                plan[kKick] = sign() * std::pow(kKickMin, uniform(random));
                plan[kStopAngle] = kStopAngleMax * uniform(random);
                plan[kKickTime] = kKickMax_s * uniform(random);
                return plan;
              }};
}

Eigen::VectorXd reduce_swing_up_commands(const SwingUpProperties& rig, Eigen::VectorXd plan,
                                         double share) {
  const daq::SwingUpSettings gains = compute_swing_up_gains(rig, plan);
  plan[kCommand] = share * gains.command_max / rig.command_max;
  plan[kKick] = share * gains.kick_command / rig.command_max;
  return plan;
}

CommandShape make_command_shape(CommandKind kind, double duration, double fastest_hz, double rate,
                                const SwingUpProperties& swing_up) {
  CommandShape shape{.kind = kind, .duration = duration};
  if (kind == CommandKind::kSwingUp) {
    shape.swing_up = swing_up;
    return shape;
  }
  if (kind == CommandKind::kPulses) {
    shape.pulses = std::clamp(static_cast<int>(duration / kPulseMin_s), 1, kPulsesMax);
    shape.rate = rate;
    return shape;
  }
  shape.ramp = std::min(kRamp_s, 0.1 * duration);
  const double slowest = kCyclesMin / duration;
  const double fastest = std::max(
      2.0 * slowest,
      std::min(std::max(kFastestTone_Hz, kBeyondModes * fastest_hz), rate / kSamplesACycle));
  for (int i = 0; i < kTones; ++i) {
    shape.frequencies.push_back(slowest *
                                std::pow(fastest / slowest, static_cast<double>(i) / (kTones - 1)));
  }
  return shape;
}

void set_task_signals(const CommandShape& shape, estimator::DesignTask& task) {
  const double periods = std::floor(shape.duration / task.facts.period + 1e-9);
  const auto samples = static_cast<Eigen::Index>(periods) + 1;
  task.law.reset();
  if (shape.kind == CommandKind::kSwingUp) {
    task.signals.resize(samples, 0);
    task.law = make_swing_up_law(shape.swing_up);
    return;
  }
  task.signals = signals_of(shape, task.facts.period, samples);
  if (shape.feedback) task.law = make_position_feedback_law(*shape.feedback, shape.motor);
}

Eigen::VectorXd reduce_plan_commands(const CommandShape& shape, const Eigen::VectorXd& plan,
                                     double share) {
  if (shape.kind == CommandKind::kSwingUp)
    return reduce_swing_up_commands(shape.swing_up, plan, share);
  Eigen::VectorXd reduced = plan;
  reduced.head(signal_count(shape)) *= share;
  return reduced;
}

std::string format_scenario_excitation(const CommandShape& shape, const std::string& motor,
                                       const Eigen::VectorXd& plan) {
  if (shape.kind == CommandKind::kSwingUp) return swing_up_text(shape, motor, plan);
  if (shape.kind == CommandKind::kPulses) {
    std::string text = "pulse_train {\n  motor: " + quote_for_text_file(motor) + "\n";
    for (int i = 0; i < shape.pulses; ++i) {
      const double start = pulse_start(shape, i);
      // A gap of 1 µs between samples, or rounding could make two pulses overlap.
      const double width = pulse_start(shape, i + 1) - start - 1.0;
      text += fmt::format("  pulse {{ command: {} start_s: {} width_s: {} }}\n",
                          command_text(plan[i]), format_number(1e-6 * start, kTimeDigits),
                          format_number(1e-6 * width, kTimeDigits));
    }
    return text + "}\n" + feedback_text(shape, motor, plan);
  }
  std::string text = "multisine {\n  motor: " + quote_for_text_file(motor) +
                     "\n  ramp_s: " + command_text(shape.ramp) + "\n";
  for (std::size_t i = 0; i < shape.frequencies.size(); ++i) {
    // a sin(x) + b cos(x) = √(a² + b²) sin(x + atan2(b, a)).
    const double a = plan[2 * static_cast<Eigen::Index>(i)];
    const double b = plan[2 * static_cast<Eigen::Index>(i) + 1];
    text += "  sine { frequency_hz: " + command_text(shape.frequencies[i]) +
            " amplitude: " + command_text(std::hypot(a, b)) +
            " phase_rad: " + command_text(std::atan2(b, a)) + " }\n";
  }
  return text + "}\n" + feedback_text(shape, motor, plan);
}

std::string command_kind_name(CommandKind kind) {
  constexpr std::array kNames = {"multisine", "pulses", "swing-up"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace service
