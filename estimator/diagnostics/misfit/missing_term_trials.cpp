#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include "estimator/diagnostics/misfit/misfit_trials.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "estimator/spook/step_residual.hpp"

namespace estimator {
namespace {

constexpr double kStribeckShare = 0.1;   // of τ_c, initial Stribeck excess
constexpr double kDragShare = 0.1;       // of viscous friction at 1 rad/s, initial drag
constexpr double kDryShare = 0.1;        // of viscous friction at 1 rad/s, initial dry friction
constexpr double kViscousShare = 0.01;   // of dry friction at 1 rad/s, initial viscous friction
constexpr double kAirShare = 0.01;       // of a body's mass, initial air drag [1/m]
constexpr double kHarmonicMost = 0.2;    // largest amplitude of an encoder's periodic error [rad]
constexpr int kCoggingOrderMost = 48;    // largest number of periods per turn that is tried
/// Largest ratio of the predicted cost to the present cost at which an order of cogging or a
/// frequency is fitted.
constexpr double kPromisingShare = 0.95;

// Search for the frequency of a vibration in the prediction errors.
constexpr double kLowestPeriods = 3.0;  // least number of periods in an excerpt
constexpr double kNyquistShare = 0.4;   // highest frequency, relative to the sampling rate
constexpr int kLineSamples = 4;         // samples of the spectrum per width of a line
constexpr int kLinesMost = 3;           // lines tried of each encoder

/// A freed quantity: a parameter, or the amplitude of a sine and a cosine.
struct FreedQuantity {
  int index;
  int cosine = -1;  ///< index of the amplitude of the cosine, if `index` is that of the sine
};

/// A mechanism with freed quantities.
struct FreedTerms {
  Mechanism mechanism;
  std::vector<FreedQuantity> freed;

  void free(FreedQuantity quantity) {
    mechanism.at(quantity.index).free = true;
    if (quantity.cosine >= 0) mechanism.at(quantity.cosine).free = true;
    freed.push_back(quantity);
  }
};

/// Frees the friction terms that the description lacks (viscous, dry, drag or Stribeck excess) at
/// every joint that has the corresponding other friction term.
FreedTerms with_all_friction(const Mechanism& estimate) {
  FreedTerms out{estimate, {}};
  Mechanism& richer = out.mechanism;
  const auto free_beside = [&](int joint, JointParameter quantity, JointParameter beside,
                               double share) {
    const int index = richer.joint_parameter_index(joint, quantity);
    const double known = estimate.joint_parameter(joint, beside).value;
    if (!is_fixed_parameter(richer, index) || !(known > 0.0)) return false;
    Parameter& parameter = richer.at(index);
    parameter.value = std::max(parameter.value, share * known);
    out.free({index});
    return true;
  };
  for (int joint = 0; joint < richer.joint_count(); ++joint) {
    free_beside(joint, JointParameter::kViscous, JointParameter::kCoulombTorque, kViscousShare);
    free_beside(joint, JointParameter::kCoulombTorque, JointParameter::kViscous, kDryShare);
    free_beside(joint, JointParameter::kQuadraticDrag, JointParameter::kViscous, kDragShare);
    if (free_beside(joint, JointParameter::kStribeckTorque, JointParameter::kCoulombTorque,
                    kStribeckShare)) {
      richer.joint_parameter(joint, JointParameter::kStribeckRate).free = true;
    }
  }
  return out;
}

/// Returns the number of joints between ground and each body, along the spanning tree.
std::vector<int> moving_joints(const Mechanism& mechanism) {
  std::vector<int> joints(mechanism.bodies.size(), 0);
  const auto count = [&](const auto& joint, bool forward, int own) {
    const int parent = forward ? joint.body_a : joint.body_b;
    const int child = forward ? joint.body_b : joint.body_a;
    const int before = parent == Joint::kGround ? 0 : joints[static_cast<std::size_t>(parent)];
    joints[static_cast<std::size_t>(child)] = before + own;
  };
  for (const DirectedJoint& edge : spanning_tree(mechanism)) {
    const auto at = static_cast<std::size_t>(edge.joint);
    if (edge.weld) {
      count(mechanism.fixed_joints[at], edge.forward, 0);
    } else {
      count(mechanism.joints[at], edge.forward, 1);
    }
  }
  return joints;
}

/// Frees the air drag of every body with mass that at least two joints move. With one joint, air
/// drag is equivalent to the joint's drag.
FreedTerms with_air(const Mechanism& estimate) {
  FreedTerms out{estimate, {}};
  Mechanism& richer = out.mechanism;
  const std::vector<int> joints = moving_joints(estimate);
  for (int body = 0; body < richer.body_count(); ++body) {
    const auto at = static_cast<std::size_t>(body);
    const int index = richer.air_drag_parameter_index(body, AirDragParameter::kCoefficient);
    if (joints[at] < 2 || richer.bodies[at].massless || !is_fixed_parameter(richer, index))
      continue;
    Parameter& drag = richer.at(index);
    drag.value =
        std::max(drag.value, kAirShare * richer.parameter(body, BodyParameter::kMass).value);
    out.free({index});
  }
  return out;
}

/// Frees the tilt of the rig against gravity. Without gravity there is none.
FreedTerms with_tilt(const Mechanism& estimate) {
  FreedTerms out{estimate, {}};
  if (estimate.parameter(GravityParameter::kGravity).value == 0.0) return out;
  for (const GravityParameter angle : {GravityParameter::kTiltX, GravityParameter::kTiltZ}) {
    const int index = estimate.index(angle);
    if (is_fixed_parameter(estimate, index)) out.free({index});
  }
  return out;
}

/// Frees the first and second harmonic of the errors of all encoders that read angles, since often
/// all discs of a rig are eccentric.
FreedTerms with_encoder_harmonics(const Mechanism& estimate) {
  FreedTerms out{estimate, {}};
  for (const Encoder& encoder : used_encoders(estimate)) {
    if (!encoder.kind_traits().wraps || has_harmonics(estimate, encoder)) continue;
    for (int i = 0; i < Encoder::kHarmonicAmplitudes; i += 2) {
      for (const int index : {encoder.harmonics + i, encoder.harmonics + i + 1}) {
        out.mechanism.at(index).lower = -kHarmonicMost;
        out.mechanism.at(index).upper = kHarmonicMost;
      }
      out.free({encoder.harmonics + i, encoder.harmonics + i + 1});
    }
  }
  return out;
}

/// Frees a parameter of every joint that `has_term` accepts.
template <typename HasTerm>
FreedTerms with_joint_terms(const Mechanism& estimate, JointParameter quantity,
                            const HasTerm& has_term) {
  FreedTerms out{estimate, {}};
  for (int joint = 0; joint < estimate.joint_count(); ++joint) {
    const int index = estimate.joint_parameter_index(joint, quantity);
    if (has_term(joint) && is_fixed_parameter(estimate, index)) out.free({index});
  }
  return out;
}

FreedTerms with_motor_terms(const Mechanism& estimate, JointParameter quantity) {
  return with_joint_terms(estimate, quantity, [&](int joint) {
    return estimate.joints[static_cast<std::size_t>(joint)].motor.present;
  });
}

FreedTerms with_friction_drift(const Mechanism& estimate) {
  return with_joint_terms(estimate, JointParameter::kFrictionDrift, [&](int joint) {
    return has_friction(estimate, joint, [](const auto&) { return true; });
  });
}

/// Replaces `best` by a trial whose predicted cost per reading is below `least`.
void keep_if_better(const MisfitProblem& problem, FreedTerms trial, double& least,
                    FreedTerms& best) {
  const double cost = problem.predict_cost(trial.mechanism);
  if (!(cost < least)) return;
  least = cost;
  best = std::move(trial);
}

/// Frees the cogging torque of one motor.
FreedTerms with_cogging_order(const Mechanism& estimate, int joint, int order) {
  FreedTerms out{estimate, {}};
  out.mechanism.joints[static_cast<std::size_t>(joint)].motor.cogging_order = order;
  out.free({estimate.joint_parameter_index(joint, JointParameter::kCoggingSine),
            estimate.joint_parameter_index(joint, JointParameter::kCoggingCosine)});
  return out;
}

/// Frees the cogging torque of the motor and order that most likely explain the misfit.
FreedTerms with_cogging(const MisfitProblem& problem) {
  const Mechanism& estimate = problem.estimate;
  FreedTerms best{estimate, {}};
  double least = kPromisingShare * problem.fitted.cost_per_reading();
  for (int joint = 0; joint < estimate.joint_count(); ++joint) {
    const Joint& own = estimate.joints[static_cast<std::size_t>(joint)];
    if (!own.motor.present || !own.kind_traits().wraps || own.motor.cogging_order > 0) continue;
    for (int order = 1; order <= kCoggingOrderMost; ++order) {
      if (is_stop_requested(problem.monitor)) return best;
      keep_if_better(problem, with_cogging_order(estimate, joint, order), least, best);
    }
  }
  return best;
}

/// The prediction errors of one encoder in one excerpt, relative to the noise of its readings and
/// multiplied by the sine or cosine of its angle: the torque that a vibration along an axis causes
/// changes with the angle.
struct ErrorSeries {
  std::vector<double> times;  ///< since the start of the recording [s]
  std::vector<double> errors;

  std::complex<double> component(double frequency) const {
    std::complex<double> sum = 0.0;
    for (std::size_t k = 0; k < times.size(); ++k) {
      sum += std::polar(errors[k], 2.0 * M_PI * frequency * times[k]);
    }
    return sum;
  }
};

/// @param shift  0 for the sine of the angle, π/2 for its cosine [rad]
std::vector<ErrorSeries> error_series(const ExcerptFit& fit, Eigen::Index encoder, double noise,
                                      double shift) {
  std::vector<ErrorSeries> all;
  for (std::size_t s = 0; s < fit.segments().size(); ++s) {
    const Segment& segment = fit.segments()[s];
    const Eigen::MatrixXd errors = fit.prediction_errors(static_cast<int>(s));
    ErrorSeries& series = all.emplace_back();
    for (Eigen::Index k = 0; k < errors.rows(); ++k) {
      if (std::isnan(errors(k, encoder))) continue;
      series.times.push_back(segment.time_in_recording() + segment.time(k));
      series.errors.push_back(errors(k, encoder) / noise *
                              std::sin(segment.angles(k, encoder) + shift));
    }
  }
  return all;
}

/// Returns the strongest spectral lines of the prediction errors of an encoder [Hz]. Lines are
/// found in the sum of the spectra of all excerpts, and refined with one phase in all of them.
std::vector<double> find_spectral_lines(const std::vector<ErrorSeries>& excerpts, double piece,
                                        double span, double highest) {
  const double lowest = kLowestPeriods / piece, step = 1.0 / (kLineSamples * piece);
  std::vector<double> powers;
  for (double frequency = lowest; frequency < highest; frequency += step) {
    double power = 0.0;
    for (const ErrorSeries& series : excerpts) power += std::norm(series.component(frequency));
    powers.push_back(power);
  }
  std::vector<double> lines;
  while (!powers.empty() && std::ssize(lines) < kLinesMost) {
    const auto peak = std::ranges::max_element(powers) - powers.begin();
    const double coarse = lowest + static_cast<double>(peak) * step;
    double best = coarse, most = 0.0;
    for (double frequency = coarse - 0.5 / piece; frequency < coarse + 0.5 / piece;
         frequency += 1.0 / (kLineSamples * span)) {
      std::complex<double> sum = 0.0;
      for (const ErrorSeries& series : excerpts) sum += series.component(frequency);
      if (!(std::norm(sum) > most)) continue;
      most = std::norm(sum);
      best = frequency;
    }
    lines.push_back(best);
    for (auto k = std::max<std::ptrdiff_t>(0, peak - kLineSamples);
         k <= std::min<std::ptrdiff_t>(peak + kLineSamples, std::ssize(powers) - 1); ++k) {
      powers[static_cast<std::size_t>(k)] = 0.0;
    }
  }
  return lines;
}

/// Frees a vibration of the ground near a frequency.
FreedTerms with_vibration_near(const Mechanism& estimate, double frequency) {
  FreedTerms out{estimate, {}};
  const int first = estimate.index(GravityParameter::kVibrationFrequency);
  out.mechanism.at(first).value = frequency;
  out.free({first});
  for (int axis = 0; axis < 3; ++axis) out.free({first + 1 + 2 * axis, first + 2 + 2 * axis});
  return out;
}

/// Frees the vibration of the ground at the frequency that most likely explains the misfit. Its
/// phase is the same in all excerpts of one recording only.
FreedTerms with_vibration(const MisfitProblem& problem) {
  FreedTerms best{problem.estimate, {}};
  if (problem.excerpts.size() != 1 || has_vibration(problem.estimate)) return best;
  const std::vector<Segment>& segments = problem.fitted.segments();
  const double piece = segments.front().duration();
  const double span = segments.back().time_in_recording() + piece -
                      segments.front().time_in_recording();
  if (!(piece > 0.0)) return best;
  double least = kPromisingShare * problem.fitted.cost_per_reading();
  std::vector<double> lines;
  for (Eigen::Index i = 0; i < problem.noise.size(); ++i) {
    for (const double shift : {0.0, 0.5 * M_PI}) {
      const auto errors = error_series(problem.fitted, i, problem.noise[i], shift);
      const std::vector<double> own =
          find_spectral_lines(errors, piece, span, kNyquistShare / segments.front().period);
      lines.insert(lines.end(), own.begin(), own.end());
    }
  }
  for (const double frequency : lines) {
    if (is_stop_requested(problem.monitor)) return best;
    keep_if_better(problem, with_vibration_near(problem.estimate, frequency), least, best);
  }
  return best;
}

/// The fitted value of a freed quantity, and the name of its parameter, encoder or joint.
struct FittedQuantity {
  Quantity value;
  std::string channel;
  Message term;
};

/// Returns the amplitude of a periodic error or torque. Its deviation is that along the fitted
/// phase.
FittedQuantity fitted_amplitude(const ExcerptFit& fit, const FreedQuantity& freed) {
  const Mechanism& mechanism = fit.mechanism();
  const double sine = mechanism.at(freed.index).value, cosine = mechanism.at(freed.cosine).value;
  const double size = std::hypot(sine, cosine);
  const double deviation = std::hypot(sine * fit.standard_deviation(freed.index),
                                      cosine * fit.standard_deviation(freed.cosine)) /
                           size;
  const std::string& unit = mechanism.at(freed.index).unit;
  for (const Encoder& encoder : used_encoders(mechanism)) {
    const int place = freed.index - encoder.harmonics;
    if (place < 0 || place >= Encoder::kHarmonicAmplitudes) continue;
    return {{size, unit, deviation},
            encoder.name,
            {MessageCode::kEccentricDisc,
             {{"encoder", encoder.name},
              {"size", Quantity{1e3 * size, "mrad", 1e3 * deviation}},
              {"is_twice", place > 0}}}};
  }
  const ParameterOwner owner = find_parameter_owner(mechanism, freed.index);
  if (owner.kind == ParameterOwner::Kind::kWorld) {
    const std::string& name = mechanism.at(freed.index).name;
    const std::string axis = name.substr(0, name.rfind('_'));
    const Quantity value{size, unit, deviation};
    return {value, axis, {MessageCode::kFittedTerm, {{"parameter", axis}, {"value", value}}}};
  }
  const int joint = owner.element;
  const Joint& own = mechanism.joints[static_cast<std::size_t>(joint)];
  return {{size, unit, deviation},
          own.name,
          {MessageCode::kCoggingTerm,
           {{"motor", own.name},
            {"order", own.motor.cogging_order},
            {"size", Quantity{size, unit, deviation}},
            {"sine", sine},
            {"cosine", cosine}}}};
}

FittedQuantity fitted_quantity(const ExcerptFit& fit, const FreedQuantity& freed) {
  if (freed.cosine >= 0) return fitted_amplitude(fit, freed);
  const Parameter& parameter = fit.mechanism().at(freed.index);
  const Quantity value{parameter.value, parameter.unit, fit.standard_deviation(freed.index)};
  return {value,
          parameter.name,
          {MessageCode::kFittedTerm, {{"parameter", parameter.name}, {"value", value}}}};
}

/// Fits freed quantities. If the fit improves, adds a cause that lists the significant ones.
void try_freed_terms(const MisfitProblem& problem, const FreedTerms& richer, MessageCode code,
                     std::vector<MisfitCause>& causes) {
  if (richer.freed.empty()) return;
  const ExcerptFit fit = fit_if_promising(problem, richer.mechanism, problem.excerpts);
  if (!improves_fit_enough(problem, fit)) return;
  std::vector<Message> terms;
  FittedQuantity largest;
  double largest_ratio = 0.0;
  for (const FreedQuantity& freed : richer.freed) {
    FittedQuantity found = fitted_quantity(fit, freed);
    const double change =
        found.value.value - (freed.cosine < 0 ? problem.estimate.at(freed.index).value : 0.0);
    if (!is_significant(change, found.value.deviation)) continue;
    terms.push_back(found.term);
    const double ratio = std::abs(change) / found.value.deviation;
    if (!(ratio > largest_ratio)) continue;
    largest_ratio = ratio;
    largest = std::move(found);
  }
  if (terms.empty()) return;
  Finding finding = make_finding({code, {{"terms", std::move(terms)}}}, "", largest.channel,
                                 {largest.value.value, largest.value.unit});
  causes.push_back(make_misfit_cause(fit, std::move(finding), problem.excerpts));
}

}  // namespace

void try_missing_terms(const MisfitProblem& problem, std::vector<MisfitCause>& causes) {
  const Mechanism& estimate = problem.estimate;
  try_freed_terms(problem, with_tilt(estimate), MessageCode::kTilt, causes);
  try_freed_terms(problem, with_encoder_harmonics(estimate), MessageCode::kEccentricDiscs, causes);
  try_freed_terms(problem, with_motor_terms(estimate, JointParameter::kGainSag),
                  MessageCode::kGainSag, causes);
  try_slow_terms(problem, causes);
}

void try_slow_terms(const MisfitProblem& problem, std::vector<MisfitCause>& causes) {
  const Mechanism& estimate = problem.estimate;
  try_freed_terms(problem, with_all_friction(estimate), MessageCode::kMissingFriction, causes);
  try_freed_terms(problem, with_friction_drift(estimate), MessageCode::kFrictionDrift, causes);
  try_freed_terms(problem, with_motor_terms(estimate, JointParameter::kGainDrift),
                  MessageCode::kGainDrift, causes);
  try_freed_terms(problem, with_air(estimate), MessageCode::kMissingAirDrag, causes);
}

void try_periodic_terms(const MisfitProblem& problem, std::vector<MisfitCause>& causes) {
  try_freed_terms(problem, with_cogging(problem), MessageCode::kCogging, causes);
  try_freed_terms(problem, with_vibration(problem), MessageCode::kVibration, causes);
}

std::optional<MisfitCause> fit_missing_friction(const MisfitProblem& problem) {
  const FreedTerms richer = with_all_friction(problem.estimate);
  if (richer.freed.empty()) return std::nullopt;
  const ExcerptFit fit = problem.fit(richer.mechanism);
  if (!(fit.cost_per_reading() < problem.fitted.cost_per_reading())) return std::nullopt;
  return make_misfit_cause(fit, {}, problem.excerpts);
}

}  // namespace estimator
