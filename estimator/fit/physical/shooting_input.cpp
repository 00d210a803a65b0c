#include "estimator/fit/physical/shooting_input.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/fit/input_checks.hpp"
#include "estimator/fit/loop_closed_states.hpp"
#include "estimator/fit/number_text.hpp"
#include "estimator/fit/physical/control_noise_effect.hpp"
#include "estimator/fit/physical/joint_mobility.hpp"
#include "estimator/fit/physical/shooting/contact_checks.hpp"
#include "estimator/fit/physical/shooting/control_noise.hpp"
#include "estimator/fit/physical/shooting/impact_free_nodes.hpp"
#include "estimator/fit/physical/shooting/integration_steps.hpp"
#include "estimator/fit/physical/shooting/kinematic_states.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/quaternion_encoders.hpp"
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
Eigen::VectorXd largest_speeds(const std::vector<Eigen::MatrixXd>& states, Eigen::Index joints) {
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
    scales[j] = mechanism.joints[j].units().scale;
  }
  return scales;
}

/// Returns whether encoders observe all joints.
bool are_all_joints_observed(const Mechanism& mechanism) {
  return EncoderToJointMap(mechanism).observed_joint_count() == mechanism.joint_count();
}

/// Returns unfiltered angles over rates; only needed for loops.
Eigen::MatrixXd unfiltered(const Mechanism& mechanism, const Segment& segment) {
  if (!has_closed_loops(mechanism)) return {};
  return compute_initial_joint_states(mechanism, segment, std::numeric_limits<double>::infinity());
}

/// Chooses integration steps from the speeds of the joints. They vary in time if the readings
/// determine these speeds.
void choose_grid_steps(const Mechanism& mechanism, const ShootingInput& input,
                       const IntegrationStepLimits& limits, ShootingGrid& grid) {
  const Eigen::VectorXd scales = joint_scales(mechanism);
  grid.step = choose_integration_step(input.max_speed.cwiseQuotient(scales), limits);
  grid.local_steps.clear();
  if (EncoderToJointMap(mechanism).observed_joint_count() <
      std::ssize(grid.coordinates.independent))
    return;
  for (std::size_t s = 0; s < input.states.size(); ++s) {
    grid.local_steps.push_back(choose_local_integration_steps(
        input.segments[s], input.states[s], input.state_spacing[s], scales, limits, grid.step));
  }
}

void note_singular_configurations(const Mechanism& mechanism, const std::string& recording,
                                  const Segment& segment,
                                  const std::vector<SingularConfiguration>& poses,
                                  std::vector<Message>& notes) {
  const auto first = std::ranges::find(poses, true, &SingularConfiguration::decided);
  if (first == poses.end()) return;
  const auto count = std::ranges::count(poses, true, &SingularConfiguration::decided);
  const double time = segment.start + static_cast<double>(first->sample) * segment.period;
  Message note(MessageCode::kCollinearLinks,
               {{"time", time}, {"joint", mechanism.joints[first->joint].name}});
  if (count > 1) note.arguments.push_back({"count", static_cast<int>(count)});
  notes.push_back(add_recording_name(recording, std::move(note)));
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

double shortest_period(const std::vector<Segment>& segments) {
  return std::ranges::min_element(segments, {}, &Segment::period)->period;
}

/// Converts process noise of joints to process noise of the coordinates that sensors read.
Eigen::VectorXd noise_of_encoder_coordinates(const Mechanism& mechanism,
                                             const Eigen::VectorXd& noise) {
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  Eigen::VectorXd own(std::ssize(sensors));
  for (Eigen::Index i = 0; i < own.size(); ++i) {
    double squares = 0.0;
    for (const Encoder::JointTerm& term : sensors[i].terms) {
      squares += noise[term.joint] * noise[term.joint];
    }
    own[i] = std::sqrt(squares);
  }
  return own;
}

constexpr int kPoses = 20;  // number of configurations, over all segments

/// Returns the root mean square sensitivity of each sensor axis to the acceleration of each joint,
/// axes × joints.
Eigen::MatrixXd acceleration_sensitivities(const Mechanism& mechanism,
                                           const std::vector<Eigen::MatrixXd>& states) {
  using InverseDynamics = TreeInverseDynamics<double>;
  InverseDynamics dynamics(mechanism, parameter_values(mechanism));
  const int n = mechanism.joint_count(), axes = Sensor::kAxes * mechanism.sensor_count();
  const auto readings = [&](const Eigen::VectorXd& angle, const Eigen::VectorXd& acceleration) {
    InverseDynamics::VectorX q = angle, a = acceleration, none = InverseDynamics::VectorX::Zero(n),
                             control = none, torque;
    for (int j = 0; j < n; ++j) {
      if (mechanism.joints[static_cast<std::size_t>(j)].motor.is_prescribed) control[j] = a[j];
    }
    dynamics.torque_residual(q, none, a, control, torque);
    Eigen::VectorXd all(axes);
    for (int i = 0; i < mechanism.sensor_count(); ++i) {
      const auto own = dynamics.sensor_readings(i);
      for (int k = 0; k < Sensor::kAxes; ++k) {
        all[i * Sensor::kAxes + k] = own[k];
      }
    }
    return all;
  };
  Eigen::MatrixXd squares = Eigen::MatrixXd::Zero(axes, n);
  double poses = 0.0;
  for (const Eigen::MatrixXd& each : states) {
    const Eigen::Index stride = std::max<Eigen::Index>(1, each.cols() / kPoses);
    for (Eigen::Index k = 0; k < each.cols(); k += stride) {
      const Eigen::VectorXd angle = each.col(k).head(n);
      const Eigen::VectorXd still = readings(angle, Eigen::VectorXd::Zero(n));
      for (int j = 0; j < n; ++j) {
        squares.col(j) += (readings(angle, Eigen::VectorXd::Unit(n, j)) - still).cwiseAbs2();
      }
      poses += 1.0;
    }
  }
  return (squares / poses).cwiseSqrt();
}

/// Sets the initial noise levels of inertial readings from differences of the readings and from the
/// process noise. Accelerometers also measure unmodelled accelerations: white noise of density σ_a²
/// averaged over a sampling period T has the standard deviation σ_a/√T.
void prepare_inertial(const Mechanism& mechanism, ShootingInput& input) {
  const std::vector<int> axes = find_read_sensor_axes(mechanism, input.segments);
  input.noise.inertial.setConstant(Sensor::kAxes * mechanism.sensor_count(), kInertialNoiseFloor);
  if (axes.empty()) return;
  const Eigen::MatrixXd arms = acceleration_sensitivities(mechanism, input.states);
  const double period = shortest_period(input.segments);
  for (const int axis : axes) {
    double& noise = input.noise.inertial[axis];
    for (const Segment& segment : input.segments) {
      if (axis < segment.inertial.cols()) {
        noise = std::max(noise, estimate_noise_level(segment.inertial.col(axis)));
      }
    }
    double unexplained = 0.0;
    for (std::size_t p = 0; p < input.grid.coordinates.independent.size(); ++p) {
      const double density = input.noise.acceleration[p];
      unexplained +=
          std::pow(arms(axis, input.grid.coordinates.independent[p]) * density, 2) / period;
    }
    noise = std::sqrt(noise * noise + unexplained);
  }
}

/// Returns whether the pattern matches a recording's name or the name of its file.
bool matches_recording_name(std::string_view recording, std::string_view pattern) {
  return matches_pattern(recording, pattern) ||
         matches_pattern(recording.substr(recording.find_last_of('/') + 1), pattern);
}

double total_duration(const std::vector<Segment>& segments) {
  double total = 0.0;
  for (const Segment& segment : segments) total += segment.duration();
  return total;
}

void add_window(const ShootingInput& input, std::size_t s, int first, int count, Excerpt& excerpt) {
  const Segment& segment = input.segments[s];
  excerpt.segments.push_back(segment_rows(segment, first, count));
  const double spacing = input.state_spacing[s];
  const Eigen::MatrixXd& states = input.states[s];
  const auto column = [&](int sample) {
    return std::min<Eigen::Index>(std::lround(segment.time(sample) / spacing), states.cols() - 1);
  };
  const Eigen::Index begin = column(first);
  excerpt.states.push_back(states.middleCols(begin, column(first + count - 1) - begin + 1));
  excerpt.state_spacing.push_back(spacing);
  const std::vector<std::vector<double>>& steps = input.grid.local_steps;
  if (!steps.empty())
    excerpt.local_steps.push_back(select_local_steps_after(steps[s], segment.time(first)));
}

}  // namespace

double min_node_interval(const std::vector<Segment>& segments) {
  double longest = 0.0;
  for (const Segment& segment : segments) longest = std::max(longest, segment.period);
  return kIntervalSamplesMin * longest;
}

double default_node_interval(const std::vector<Segment>& segments) {
  return std::min(kInterval,
                  std::max(total_duration(segments) / kIntervals, min_node_interval(segments)));
}

Mechanism with_set_valued_friction(Mechanism mechanism) {
  for (Joint& joint : mechanism.joints) joint.transition_speed = 0.0;
  return mechanism;
}

bool has_load_friction_in_loop(const Mechanism& mechanism) {
  if (is_tree_mechanism(mechanism)) return false;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (has_load_proportional_friction(mechanism, j)) return true;
  }
  return false;
}

bool is_shooting_supported(const Mechanism& mechanism, const std::vector<Recording>& recordings) {
  const auto has_long_segment = [](const Recording& recording) {
    return std::ranges::any_of(recording.segments, is_long_enough);
  };
  return mechanism.joint_count() <= kTreeJointsMax && !has_load_friction_in_loop(mechanism) &&
         std::ranges::any_of(recordings, has_long_segment);
}

void limit_integration_steps(const FrictionStepLimits& longest, ShootingInput& input) {
  double most = longest.everywhere;
  if (std::isfinite(longest.near_rest)) most = std::min(most, control_period(input.segments));
  const auto limit = [&](ShootingGrid& grid) {
    limit_integration_steps(most, grid);
    grid.near_rest = std::min(grid.near_rest, longest.near_rest);
  };
  limit(input.grid);
  if (input.last_grid) limit(*input.last_grid);
}

void choose_integration_steps(const Mechanism& mechanism, const CalibrationOptions& options,
                              ShootingInput& input) {
  if (options.step > 0.0) {
    input.grid.step = options.step;
  } else {
    choose_grid_steps(mechanism, input, kSteps, input.grid);
    if (has_closed_loops(mechanism)) {
      choose_grid_steps(mechanism, input, kLoopSteps, input.last_grid.emplace(input.grid));
    }
  }
  if (!find_read_sensor_axes(mechanism, input.segments).empty()) {
    input.grid.step = std::min(input.grid.step, shortest_period(input.segments));
    input.grid.local_steps.clear();
  }
  limit_integration_steps(
      compute_friction_step_limits(with_set_valued_friction(mechanism), input.states), input);
}

bool use_final_integration_steps(ShootingInput& input) {
  if (!input.last_grid) return false;
  input.last_grid->interval = input.grid.interval;
  input.grid = std::move(*input.last_grid);
  input.last_grid.reset();
  return true;
}

ShootingInput prepare_shooting_data(const Mechanism& mechanism,
                                    const std::vector<Recording>& recordings,
                                    const CalibrationOptions& options) {
  check_input(mechanism, recordings);
  check_options(options, recordings);
  if (mechanism.joint_count() > kTreeJointsMax) {
    throw std::invalid_argument(
        "physical parameters support at most " + std::to_string(kTreeJointsMax) +
        " joints; request shadow parameters (the parameters of a SPOOK simulator)");
  }
  if (has_load_friction_in_loop(mechanism)) {
    throw std::invalid_argument(
        "friction that grows with the bearing load (r_mu, mu) needs a mechanism without closed "
          "loops, mimic joints and contacts, because with them the motion does not determine the "
          "load. Use constant friction, or request shadow parameters (the parameters of a SPOOK "
          "simulator)");
  }
  if (motor_control_noise(mechanism).size() > 0 && !is_tree_mechanism(mechanism)) {
    throw std::invalid_argument(
        "a motor's control_noise is not supported with closed loops, mimic joints or contacts; "
        "remove it");
  }
  ShootingInput input;
  input.noise.angle = kAngleNoiseFloor * readings_per_radian(mechanism);
  for (const Recording& recording : recordings) {
    for (const Segment& segment : recording.segments) {
      if (!is_long_enough(segment)) {
        input.notes.push_back(add_recording_name(
            recording.name, {MessageCode::kShortSegment, {{"samples", segment.sample_count()}}}));
        continue;
      }
      input.segments.push_back(remove_excluded_readings(mechanism, segment));
      input.segments.back().is_first_of_recording = &segment == &recording.segments.front();
      if (std::isnan(segment.recording_start)) {
        input.segments.back().recording_start = recording.segments.front().start;
      }
      input.segments.back().absent_bodies = find_absent_bodies(mechanism, recording.name);
      input.sources.push_back(recording.name);
      Eigen::MatrixXd states =
          compute_initial_joint_states(mechanism, segment, options.filter_cutoff);
      if (segment.inertial.cols() > 0 && !has_closed_loops(mechanism) &&
          !are_all_joints_observed(mechanism)) {
        smooth_kinematics(mechanism, segment, states);
      }
      check_contacts(mechanism, segment, states, recording.name);
      const std::vector<SingularConfiguration> poses =
          close_loops(mechanism, segment.period, recording.name,
                      {unfiltered(mechanism, segment), segment.assembled}, states);
      note_singular_configurations(mechanism, recording.name, segment, poses, input.notes);
      input.states.push_back(std::move(states));
      input.state_spacing.push_back(segment.period);
      for (Eigen::Index sensor = 0; sensor < segment.angles.cols(); ++sensor) {
        double& noise = input.noise.angle[sensor];
        noise = std::max(noise, estimate_noise_level(segment, sensor));
      }
    }
  }
  share_quaternion_noise(used_encoders(mechanism), input.noise.angle);
  std::ranges::move(find_unmatched_patterns(mechanism, recordings),
                    std::back_inserter(input.notes));
  input.grid.interval =
      choose_node_interval(mechanism, input.segments, default_node_interval(input.segments));
  if (input.segments.empty()) {
    throw std::invalid_argument("the recordings are too short; record longer. A segment needs " +
                                std::to_string(kSamplesMin) + " samples or more, over at least " +
                                number_text(kDurationMin) + " s");
  }
  require_motion(recordings);
  check_moved_mass(mechanism, input.states.front().col(0));
  const Eigen::VectorXd scales = joint_scales(mechanism);
  input.max_speed = largest_speeds(input.states, mechanism.joint_count());
  const Eigen::VectorXd accelerations =
      typical_accelerations(input.states, input.state_spacing, mechanism.joint_count())
          .cwiseQuotient(scales);
  const Eigen::VectorXd least =
      accelerations.cwiseMax(1e-3 * accelerations.maxCoeff()).cwiseMax(1e-6);
  try {
    input.grid.coordinates = choose_independent_joints(mechanism, input.states);
  } catch (const ChangePointError& point) {
    const double time =
        input.segments[point.motion].start +
        static_cast<double>(point.configuration) * input.state_spacing[point.motion];
    throw std::invalid_argument(input.sources[point.motion] + ": at about " + number_text(time, 6) +
                                " s, the recording passes " + point.what());
  }
  const Eigen::VectorXd generous =
      kInflatedNoiseFraction * std::sqrt(kInterval) * scales.cwiseProduct(least);
  input.noise.acceleration = generous(input.grid.coordinates.independent);
  input.least_acceleration.setZero(input.noise.acceleration.size());
  input.sensor_acceleration = noise_of_encoder_coordinates(mechanism, generous);
  input.noise.control = control_noise_levels(mechanism, input.segments);
  prepare_inertial(mechanism, input);
  return input;
}

ShootingInput prepare_shooting_input(const Mechanism& mechanism,
                                     const std::vector<Recording>& recordings,
                                     const CalibrationOptions& options) {
  ShootingInput input = prepare_shooting_data(mechanism, recordings, options);
  account_for_control_noise(mechanism, input);
  choose_integration_steps(mechanism, options, input);
  return input;
}

bool matches_pattern(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  for (std::size_t at = star; at <= name.size(); ++at) {
    if (matches_pattern(name.substr(at), pattern.substr(star + 1))) return true;
  }
  return false;
}

std::vector<int> find_absent_bodies(const Mechanism& mechanism, const std::string& recording) {
  std::vector<int> absent;
  for (int i = 0; i < mechanism.body_count(); ++i) {
    const std::vector<std::string>& there = mechanism.bodies[i].present_in_recordings;
    const bool named = std::ranges::any_of(there, [&](const std::string& pattern) {
      return matches_recording_name(recording, pattern);
    });
    if (!there.empty() && !named) absent.push_back(i);
  }
  return absent;
}

std::vector<Message> find_unmatched_patterns(const Mechanism& mechanism,
                                             const std::vector<Recording>& recordings) {
  std::vector<Message> notes;
  for (const Body& body : mechanism.bodies) {
    for (const std::string& pattern : body.present_in_recordings) {
      const bool found = std::ranges::any_of(recordings, [&](const Recording& recording) {
        return matches_recording_name(recording.name, pattern);
      });
      if (found) continue;
      notes.push_back(
          {MessageCode::kUnmatchedPattern, {{"body", body.name}, {"pattern", pattern}}});
    }
  }
  return notes;
}

Excerpt make_complete_excerpt(const ShootingInput& input) {
  return {input.segments, input.states, input.state_spacing, input.grid.local_steps};
}

Excerpt select_excerpt(const ShootingInput& input, double duration, double window) {
  const double total = total_duration(input.segments);
  if (total <= 2.0 * duration) return make_complete_excerpt(input);
  Excerpt excerpt{.is_whole = false};
  for (std::size_t s = 0; s < input.segments.size(); ++s) {
    const Segment& segment = input.segments[s];
    const double own = segment.duration();
    const int windows = std::max(static_cast<int>(std::lround(duration / total * own / window)), 1);
    if (windows * window >= own) {
      add_window(input, s, 0, segment.sample_count(), excerpt);
      continue;
    }
    for (int w = 0; w < windows; ++w) {
      const double begin = (own - window) * (w + 0.5) / windows;
      const int first = segment.first_sample_at_or_after(begin);
      const int last =
          std::min(segment.first_sample_at_or_after(begin + window), segment.sample_count() - 1);
      add_window(input, s, first, last - first + 1, excerpt);
    }
  }
  // With many short segments, almost everything would be selected.
  return total <= 2.0 * total_duration(excerpt.segments) ? make_complete_excerpt(input) : excerpt;
}

}  // namespace estimator
