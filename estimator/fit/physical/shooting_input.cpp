#include "estimator/fit/physical/shooting_input.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

#include "estimator/fit/initial_states.hpp"
#include "estimator/fit/input_checks.hpp"
#include "estimator/fit/loop_closed_states.hpp"
#include "estimator/fit/number_text.hpp"
#include "estimator/fit/physical/absent_bodies.hpp"
#include "estimator/fit/physical/inertial_noise.hpp"
#include "estimator/fit/physical/joint_mobility.hpp"
#include "estimator/fit/physical/shooting/control_noise.hpp"
#include "estimator/fit/physical/shooting/impact_free_nodes.hpp"
#include "estimator/fit/physical/shooting/integration_steps.hpp"
#include "estimator/fit/physical/shooting/kinematic_states.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "estimator/signal/noise_level.hpp"

namespace estimator {
namespace {

constexpr int kSamplesMin = 10;
constexpr double kDurationMin = 0.05;  // [s]
constexpr double kInterval = 0.2;      // [s]; any motion is predictable over this time
constexpr int kIntervals = 16;         // minimum number; several are integrated in parallel
constexpr int kIntervalSamplesMin = 10;
constexpr double kAccelerationTime = 0.01;  // for differences of rates [s]

/// Returns the root mean square acceleration of every joint, from its initial rates [rad/s²].
Eigen::VectorXd typical_accelerations(const std::vector<Eigen::MatrixXd>& states,
                                      const std::vector<double>& spacing, Eigen::Index joints) {
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(joints);
  double count = 0.0;
  for (std::size_t s = 0; s < states.size(); ++s) {
    const auto stride =
        std::max<Eigen::Index>(1, static_cast<Eigen::Index>(kAccelerationTime / spacing[s]));
    const double time = static_cast<double>(stride) * spacing[s];
    for (Eigen::Index k = stride; k < states[s].cols(); k += stride) {
      const Eigen::VectorXd change =
          states[s].col(k).tail(joints) - states[s].col(k - stride).tail(joints);
      sums += (change / time).cwiseAbs2();
      count += 1.0;
    }
  }
  return (sums / std::max(count, 1.0)).cwiseSqrt();
}

/// Returns the largest speed of every joint, from its initial rates [rad/s].
Eigen::VectorXd fastest_speeds(const std::vector<Eigen::MatrixXd>& states, Eigen::Index joints) {
  Eigen::VectorXd max_speed = Eigen::VectorXd::Zero(joints);
  for (const Eigen::MatrixXd& each : states) {
    max_speed = max_speed.cwiseMax(each.bottomRows(joints).cwiseAbs().rowwise().maxCoeff());
  }
  return max_speed;
}

/// Returns the scale of every joint's coordinate (JointUnits::scale).
Eigen::VectorXd joint_scales(const Mechanism& mechanism) {
  Eigen::VectorXd scales(mechanism.joint_count());
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    scales[j] = mechanism.joints[static_cast<std::size_t>(j)].units().scale;
  }
  return scales;
}

/// Returns whether encoders observe all joints.
bool is_all_told(const Mechanism& mechanism) {
  return EncoderJoints(mechanism).observed_count() == mechanism.joint_count();
}

/// Returns unfiltered angles over rates; only needed for loops.
Eigen::MatrixXd unfiltered(const Mechanism& mechanism, const Segment& segment) {
  if (is_tree(mechanism)) return {};
  return make_joint_states(mechanism, segment, std::numeric_limits<double>::infinity());
}

/// Chooses integration steps from the speeds of the joints. They vary in time if the readings
/// determine these speeds.
void lay_steps(const Mechanism& mechanism, const ShootingInput& input, const StepLimits& limits,
               ShootingGrid& grid) {
  const Eigen::VectorXd scales = joint_scales(mechanism);
  grid.step = choose_step(input.max_speed.cwiseQuotient(scales), limits);
  grid.local_steps.clear();
  if (EncoderJoints(mechanism).observed_count() < std::ssize(grid.coordinates.independent)) return;
  for (std::size_t s = 0; s < input.states.size(); ++s) {
    grid.local_steps.push_back(choose_local_steps(
        input.segments[s], input.states[s], input.state_spacing[s], scales, limits, grid.step));
  }
}

void note_stretched(const Mechanism& mechanism, const std::string& recording,
                    const Segment& segment, const std::vector<SingularConfiguration>& poses,
                    std::vector<Message>& notes) {
  const auto first = std::ranges::find(poses, true, &SingularConfiguration::decided);
  if (first == poses.end()) return;
  const auto count = std::ranges::count(poses, true, &SingularConfiguration::decided);
  const double time = segment.start + static_cast<double>(first->sample) * segment.period;
  Message note(
      MessageCode::kCollinearLinks,
      {{"time", time}, {"joint", mechanism.joints[static_cast<std::size_t>(first->joint)].name}});
  if (count > 1) note.arguments.push_back({"count", static_cast<int>(count)});
  notes.push_back(in_recording(recording, std::move(note)));
}

bool is_long_enough(const Segment& segment) {
  return segment.sample_count() >= kSamplesMin &&
         segment.duration() + segment.period >= kDurationMin;
}

/// Returns the shortest sampling period of the controls [s]; infinite without controls.
double control_period(const std::vector<Segment>& segments) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const Segment& segment : segments) {
    if (segment.controls.cols() > 0) shortest = std::min(shortest, segment.period);
  }
  return shortest;
}

/// Converts process noise of joints to process noise of the coordinates that sensors read.
Eigen::VectorXd of_what_sensors_read(const Mechanism& mechanism, const Eigen::VectorXd& noise) {
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  Eigen::VectorXd own(std::ssize(sensors));
  for (Eigen::Index i = 0; i < own.size(); ++i) {
    double squares = 0.0;
    for (const Encoder::Term& term : sensors[static_cast<std::size_t>(i)].terms) {
      squares += noise[term.joint] * noise[term.joint];
    }
    own[i] = std::sqrt(squares);
  }
  return own;
}

}  // namespace

double min_interval(const std::vector<Segment>& segments) {
  double longest = 0.0;
  for (const Segment& segment : segments) longest = std::max(longest, segment.period);
  return kIntervalSamplesMin * longest;
}

double default_interval(const std::vector<Segment>& segments) {
  double total = 0.0;
  for (const Segment& segment : segments) total += segment.duration();
  return std::min(kInterval, std::max(total / kIntervals, min_interval(segments)));
}

Mechanism with_sticking_friction(Mechanism mechanism) {
  for (Joint& joint : mechanism.joints) joint.transition_speed = 0.0;
  return mechanism;
}

bool has_loaded_loop(const Mechanism& mechanism) {
  if (is_tree(mechanism)) return false;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (has_load_law(mechanism, j)) return true;
  }
  return false;
}

bool can_shoot(const Mechanism& mechanism, const std::vector<Recording>& recordings) {
  const auto has_long_segment = [](const Recording& recording) {
    return std::ranges::any_of(recording.segments, is_long_enough);
  };
  return mechanism.joint_count() <= kTreeJointsMax && !has_loaded_loop(mechanism) &&
         std::ranges::any_of(recordings, has_long_segment);
}

void limit_steps(const FrictionSteps& longest, ShootingInput& input) {
  double most = longest.everywhere;
  if (std::isfinite(longest.near_rest)) most = std::min(most, control_period(input.segments));
  const auto limit = [&](ShootingGrid& grid) {
    limit_steps(most, grid);
    grid.near_rest = std::min(grid.near_rest, longest.near_rest);
  };
  limit(input.grid);
  if (input.last_grid) limit(*input.last_grid);
}

bool use_final_steps(ShootingInput& input) {
  if (!input.last_grid) return false;
  input.last_grid->interval = input.grid.interval;
  input.grid = std::move(*input.last_grid);
  input.last_grid.reset();
  return true;
}

ShootingInput prepare_shooting(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                               const CalibrationOptions& options) {
  check_input(mechanism, recordings);
  check_options(options, recordings);
  if (mechanism.joint_count() > kTreeJointsMax) {
    throw std::invalid_argument("physical parameters support at most " +
                                std::to_string(kTreeJointsMax) +
                                " joints; request shadow parameters");
  }
  if (has_loaded_loop(mechanism)) {
    throw std::invalid_argument(
        "friction that grows with the bearing load (r_mu, mu) is not supported with closed loops "
        "or joints that follow others, because their motion does not determine the load; use "
        "constant friction, or request shadow parameters");
  }
  if (control_noise_of(mechanism).size() > 0 && !is_tree(mechanism)) {
    throw std::invalid_argument(
        "a motor's control_noise is not supported with closed loops or joints that follow others; "
        "remove it");
  }
  ShootingInput input;
  input.noise.angle = kAngleNoiseFloor * encoder_scales(mechanism);
  for (const Recording& recording : recordings) {
    for (const Segment& segment : recording.segments) {
      if (!is_long_enough(segment)) {
        input.notes.push_back(in_recording(
            recording.name, {MessageCode::kShortSegment, {{"samples", segment.sample_count()}}}));
        continue;
      }
      input.segments.push_back(without_early_readings(mechanism, segment));
      input.segments.back().is_first_of_recording = &segment == &recording.segments.front();
      input.segments.back().absent_bodies = bodies_absent_in(mechanism, recording.name);
      input.sources.push_back(recording.name);
      Eigen::MatrixXd states = make_joint_states(mechanism, segment, options.filter_cutoff);
      if (segment.inertial.cols() > 0 && is_tree(mechanism) && !is_all_told(mechanism)) {
        smooth_kinematics(mechanism, segment, states);
      }
      const std::vector<SingularConfiguration> poses =
          close_loops(mechanism, segment.period, recording.name,
                      {unfiltered(mechanism, segment), segment.assembled}, states);
      note_stretched(mechanism, recording.name, segment, poses, input.notes);
      input.states.push_back(std::move(states));
      input.state_spacing.push_back(segment.period);
      for (Eigen::Index sensor = 0; sensor < segment.angles.cols(); ++sensor) {
        double& noise = input.noise.angle[sensor];
        noise = std::max(noise, noise_level(segment, sensor));
      }
    }
  }
  std::ranges::move(find_unmatched_patterns(mechanism, recordings),
                    std::back_inserter(input.notes));
  input.grid.interval = node_interval(mechanism, input.segments, default_interval(input.segments));
  if (input.segments.empty()) {
    throw std::invalid_argument("the recordings are too short: a segment needs at least " +
                                std::to_string(kSamplesMin) + " samples over " +
                                number_text(kDurationMin) + " s; record longer");
  }
  require_motion(recordings);
  require_mass(mechanism, input.states.front().col(0));
  const Eigen::VectorXd scales = joint_scales(mechanism);
  input.max_speed = fastest_speeds(input.states, mechanism.joint_count());
  const Eigen::VectorXd accelerations =
      typical_accelerations(input.states, input.state_spacing, mechanism.joint_count())
          .cwiseQuotient(scales);
  const Eigen::VectorXd least =
      accelerations.cwiseMax(1e-3 * accelerations.maxCoeff()).cwiseMax(1e-6);
  try {
    input.grid.coordinates = choose_coordinates(mechanism, input.states);
  } catch (const ChangePoint& point) {
    const double time =
        input.segments[point.motion].start +
        static_cast<double>(point.configuration) * input.state_spacing[point.motion];
    throw std::invalid_argument(input.sources[point.motion] + ": at about " + number_text(time, 6) +
                                " s, the recording passes " + point.what());
  }
  if (options.step > 0.0) {
    input.grid.step = options.step;
  } else {
    lay_steps(mechanism, input, kSteps, input.grid);
    if (!is_tree(mechanism)) {
      lay_steps(mechanism, input, kLoopSteps, input.last_grid.emplace(input.grid));
    }
  }
  limit_steps(friction_steps(with_sticking_friction(mechanism), input.states), input);
  const Eigen::VectorXd generous =
      kInflatedNoiseFraction * std::sqrt(kInterval) * scales.cwiseProduct(least);
  input.noise.acceleration = generous(input.grid.coordinates.independent);
  input.sensor_acceleration = of_what_sensors_read(mechanism, generous);
  input.noise.control = control_noise_of(mechanism);
  prepare_inertial(mechanism, input);
  return input;
}

}  // namespace estimator
