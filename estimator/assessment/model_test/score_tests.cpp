#include "estimator/assessment/model_test/score_tests.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "estimator/math/decompositions.hpp"
#include "estimator/math/distributions.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/parameter_dependencies.hpp"

namespace estimator {
namespace {

constexpr double kMinEigenvalue = 1e-9;  // least identifiable eigenvalue, for a unit diagonal

constexpr double kMatters = 1.0;  // least change of an estimate, in standard deviations
constexpr double kAlike = 0.8;    // relative decrease of an equal explanation

constexpr int kPointCount = 6;  // coordinates of a joint on its two bodies

constexpr double kFixedValueError = 0.01;  // of a fixed value, relative

/// Returns the positions of the parameters that were estimated and are at no bound.
/// @param free  the parameters of `information`
std::vector<int> estimated_positions(const ShootingProblem& fitted, const FreeParameters& free,
                                     const ParameterInformation& information) {
  const FreeParameters described(fitted.mechanism());
  std::vector<int> positions;
  for (const int index : described.parameter_indices()) {
    const int position = free.find_position(index);
    if (information.at_bound[position] == 0) positions.push_back(position);
  }
  return positions;
}

/// Returns the largest ratio of a change to its standard deviation, 0 if there is none.
/// @param place  receives its index
double largest_ratio(const Eigen::VectorXd& change, const Eigen::VectorXd& deviation,
                     Eigen::Index& place) {
  if (change.size() == 0) return 0.0;
  return (deviation.array() > 0.0)
      .select(change.array().abs() / deviation.array(), 0.0)
      .maxCoeff(&place);
}

/// Returns the indices of the fixed parameters to test.
std::vector<int> candidates(const Mechanism& mechanism) {
  std::vector<int> kept;
  const auto take = [&](int joint, JointParameter quantity, bool is_described) {
    const int index = mechanism.joint_parameter_index(joint, quantity);
    if (is_described && is_fixed_parameter(mechanism, index)) kept.push_back(index);
  };
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const auto is_there = [&](JointParameter quantity) {
      return mechanism.joint_parameter(j, quantity).value != 0.0;
    };
    for (int k = 0; k < kPointCount; ++k) {
      const auto point = static_cast<JointParameter>(k);
      take(j, point, is_there(point));
    }
    take(j, JointParameter::kMotorGain, is_there(JointParameter::kMotorGain));
    const bool has_any_friction = has_friction(mechanism, j, [](const auto&) { return true; });
    for (int place = 0; place < FrictionLaws::kQuantityCount; ++place) {
      const FrictionParameter& facts = kFrictionParameters[static_cast<std::size_t>(place)];
      if (!facts.is_size || facts.is_loaded || facts.is_steep) continue;
      take(j, friction_parameter_at(place),
           facts.is_dry ? has_dry_friction(mechanism, j) : has_any_friction);
    }
  }
  return kept;
}

/// Returns the indices of the fixed quantities that have to be measured or come from data sheets:
/// masses, gravity, joint points, motor constants and quantities with a tolerance, if they are not
/// zero.
std::vector<int> list_measured_constants(const Mechanism& mechanism) {
  std::vector<int> indices = {mechanism.index(GravityParameter::kGravity)};
  for (int body = 0; body < mechanism.body_count(); ++body) {
    indices.push_back(mechanism.index(body, BodyParameter::kMass));
  }
  for (int joint = 0; joint < mechanism.joint_count(); ++joint) {
    for (int k = 0; k < kPointCount; ++k) {
      indices.push_back(mechanism.joint_parameter_index(joint, static_cast<JointParameter>(k)));
    }
    for (const auto quantity :
         {JointParameter::kMotorGain, JointParameter::kBackEmf, JointParameter::kShaftInertia}) {
      indices.push_back(mechanism.joint_parameter_index(joint, quantity));
    }
  }
  for (int index = 0; index < std::ssize(mechanism.parameters); ++index) {
    const bool is_listed = std::ranges::find(indices, index) != indices.end();
    if (mechanism.at(index).tolerance > 0.0 && !is_listed) indices.push_back(index);
  }
  std::erase_if(indices, [&](int index) {
    return mechanism.at(index).value == 0.0 || !is_fixed_parameter(mechanism, index);
  });
  return indices;
}

/// The inverse of a symmetric matrix in its identifiable directions.
struct IdentifiableInverse {
  Eigen::MatrixXd inverse;
  int rank = 0;
};

IdentifiableInverse invert_identifiable(const Eigen::MatrixXd& S) {
  const Eigen::VectorXd scale =
      (S.diagonal().array() > 0.0).select(S.diagonal().cwiseSqrt().cwiseInverse(), 0.0);
  const SymmetricEigen solved = symmetric_eigen(scale.asDiagonal() * S * scale.asDiagonal());
  IdentifiableInverse result{Eigen::MatrixXd::Zero(S.rows(), S.rows())};
  for (Eigen::Index k = 0; k < S.rows(); ++k) {
    const double eigenvalue = solved.values[k];
    if (!(eigenvalue > kMinEigenvalue)) continue;
    const Eigen::VectorXd direction = scale.asDiagonal() * solved.vectors.col(k);
    result.inverse += direction * direction.transpose() / eigenvalue;
    ++result.rank;
  }
  return result;
}

/// Returns the standard deviations of estimates.
/// @param inverse  of the information about them
/// @param spread   covariance of their gradient
Eigen::VectorXd standard_deviations(const Eigen::MatrixXd& inverse, const Eigen::MatrixXd& spread) {
  return (inverse * spread * inverse).diagonal().cwiseMax(0.0).cwiseSqrt();
}

/// Sets a plausible decay rate for Stribeck friction terms that the description fixes at zero.
Mechanism with_decay_rates(Mechanism mechanism, const ShootingInput& input) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (!is_fixed_parameter(mechanism,
                            mechanism.joint_parameter_index(j, JointParameter::kStribeckTorque)) ||
        mechanism.joint_parameter(j, JointParameter::kStribeckTorque).value != 0.0 ||
        !(input.max_speed[j] > 0.0)) {
      continue;
    }
    mechanism.joint_parameter(j, JointParameter::kStribeckRate).value =
        std::pow(kDecayShare * input.max_speed[j], -2);
  }
  return mechanism;
}

/// Returns the fitted problem with some parameters freed.
/// @param mechanism  at the estimates
ShootingProblem with_freed(Mechanism mechanism, const ShootingProblem& fitted,
                           const ShootingInput& input, const ShootingGrid& grid,
                           const std::vector<int>& indices) {
  for (const int index : indices) mechanism.at(index).free = true;
  return fitted.copy_with_changes(mechanism, input.segments, grid, fitted.noise());
}

/// Returns the contradicted parameters among fixed parameters, the most significant first. Frees
/// these parameters one at a time.
/// @param problem  the fitted problem with all of these parameters free
std::vector<ContradictedParameter> contradicted_among(const std::vector<int>& indices,
                                                      const ShootingProblem& fitted,
                                                      const ShootingProblem& problem,
                                                      const ParameterInformation& information,
                                                      const Eigen::MatrixXd& spread) {
  const Mechanism& mechanism = problem.mechanism();
  const FreeParameters free(mechanism);
  const std::vector<int> estimated = estimated_positions(fitted, free, information);
  const auto kept = static_cast<Eigen::Index>(estimated.size());
  const GaussNewtonStep before = compute_gauss_newton_step(information, spread, estimated);
  std::vector<ContradictedParameter> contradictions;
  for (const int index : indices) {
    std::vector<int> taken = estimated;
    taken.push_back(free.find_position(index));
    const GaussNewtonStep after = compute_gauss_newton_step(information, spread, taken);
    if (after.rank <= before.rank) continue;
    const double change = after.change[kept], deviation = after.deviation[kept];
    if (!is_significant(change, deviation)) continue;
    const Parameter& parameter = mechanism.at(index);
    const double value = parameter.value + change;
    if (value < parameter.lower || value > parameter.upper) continue;
    Eigen::Index moved = 0;
    const double shift =
        largest_ratio(after.change.head(kept) - before.change, before.deviation, moved);
    if (!(shift > kMatters)) continue;
    const int position = estimated[static_cast<std::size_t>(moved)];
    const int moved_index = free.parameter_indices()[static_cast<std::size_t>(position)];
    contradictions.push_back({.name = parameter.name,
                              .unit = parameter.unit,
                              .kept = parameter.value,
                              .value = value,
                              .standard_deviation = deviation,
                              .decrease = after.decrease - before.decrease,
                              .moved = mechanism.at(moved_index).name,
                              .shift = shift});
  }
  std::ranges::stable_sort(contradictions, std::ranges::greater(),
                           &ContradictedParameter::decrease);
  return contradictions;
}

constexpr double kResidualShare = 0.25;  // least share of an instrument's squared residuals
constexpr int kShares = 6;               // cross-axis parameters of one instrument

struct CrossAxisInstrument {
  int sensor, place;        ///< `place`: instrument of the sensor, 0 or 1
  std::vector<int> shares;  ///< parameter indices, of the axes with readings
  double readings = 0.0;    ///< number of readings of these axes
};

/// Returns the instruments for which the rig description has no cross-axis sensitivity.
std::vector<CrossAxisInstrument> candidates(const ShootingProblem& fitted) {
  const Mechanism& mechanism = fitted.mechanism();
  std::vector<CrossAxisInstrument> found;
  for (std::size_t at = 0; at < fitted.inertial_axes().size(); ++at) {
    const int axis = fitted.inertial_axes()[at];
    const int sensor = axis / Sensor::kAxes, place = axis % Sensor::kAxes / 3;
    const Sensor& own = mechanism.sensors[static_cast<std::size_t>(sensor)];
    if (!own.kind_traits().has_cross) continue;
    const int first = mechanism.sensor_parameter_index(
        sensor, place == 0 ? SensorParameter::kRateCrossXY : SensorParameter::kForceCrossXY);
    bool is_described = false;
    for (int index = first; index < first + kShares; ++index) {
      is_described |= is_changed_by_fit(mechanism, index) || mechanism.at(index).value != 0.0;
    }
    if (is_described) continue;
    if (found.empty() || found.back().sensor != sensor || found.back().place != place) {
      found.push_back({sensor, place, {}});
    }
    found.back().readings += fitted.inertial_reading_count(static_cast<int>(at));
    for (const int k : {0, 1}) found.back().shares.push_back(first + 2 * (axis % 3) + k);
  }
  return found;
}

}  // namespace

GaussNewtonStep compute_gauss_newton_step(const ParameterInformation& information,
                                          const Eigen::MatrixXd& spread,
                                          const std::vector<int>& taken) {
  const auto [inverse, rank] = invert_identifiable(information.schur(taken, taken));
  const Eigen::VectorXd b = compute_total_score(information)(taken);
  GaussNewtonStep step;
  step.rank = rank;
  step.change = inverse * b;
  step.decrease = b.dot(step.change);
  step.deviation = standard_deviations(inverse, spread(taken, taken));
  return step;
}

std::vector<ContradictedParameter> find_contradicted_parameters(
    const ShootingProblem& fitted, const ShootingInput& input, const ShootingGrid& grid,
    const std::vector<QuantizedSensor>& counting, const Eigen::VectorXd& variances) {
  const std::vector<int> kept = candidates(fitted.mechanism());
  if (kept.empty()) return {};
  const ShootingProblem problem =
      with_freed(with_decay_rates(fitted.mechanism(), input), fitted, input, grid, kept);
  ParameterInformation information = compute_information(problem, {.effective_parameters = false});
  if (!information.valid) return {};
  const auto contradictions = contradicted_among(kept, fitted, problem, information,
                                                 compute_score_covariance(information, variances));
  if (contradictions.empty() || counting.empty()) return contradictions;
  const QuantizationErrors errors =
      compute_quantization_errors(problem, counting);  // expensive, rarely needed
  for (std::size_t i = 0; i < counting.size(); ++i) {
    information.group_schur[static_cast<std::size_t>(counting[i].sensor)] = errors.scatter[i];
  }
  return contradicted_among(kept, fitted, problem, information,
                            compute_score_covariance(information, variances));
}

FixedValueEffects find_fixed_value_effects(const ShootingProblem& fitted,
                                           const ShootingInput& input, const ShootingGrid& grid,
                                           const Eigen::VectorXd& variances) {
  const std::vector<int> exact = list_measured_constants(fitted.mechanism());
  FixedValueEffects effects;
  if (exact.empty()) return effects;
  const ShootingProblem problem = with_freed(fitted.mechanism(), fitted, input, grid, exact);
  const ParameterInformation information =
      compute_information(problem, {.effective_parameters = false});
  if (!information.valid) return effects;
  const FreeParameters free(problem.mechanism());
  const std::vector<int> estimated = estimated_positions(fitted, free, information);
  const Eigen::MatrixXd inverse =
      invert_identifiable(information.schur(estimated, estimated)).inverse;
  const Eigen::VectorXd deviation = standard_deviations(
      inverse, compute_score_covariance(information, variances)(estimated, estimated));
  for (const int position : estimated) {
    effects.estimated.push_back(free.parameter_indices()[static_cast<std::size_t>(position)]);
  }
  effects.tolerance_changes.resize(std::ssize(estimated), 0);
  for (const int index : exact) {
    const Parameter& fixed = problem.mechanism().at(index);
    const std::vector<int> own = {free.find_position(index)};
    const double error = fixed.tolerance > 0.0 ? fixed.tolerance : kFixedValueError;
    const Eigen::VectorXd change =
        -inverse * information.schur(estimated, own) * (error * fixed.value);
    if (fixed.tolerance > 0.0) {
      Eigen::MatrixXd& changes = effects.tolerance_changes;
      changes.conservativeResize(Eigen::NoChange, changes.cols() + 1);
      changes.rightCols(1) = change;
    }
    Eigen::Index moved = 0;
    const double deviations = largest_ratio(change, deviation, moved);
    if (!(deviations > kMatters)) continue;
    const int moved_index = effects.estimated[static_cast<std::size_t>(moved)];
    effects.largest.push_back({fixed.name, problem.mechanism().at(moved_index).name, change[moved],
                               deviations, fixed.tolerance});
  }
  std::ranges::stable_sort(effects.largest, std::ranges::greater(), &FixedValueEffect::deviations);
  return effects;
}

Message make_contradiction_note(const std::vector<ContradictedParameter>& found) {
  const ContradictedParameter& first = found.front();
  Message note(MessageCode::kContradiction,
               {{"parameter", first.name},
                {"fixed", Quantity{first.kept, first.unit}},
                {"estimate", Quantity{first.value, first.unit, first.standard_deviation}},
                {"moved", first.moved},
                {"shift", first.shift}});
  std::vector<std::string> alternatives;
  for (std::size_t i = 1; i < found.size(); ++i) {
    if (!(found[i].decrease > kAlike * first.decrease)) break;
    alternatives.push_back(found[i].name);
  }
  if (!alternatives.empty()) note.arguments.push_back({"alternatives", std::move(alternatives)});
  return note;
}

std::vector<CrossAxisSensitivity> find_missing_cross_axes(const ShootingProblem& fitted,
                                                          const ShootingInput& input,
                                                          const ShootingGrid& grid) {
  std::vector<CrossAxisSensitivity> found;
  const std::vector<CrossAxisInstrument> instruments = candidates(fitted);
  if (instruments.empty()) return found;
  std::vector<int> shares;
  for (const CrossAxisInstrument& each : instruments) {
    shares.insert(shares.end(), each.shares.begin(), each.shares.end());
  }
  const ShootingProblem problem = with_freed(fitted.mechanism(), fitted, input, grid, shares);
  const ParameterInformation information =
      compute_information(problem, {.effective_parameters = false});
  if (!information.valid) return found;
  const FreeParameters free(problem.mechanism());
  const std::vector<int> estimated = estimated_positions(fitted, free, information);
  const GaussNewtonStep before =
      compute_gauss_newton_step(information, information.schur, estimated);
  for (const CrossAxisInstrument& instrument : instruments) {
    std::vector<int> taken = estimated;
    for (const int index : instrument.shares) taken.push_back(free.find_position(index));
    const GaussNewtonStep after = compute_gauss_newton_step(information, information.schur, taken);
    const int added = after.rank - before.rank;
    if (added <= 0) continue;
    const double decrease = after.decrease - before.decrease;
    if (!(chi_square_tail_probability(decrease, added) < kSignificanceLevel)) continue;

    const auto kept = static_cast<Eigen::Index>(estimated.size());
    Eigen::Index moved = 0, worst = 0;
    const double shift =
        largest_ratio(after.change.head(kept) - before.change, before.deviation, moved);
    const bool moves = shift > 1.0;
    if (!moves && !(decrease > kResidualShare * instrument.readings)) continue;
    const Eigen::Index added_shares = std::ssize(instrument.shares);
    largest_ratio(after.change.tail(added_shares), after.deviation.tail(added_shares), worst);
    const auto name_of = [&](int position) {
      return problem.mechanism()
          .at(free.parameter_indices()[static_cast<std::size_t>(position)])
          .name;
    };
    const Sensor& sensor = problem.mechanism().sensors[static_cast<std::size_t>(instrument.sensor)];
    found.push_back({.sensor = sensor.name,
                     .instrument = sensor.kind_traits().instruments[instrument.place].name,
                     .share = name_of(taken[static_cast<std::size_t>(kept + worst)]),
                     .value = after.change[kept + worst],
                     .standard_deviation = after.deviation[kept + worst],
                     .moved = moves ? name_of(estimated[static_cast<std::size_t>(moved)]) : "",
                     .shift = moves ? shift : 0.0});
  }
  return found;
}

Message make_cross_axis_note(const CrossAxisSensitivity& found) {
  constexpr double kPercent = 100.0;
  Message note(
      MessageCode::kMissingCrossAxis,
      {{"instrument", found.instrument},
       {"sensor", found.sensor},
       {"parameter", found.share},
       {"share", Quantity{kPercent * found.value, "%", kPercent * found.standard_deviation}}});
  if (!found.moved.empty()) {
    note.arguments.push_back({"moved", found.moved});
    note.arguments.push_back({"shift", found.shift});
  }
  return note;
}

}  // namespace estimator
