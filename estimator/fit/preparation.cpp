#include "estimator/fit/preparation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "estimator/fit/initial_states.hpp"
#include "estimator/fit/number_text.hpp"
#include "estimator/spook/hinge_terms.hpp"
#include "estimator/model/kinematics.hpp"
#include "estimator/signal/step_grid.hpp"

namespace estimator {
namespace {

constexpr int kSegmentNodesMin = 10;
constexpr double kNoiseFloor = 1e-5;    // [rad]; a perfect signal still gets a finite weight
constexpr double kProcessShare = 0.02;  // of the typical inertial impulse
constexpr double kSmoothShare = 0.5;    // of the typical speed change in a step

void check_mechanism(const Mechanism& mechanism) {
  const std::vector<std::string> faults = find_faults(mechanism, InertiaCheck::kFixed);
  if (faults.empty()) return;
  std::string message = "the rig cannot be used: " + faults.front();
  for (std::size_t i = 1; i < faults.size(); ++i) message += "; " + faults[i];
  throw std::invalid_argument(message);
}

bool rises(const std::vector<double>& times) {
  const auto stands = [](double now, double next) { return !(now < next); };
  return std::ranges::adjacent_find(times, stands) == times.end();
}

void check_recordings(const Mechanism& mechanism, const std::vector<Recording>& recordings) {
  const auto sensors = static_cast<Eigen::Index>(sensors_of(mechanism).size());
  const auto motors = std::ranges::count_if(mechanism.hinges, &Hinge::motorised);
  if (sensors == 0) throw std::invalid_argument("no hinge of the rig is measured");
  for (const Recording& recording : recordings) {
    for (const Segment& segment : recording.segments) {
      if (!(segment.period > 0.0) || !std::isfinite(segment.period)) {
        throw std::invalid_argument(recording.name + ": the sampling period must be positive");
      }
      if (segment.angles.cols() != sensors || segment.controls.cols() != motors ||
          segment.controls.rows() != segment.angles.rows()) {
        throw std::invalid_argument(recording.name + ": needs " + std::to_string(sensors) +
                                    " angle and " + std::to_string(motors) +
                                    " control columns of equal length");
      }
      if (!segment.times.empty() &&
          (std::ssize(segment.times) != segment.angles.rows() || !rises(segment.times))) {
        throw std::invalid_argument(recording.name + ": needs one rising time a row");
      }
      if (!segment.controls.allFinite() || segment.angles.array().isInf().any()) {
        throw std::invalid_argument(recording.name + ": holds infinite or undefined values");
      }
    }
  }
}

struct OptionRule {
  const char* name;
  double CalibrationOptions::*value;
  double lowest;
  bool may_equal;  ///< the lowest itself
  const char* range;
};

constexpr double kLargest = std::numeric_limits<double>::max();
constexpr OptionRule kOptionRules[] = {
    {"the time step", &CalibrationOptions::step, 0.0, true, "0 (choose) or positive"},
    {"the acceleration noise", &CalibrationOptions::acceleration_noise, 0.0, true,
     "0 (find) or positive"},
    {"the state error weight", &CalibrationOptions::state_error_weight, 0.0, true,
     "0 (choose) or positive"},
    {"the compliance", &CalibrationOptions::compliance, -kLargest, true,
     "0, positive, or negative (the rig's own)"},
    {"the damping time", &CalibrationOptions::damping_time, -kLargest, true,
     "0, positive, or negative (the rig's own)"},
    {"the weighting compliance", &CalibrationOptions::weighting_compliance, 0.0, true,
     "0 (choose) or positive"},
    {"the filter cutoff", &CalibrationOptions::filter_cutoff, 0.0, false, "positive"},
};

void check_step(double step, const std::vector<Recording>& recordings) {
  double longest = 0.0, total = 0.0;
  for (const Recording& recording : recordings) {
    for (const Segment& segment : recording.segments) {
      const double duration = segment.sample_count() * segment.period;
      longest = std::max(longest, duration);
      total += duration;
    }
  }
  if (longest == 0.0) return;  // told elsewhere
  if (!(step * kSegmentNodesMin <= longest)) {
    throw std::invalid_argument("a time step of " + number_text(step) +
                                " s is too long: the longest segment lasts " +
                                number_text(longest) + " s, and needs at least " +
                                std::to_string(kSegmentNodesMin) + " steps");
  }
  if (!(total / step <= kTimeStepsMax)) {
    throw std::invalid_argument("a time step of " + number_text(step) +
                                " s is too short: it would cut the recordings into " +
                                number_text(total / step) + " steps, and " +
                                number_text(kTimeStepsMax) + " are the most");
  }
}

double choose_step(const std::vector<Recording>& recordings, const CalibrationOptions& options) {
  for (const Recording& recording : recordings) {
    for (const Segment& segment : recording.segments) {
      if (options.step > 0.0) return nearest_step(options.step, segment.period);
      return longest_step(kLongestChosenStep, segment.period);
    }
  }
  throw std::invalid_argument("the recordings hold no samples");
}

/// Damps joints so soft that they would ring on the grid of the step critically, τ = 2 √(ε m) with
/// m the reduced mass of the bodies they join. Other joints keep the automatic τ.
void damp_soft_joints(Mechanism& mechanism, double step) {
  const ModelValues values = unpack(mechanism);
  const auto mobility = [&](int body) {
    return body == Hinge::kGround ? 0.0 : 1.0 / values.bodies[static_cast<std::size_t>(body)].mass;
  };
  for (Hinge& hinge : mechanism.hinges) {
    if (hinge.damping_time != Hinge::kAutomaticDamping) continue;
    const double mass = 1.0 / (mobility(hinge.body_a) + mobility(hinge.body_b));
    const double critical = 2.0 * std::sqrt(hinge.compliance_linear * mass);
    if (critical > damping_time_of(hinge, step)) hinge.damping_time = critical;
  }
}

/// Moment of inertia of a body about its hinge point, mean over directions [kg·m²].
double inertia_about_hinge(const Mechanism& mechanism, const ModelValues& values, int body) {
  const BodyValues& terms = values.bodies[static_cast<std::size_t>(body)];
  double inertia = terms.inertia.trace() / 3.0;
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    if (mechanism.hinges[static_cast<std::size_t>(j)].body_b != body) continue;
    inertia += terms.mass * values.hinges[static_cast<std::size_t>(j)].point_b.squaredNorm();
    break;
  }
  return inertia;
}

void require_untied(const Mechanism& mechanism) {
  for (const Tie& tie : mechanism.ties) {
    if (!varies(mechanism, tie.parameter)) continue;
    const std::string& name = mechanism.parameters[static_cast<std::size_t>(tie.parameter)].name;
    throw std::invalid_argument("parameter '" + name +
                                "' is tied to others that are estimated, which parameters of a "
                                "SPOOK simulator cannot be; ask for physical parameters, or "
                                "remove the tie");
  }
}

/// What is known beforehand that only physical parameters can use.
void require_no_knowledge(const Mechanism& mechanism) {
  const auto refuse = [](const std::string& what) {
    throw std::invalid_argument(what +
                                ", which parameters of a SPOOK simulator cannot use; ask for "
                                "physical parameters, or leave it out");
  };
  for (const Body& body : mechanism.bodies) {
    if (!std::isinf(body.drawing_deviation)) {
      refuse("body '" + body.name + "' has a prior toward its drawing");
    }
    if (!body.only_in.empty()) {
      refuse("body '" + body.name + "' is there in some recordings only");
    }
  }
  for (const Hinge& hinge : mechanism.hinges) {
    if (std::isinf(hinge.start_angle.standard_deviation) &&
        std::isinf(hinge.start_rate.standard_deviation)) {
      continue;
    }
    refuse("of hinge '" + hinge.name + "' it is known how a recording begins");
  }
}

}  // namespace

void check_input(const Mechanism& mechanism, const std::vector<Recording>& recordings) {
  check_mechanism(mechanism);
  check_recordings(mechanism, recordings);
}

void check_options(const CalibrationOptions& options, const std::vector<Recording>& recordings) {
  for (const OptionRule& rule : kOptionRules) {
    const double value = options.*rule.value;
    const bool allowed =
        std::isfinite(value) && (value > rule.lowest || (rule.may_equal && value == rule.lowest));
    if (allowed) continue;
    throw std::invalid_argument(std::string(rule.name) + " is " + number_text(value) +
                                "; give a number that is " + rule.range);
  }
  if (options.max_iterations < 0) {
    throw std::invalid_argument("at most " + std::to_string(options.max_iterations) +
                                " iterations; give 0 or more");
  }
  if (options.step > 0.0) check_step(options.step, recordings);
}

bool anything_moves(const std::vector<Recording>& recordings) {
  for (const Recording& recording : recordings) {
    for (const Segment& segment : recording.segments) {
      for (const auto& column : segment.angles.colwise()) {
        double first = std::numeric_limits<double>::quiet_NaN();
        for (const double angle : column) {
          if (std::isnan(first)) first = angle;
          if (std::abs(angle - first) > kNoiseFloor) return true;
        }
      }
    }
  }
  return false;
}

void require_motion(const std::vector<Recording>& recordings) {
  if (!anything_moves(recordings)) {
    throw std::invalid_argument("nothing moves in the recordings; check the angle columns");
  }
}

void require_steady_clock(const std::string& name, const Segment& segment) {
  if (segment.times.empty()) return;
  throw std::invalid_argument(name +
                              ": a SPOOK simulator's parameters need samples of a steady clock, "
                              "and these time stamps are irregular; ask for physical parameters, "
                              "or raise jitter_tolerance in the rig file's time { } where only "
                              "the stamps jitter");
}

Preparation prepare(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                    const CalibrationOptions& options) {
  require_hinges(mechanism);
  require_untied(mechanism);
  require_no_knowledge(mechanism);
  Preparation preparation;
  preparation.mechanism = mechanism;
  if (mechanism.inertial_count() > 0) {
    preparation.notes.push_back(
        "what inertial sensors read is not used: a SPOOK simulator is fitted to encoders alone; "
        "ask "
        "for physical parameters");
  }
  for (Hinge& hinge : preparation.mechanism.hinges) {
    if (options.compliance >= 0.0) {
      hinge.compliance_linear = hinge.compliance_angular = options.compliance;
    }
    if (options.damping_time >= 0.0) hinge.damping_time = options.damping_time;
    if (options.residual_form == ResidualForm::kExplicit &&
        !(std::min(hinge.compliance_linear, hinge.compliance_angular) > 0.0)) {
      throw std::invalid_argument("hinge '" + hinge.name +
                                  "': the explicit residual divides by the compliance; give one " +
                                  "above 0 or use the implicit form");
    }
  }
  check_input(preparation.mechanism, recordings);
  check_options(options, recordings);
  preparation.step = choose_step(recordings, options);
  damp_soft_joints(preparation.mechanism, preparation.step);
  for (const Recording& recording : recordings) {
    for (const Segment& segment : recording.segments) {
      require_steady_clock(recording.name, segment);
      TrajectoryData data = make_trajectory_data(preparation.mechanism, segment, preparation.step,
                                                 options.filter_cutoff, recording.name);
      if (data.angles.rows() < kSegmentNodesMin) {
        preparation.notes.push_back(recording.name + ": a segment of " +
                                    std::to_string(segment.sample_count()) +
                                    " samples is too short and was left out");
        continue;
      }
      preparation.data.push_back(std::move(data));
      preparation.sources.push_back(recording.name);
    }
  }
  if (preparation.data.empty()) {
    throw std::invalid_argument("the recordings are too short: a segment needs at least " +
                                std::to_string(kSegmentNodesMin) + " time steps of " +
                                number_text(preparation.step) + " s; record longer or use a " +
                                "smaller step");
  }
  require_motion(recordings);
  return preparation;
}

double noise_level(const Eigen::Ref<const Eigen::VectorXd>& samples) {
  double sum = 0.0;
  int count = 0;
  for (Eigen::Index k = 4; k < samples.size(); ++k) {
    const double difference = samples[k] - 4.0 * samples[k - 1] + 6.0 * samples[k - 2] -
                              4.0 * samples[k - 3] + samples[k - 4];
    if (std::isnan(difference)) continue;
    sum += difference * difference;
    ++count;
  }
  return count == 0 ? 0.0 : std::sqrt(sum / (70.0 * count));  // 1 + 16 + 36 + 16 + 1
}

double noise_level(const Segment& segment, Eigen::Index sensor) {
  Eigen::VectorXd samples = segment.angles.col(sensor);
  // Differences across a slip are the slip's.
  for (const ZeroShift& shift : segment.shifts) {
    if (shift.sensor == sensor) samples[shift.sample] = std::numeric_limits<double>::quiet_NaN();
  }
  if (segment.times.empty()) return noise_level(samples);
  double sum = 0.0;
  int count = 0;
  for (Eigen::Index first = 0; first + 5 <= samples.size(); ++first) {
    // Divided differences: weights that annul every cubic through five samples.
    Eigen::Matrix<double, 5, 1> weights = Eigen::Matrix<double, 5, 1>::Ones();
    for (Eigen::Index i = 0; i < 5; ++i) {
      for (Eigen::Index j = 0; j < 5; ++j) {
        if (j != i)
          weights[i] *= segment.period / (segment.time(first + i) - segment.time(first + j));
      }
    }
    const double difference = weights.normalized().dot(samples.segment<5>(first));
    if (std::isnan(difference)) continue;
    sum += difference * difference;
    ++count;
  }
  return count == 0 ? 0.0 : std::sqrt(sum / count);
}

double angle_noise_level(const std::vector<Recording>& recordings) {
  double noise = kNoiseFloor;
  for (const Recording& recording : recordings) {
    for (const Segment& segment : recording.segments) {
      for (Eigen::Index sensor = 0; sensor < segment.angles.cols(); ++sensor) {
        noise = std::max(noise, noise_level(segment, sensor));
      }
    }
  }
  return noise;
}

double choose_state_error_weight(const Mechanism& mechanism,
                                 const std::vector<TrajectoryData>& data, double angle_noise,
                                 double step) {
  const ModelValues values = unpack(mechanism);
  double sum = 0.0, count = 0.0;
  for (int body = 0; body < mechanism.body_count(); ++body) {
    const auto i = static_cast<std::size_t>(body);
    const double inertia = inertia_about_hinge(mechanism, values, body);
    for (const TrajectoryData& segment : data) {
      for (std::size_t k = 2; k < segment.initial.size(); ++k) {
        const Eigen::Vector3d change =
            (difference_left(segment.initial[k][i].e, segment.initial[k - 1][i].e) -
             difference_left(segment.initial[k - 1][i].e, segment.initial[k - 2][i].e)) /
            step;
        sum += (inertia * change).squaredNorm();
        count += 1.0;
      }
    }
  }
  const double impulse = std::sqrt(sum / count);
  return std::pow(angle_noise / (kProcessShare * impulse), 2);
}

namespace {

/// Root mean square change of a hinge's speed from one step to the next [rad/s].
double typical_speed_change(const Hinge& hinge, const std::vector<TrajectoryData>& data,
                            double step) {
  double sum = 0.0, count = 0.0;
  for (const TrajectoryData& segment : data) {
    double speed = 0.0;
    for (std::size_t k = 1; k < segment.initial.size(); ++k) {
      const double turn =
          hinge_angle(hinge, segment.initial[k]) - hinge_angle(hinge, segment.initial[k - 1]);
      const double next = hinge.difference(turn) / step;
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

Mechanism smooth_friction(const Mechanism& mechanism, const std::vector<TrajectoryData>& data,
                          double step) {
  Mechanism smoothed = mechanism;
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    Hinge& hinge = smoothed.hinges[static_cast<std::size_t>(j)];
    hinge.stick_speed =
        std::max(hinge.stick_speed, kSmoothShare * typical_speed_change(hinge, data, step));
  }
  return smoothed;
}

}  // namespace estimator
