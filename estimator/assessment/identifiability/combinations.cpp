#include "estimator/assessment/identifiability/combinations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/fit/number_text.hpp"
#include "estimator/model/placement.hpp"

namespace estimator {
namespace {

constexpr double kGain = 5.0;        // least gain in relative precision over its members
constexpr double kPoor = 0.01;       // least relative deviation of members
constexpr double kTogether = 0.5;    // least correlation of members
constexpr double kSimplicity = 1.5;  // least gain over a ratio of any other combination

struct Candidate {
  Eigen::Index a = 0, b = 0;
  ParameterCombination combination;
  double rank = 0.0;
};

std::string in_parentheses(const std::string& unit) {
  return unit.find_first_of("/·") == std::string::npos ? unit : "(" + unit + ")";
}

std::string quotient_unit(const std::string& a, const std::string& b) {
  if (a == b) return "";
  if (b.empty()) return a;
  return (a.empty() ? "1" : a) + "/" + in_parentheses(b);
}

std::string product_unit(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : in_parentheses(a) + "·" + in_parentheses(b);
}

double relative_deviation(const ParameterEstimate& parameter) {
  return parameter.standard_deviation / std::abs(parameter.value);
}

/// Returns the best combination of two parameters with these positions; nullopt if it is not
/// precise enough.
std::optional<Candidate> best_combination(const std::vector<ParameterEstimate>& parameters,
                                          const ParameterUncertainty& uncertainty, Eigen::Index a,
                                          Eigen::Index b) {
  const ParameterEstimate &p = parameters[static_cast<std::size_t>(a)],
                          &q = parameters[static_cast<std::size_t>(b)];
  const Eigen::MatrixXd& noise = uncertainty.noise_covariance;
  const double apart = std::sqrt(noise(a, a) * noise(b, b));
  const bool are_identifiable = std::isfinite(p.standard_deviation + q.standard_deviation);
  if (are_identifiable && !(std::abs(noise(a, b)) > kTogether * apart)) return std::nullopt;
  std::optional<Candidate> best;
  const auto offer = [&](const char* sign, double value, double by_a, double by_b,
                         const std::string& unit, double handicap) {
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(std::ssize(parameters));
    gradient[a] = by_a;
    gradient[b] = by_b;
    if (!is_identifiable(uncertainty, gradient)) return;
    const double deviation =
        std::sqrt(std::max(compute_combination_variance(uncertainty, gradient), 0.0));
    const double share = deviation / std::abs(value);
    if (!(kGain * share <= std::min(relative_deviation(p), relative_deviation(q)))) return;
    if (best && best->rank <= handicap * share) return;
    best = {a, b, {p.name + sign + q.name, value, deviation, unit}, handicap * share};
  };
  offer(" / ", p.value / q.value, 1.0 / q.value, -p.value / (q.value * q.value),
        quotient_unit(p.unit, q.unit), 1.0);
  offer(" · ", p.value * q.value, q.value, p.value, product_unit(p.unit, q.unit), kSimplicity);
  if (p.unit == q.unit) {
    offer(" + ", p.value + q.value, 1.0, 1.0, p.unit, kSimplicity);
    offer(" − ", p.value - q.value, 1.0, -1.0, p.unit, kSimplicity);
  }
  return best;
}

constexpr double kOne = 1e-8;          // tolerance of factors of one
constexpr double kStep = 1e-5;         // of a parameter, for differences of cubic functions
constexpr double kSmallStep = 1e-8;    // [SI] likewise, for parameters near zero
constexpr double kMoved = 1e-12;       // [m]
constexpr double kRoundedOff = 1e-14;  // relative rounding error of a few operations

/// Returns the positions of the joints on each body relative to its first joint.
Eigen::VectorXd lengths(const Mechanism& mechanism) {
  std::vector<Eigen::Vector3d> firsts(mechanism.bodies.size());
  std::vector<bool> has(mechanism.bodies.size(), false);
  std::vector<double> lengths;
  const auto add = [&](int body, int index) {
    Eigen::Vector3d point;
    for (int i = 0; i < 3; ++i) {
      point[i] = mechanism.at(index + i).value;
    }
    if (body >= 0) {
      const auto at = static_cast<std::size_t>(body);
      if (!has[at]) firsts[at] = point;
      has[at] = true;
      point -= firsts[at];
    }
    lengths.insert(lengths.end(), point.begin(), point.end());
  };
  for_each_joint_point(mechanism, add);
  return Eigen::VectorXd::Map(lengths.data(), std::ssize(lengths));
}

/// Returns the derivatives of the standard inertial parameters with respect to the free parameters.
/// Empty if a free parameter changes distances between joints.
Eigen::MatrixXd standard_parameter_derivatives(const Mechanism& mechanism,
                                               const std::vector<int>& requested) {
  Eigen::MatrixXd slopes(standard_parameter_values(mechanism).size(), std::ssize(requested));
  for (std::size_t i = 0; i < requested.size(); ++i) {
    const double value = mechanism.at(requested[i]).value;
    const double step = std::max(kStep * std::abs(value), kSmallStep);
    const auto moved = [&](double by) {
      Mechanism other = mechanism;
      other.at(requested[i]).value += by;
      apply_dependencies(other);
      return other;
    };
    const Mechanism above = moved(step), below = moved(-step);
    if ((lengths(above) - lengths(below)).lpNorm<Eigen::Infinity>() > kMoved) return {};
    const Eigen::VectorXd high = standard_parameter_values(above),
                          low = standard_parameter_values(below);
    // A difference due to rounding means that it does not depend on the parameter.
    const Eigen::ArrayXd rounding = kRoundedOff * high.cwiseAbs().cwiseMax(low.cwiseAbs()).array();
    const Eigen::ArrayXd change = (high - low).array();
    slopes.col(static_cast<Eigen::Index>(i)) =
        (change.abs() > rounding).select(change, 0.0) / (2.0 * step);
  }
  return slopes;
}

}  // namespace

std::vector<ParameterCombination> find_precise_combinations(
    const std::vector<ParameterEstimate>& parameters, const ParameterUncertainty& uncertainty) {
  std::vector<Eigen::Index> members;
  std::vector<Candidate> candidates;
  for (Eigen::Index i = 0; i < std::ssize(parameters); ++i) {
    const ParameterEstimate& parameter = parameters[static_cast<std::size_t>(i)];
    if (parameter.at_bound || !(relative_deviation(parameter) > kPoor)) continue;
    members.push_back(i);
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t j = i + 1; j < members.size(); ++j) {
      const auto best = best_combination(parameters, uncertainty, members[i], members[j]);
      if (best) candidates.push_back(*best);
    }
  }
  std::ranges::sort(candidates, {}, &Candidate::rank);
  std::vector<std::size_t> group(parameters.size());
  std::iota(group.begin(), group.end(), 0U);
  std::vector<ParameterCombination> chosen;
  for (const Candidate& candidate : candidates) {
    const std::size_t from = group[static_cast<std::size_t>(candidate.b)];
    const std::size_t to = group[static_cast<std::size_t>(candidate.a)];
    if (from == to) continue;
    std::ranges::replace(group, from, to);
    chosen.push_back(candidate.combination);
  }
  return chosen;
}

ParameterCombination evaluate_base_parameter(const BaseInertialParameters& base,
                                             const BaseParameter& combination,
                                             const Eigen::VectorXd& standard_parameter_values) {
  ParameterCombination result;
  result.standard_deviation = std::numeric_limits<double>::quiet_NaN();
  for (const BaseParameter::WeightedParameter& term : combination.terms) {
    const StandardInertialParameter& standard =
        base.standard[static_cast<std::size_t>(term.parameter)];
    const bool first = result.description.empty();
    if (first) result.unit = standard.unit;
    result.description += first ? "" : term.factor < 0.0 ? " − " : " + ";
    const double size = std::abs(term.factor);
    if (std::abs(size - 1.0) > kOne) result.description += number_text(size, 4) + " ";
    result.description += standard.name;
  }
  result.value = combination.value(standard_parameter_values);
  return result;
}

std::vector<ParameterCombination> estimate_base_parameters(
    const Mechanism& mechanism, const std::vector<int>& requested,
    const ParameterUncertainty& uncertainty) {
  if (mechanism.joint_count() > kTreeJointsMax) return {};
  const bool any = std::ranges::any_of(requested, [&](int index) {
    return index < mechanism.joint_parameter_index(0, JointParameter::kPointAx);
  });
  const Eigen::MatrixXd slopes =
      any ? standard_parameter_derivatives(mechanism, requested) : Eigen::MatrixXd();
  if (slopes.size() == 0) return {};
  BaseInertialParameters base;
  try {
    base = find_base_inertial_parameters(mechanism);
  } catch (const std::invalid_argument&) {
    return {};  // loops that cannot be closed at random positions
  }
  const Eigen::VectorXd values = standard_parameter_values(mechanism);
  std::vector<ParameterCombination> result;
  for (const BaseParameter& combination : base.base) {
    Eigen::VectorXd along = Eigen::VectorXd::Zero(std::ssize(requested));
    for (const BaseParameter::WeightedParameter& term : combination.terms) {
      along += term.factor * slopes.row(term.parameter).transpose();
    }
    if (along.isZero(0.0)) continue;
    ParameterCombination estimate = evaluate_base_parameter(base, combination, values);
    estimate.standard_deviation =
        std::sqrt(std::max(compute_combination_variance(uncertainty, along), 0.0));
    if (!is_identifiable(uncertainty, along)) {
      estimate.standard_deviation = std::numeric_limits<double>::infinity();
    }
    result.push_back(estimate);
  }
  return result;
}

bool has_known_torque(const Mechanism& mechanism) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    for (const JointParameter quantity : {JointParameter::kMotorGain, JointParameter::kStiffness,
                                          JointParameter::kConstantTorque}) {
      const int index = mechanism.joint_parameter_index(j, quantity);
      if (!is_changed_by_fit(mechanism, index) && mechanism.at(index).value != 0.0) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace estimator
