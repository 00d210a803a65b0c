#include "estimator/fit/shadow/preparation.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "estimator/fit/input_checks.hpp"
#include "estimator/fit/number_text.hpp"
#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/signal/noise_level.hpp"
#include "estimator/signal/step_grid.hpp"
#include "estimator/spook/joint_terms.hpp"
#include "estimator/spook/residual_form.hpp"

namespace estimator {
namespace {

constexpr double kProcessShare = 0.02;  // relative to the typical inertial impulse
constexpr double kSmoothShare = 0.5;    // relative to the typical speed change in a step

double choose_time_step(const std::vector<Recording>& recordings,
                        const CalibrationOptions& options) {
  for (const Recording& recording : recordings) {
    for (const Segment& segment : recording.segments) {
      if (options.step > 0.0) return nearest_compatible_step(options.step, segment.period);
      return longest_compatible_step(kLongestChosenStep, segment.period);
    }
  }
  throw std::invalid_argument("the recordings contain no samples");
}

/// Critically damps joints that are so soft that they would oscillate at the time step: τ = 2 √(ε
/// m) for the compliance ε and the reduced mass m of the two bodies. Other joints keep the
/// automatic τ.
void damp_soft_joints(Mechanism& mechanism, double step) {
  const ModelParameterValues values = unpack_parameters(mechanism);
  const auto mobility = [&](int body) {
    return body == Joint::kGround ? 0.0 : 1.0 / values.bodies[body].mass;
  };
  for (Joint& joint : mechanism.joints) {
    if (joint.spook.damping_time != SpookRegularization::kAutomaticDamping) continue;
    const double mass = 1.0 / (mobility(joint.body_a) + mobility(joint.body_b));
    const double critical = 2.0 * std::sqrt(joint.spook.compliance_linear * mass);
    if (critical > constraint_damping_time(joint, step)) joint.spook.damping_time = critical;
  }
}

/// Returns the moment of inertia of a body about its joint point, averaged over directions [kg·m²].
double inertia_about_joint(const Mechanism& mechanism, const ModelParameterValues& values,
                           int body) {
  const BodyValues& terms = values.bodies[body];
  double inertia = terms.inertia.trace() / 3.0;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (mechanism.joints[j].body_b != body) continue;
    inertia += terms.mass * values.joints[j].point_b.squaredNorm();
    break;
  }
  return inertia;
}

void require_untied(const Mechanism& mechanism) {
  for (const ParameterDependency& tie : mechanism.dependencies) {
    if (!is_changed_by_fit(mechanism, tie.parameter)) continue;
    const std::string& name = mechanism.parameters[tie.parameter].name;
    throw std::invalid_argument(
        "dependencies between parameters are not supported for shadow parameters (of a SPOOK "
        "simulator); request physical parameters, or remove the dependency of parameter " +
        quoted(name));
  }
}

/// Rejects priors that only physical parameters support.
void require_no_priors(const Mechanism& mechanism) {
  const auto refuse = [](const std::string& element, const char* field) {
    throw std::invalid_argument(element + " has " + field +
                                ", which shadow parameters (of a SPOOK simulator) do not support; "
                                "request physical parameters, or remove it");
  };
  for (const Body& body : mechanism.bodies) {
    if (!std::isinf(body.cad_uncertainty)) {
      refuse("body " + quoted(body.name), "cad_uncertainty_percent");
    }
    if (!body.present_in_recordings.empty()) {
      refuse("body " + quoted(body.name), "present_in_recordings");
    }
  }
  for (const Joint& joint : mechanism.joints) {
    const std::string own = "joint " + quoted(joint.name);
    if (!std::isinf(joint.start.angle.standard_deviation)) refuse(own, "start_position");
    if (!std::isinf(joint.start.rate.standard_deviation)) refuse(own, "start_speed");
  }
}

/// Returns the root mean square change of a joint's speed between consecutive steps [rad/s].
double typical_speed_change(const Joint& joint, const std::vector<TrajectoryData>& data,
                            double step) {
  double sum = 0.0, count = 0.0;
  for (const TrajectoryData& segment : data) {
    double speed = 0.0;
    for (std::size_t k = 1; k < segment.initial.size(); ++k) {
      const double turn =
          joint_angle(joint, segment.initial[k]) - joint_angle(joint, segment.initial[k - 1]);
      const double next = joint.coordinate_difference(turn) / step;
      if (k > 1) {
        sum += (next - speed) * (next - speed);
        count += 1.0;
      }
      speed = next;
    }
  }
  return std::sqrt(sum / count);
}

}  // namespace

void require_uniform_clock(const std::string& name, const Segment& segment) {
  if (segment.times.empty()) return;
  throw std::invalid_argument(
      name + ": irregular time stamps. " +
      "Shadow parameters (of a SPOOK simulator) need uniformly sampled data. "
      "Request physical parameters. "
      "If only the time stamps jitter, raise jitter_tolerance in the rig file's time { }");
}

ShadowInput prepare_shadow_input(const Mechanism& mechanism,
                                 const std::vector<Recording>& recordings,
                                 const CalibrationOptions& options) {
  require_spook_support(mechanism);
  require_untied(mechanism);
  require_no_priors(mechanism);
  ShadowInput preparation;
  preparation.mechanism = mechanism;
  if (mechanism.sensor_count() > 0) {
    preparation.notes.emplace_back(MessageCode::kUnusedSensors);
  }
  for (Joint& joint : preparation.mechanism.joints) {
    if (options.compliance >= 0.0) {
      joint.spook.compliance_linear = joint.spook.compliance_angular = options.compliance;
    }
    if (options.damping_time >= 0.0) joint.spook.damping_time = options.damping_time;
    if (options.residual_form == ResidualForm::kExplicit &&
        !(std::min(joint.spook.compliance_linear, joint.spook.compliance_angular) > 0.0)) {
      throw std::invalid_argument("joint " + quoted(joint.name) +
                                  ": the explicit residual divides by the compliance; "
                                  "give a compliance above 0, or use the implicit form");
    }
  }
  check_input(preparation.mechanism, recordings);
  check_options(options, recordings);
  preparation.step = choose_time_step(recordings, options);
  damp_soft_joints(preparation.mechanism, preparation.step);
  for (const Recording& recording : recordings) {
    for (const Segment& segment : recording.segments) {
      require_uniform_clock(recording.name, segment);
      TrajectoryData data = make_trajectory_data(preparation.mechanism, segment, preparation.step,
                                                 options.filter_cutoff, recording.name);
      if (data.angles.rows() < kSegmentNodesMin) {
        preparation.notes.push_back(add_recording_name(
            recording.name, {MessageCode::kShortSegment, {{"samples", segment.sample_count()}}}));
        continue;
      }
      preparation.data.push_back(std::move(data));
      preparation.sources.push_back(recording.name);
    }
  }
  if (preparation.data.empty()) {
    throw std::invalid_argument(
        "the recordings are too short; record longer or use a smaller step. A segment needs " +
        std::to_string(kSegmentNodesMin) + " time steps or more, each of " +
        number_text(preparation.step) + " s");
  }
  require_motion(recordings);
  return preparation;
}

double choose_state_error_weight(const Mechanism& mechanism,
                                 const std::vector<TrajectoryData>& data, double angle_noise,
                                 double step) {
  const ModelParameterValues values = unpack_parameters(mechanism);
  double sum = 0.0, count = 0.0;
  for (int body = 0; body < mechanism.body_count(); ++body) {
    const double inertia = inertia_about_joint(mechanism, values, body);
    for (const TrajectoryData& segment : data) {
      for (std::size_t k = 2; k < segment.initial.size(); ++k) {
        const Eigen::Vector3d change =
            (left_rotation_difference(segment.initial[k][body].e, segment.initial[k - 1][body].e) -
             left_rotation_difference(segment.initial[k - 1][body].e,
                                      segment.initial[k - 2][body].e)) /
            step;
        sum += (inertia * change).squaredNorm();
        count += 1.0;
      }
    }
  }
  const double impulse = std::sqrt(sum / count);
  return std::pow(angle_noise / (kProcessShare * impulse), 2);
}

Mechanism raise_stick_speeds(const Mechanism& mechanism, const std::vector<TrajectoryData>& data,
                             double step) {
  Mechanism smoothed = mechanism;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    Joint& joint = smoothed.joints[j];
    joint.spook.stick_speed =
        std::max(joint.spook.stick_speed, kSmoothShare * typical_speed_change(joint, data, step));
  }
  return smoothed;
}

TrajectorySettings make_trajectory_settings(const ShadowInput& input,
                                            const std::vector<Recording>& recordings,
                                            const CalibrationOptions& options) {
  TrajectorySettings settings;
  settings.step.step = input.step;
  settings.step.form = options.residual_form;
  settings.step.weighting_compliance = options.weighting_compliance;
  settings.state_form = options.state_form;
  settings.state_error_weight =
      options.state_error_weight > 0.0
          ? options.state_error_weight
          : choose_state_error_weight(input.mechanism, input.data, angle_noise_level(recordings),
                                      input.step);
  return settings;
}

SegmentTrajectory make_segment_trajectory(const ShadowInput& input,
                                          const TrajectoryProblem& problem, int segment) {
  SegmentTrajectory trajectory;
  trajectory.recording = input.sources[segment];
  trajectory.start = input.data[segment].start;
  trajectory.step = input.step;
  trajectory.measured = input.data[segment].angles;
  trajectory.estimated = problem.predicted_angles(segment);
  trajectory.control = problem.step_controls(segment);
  return trajectory;
}

}  // namespace estimator
