#include "estimator/fit/free_parameters.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>

#include "estimator/fit/number_text.hpp"
#include "estimator/math/decompositions.hpp"
#include "estimator/model/inertia/inertia_parameterization.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/joint_stop.hpp"

namespace estimator {
namespace {

constexpr double kSeriesBelow = 1e-2;  // t − 1| below which φ loses accuracy; eight terms are exact

/// Returns φ(t)/(t − 1) for the function φ of InertiaPrior. With u = t − 1 it follows from φ² = u²
/// + 2 (u − log(1 + u)) = u² (2 − 2u/3 + 2u²/4 − …).
double phi_quotient(double u) {
  if (std::abs(u) > kSeriesBelow) {
    return std::sqrt(u * u + 2.0 * (u - std::log1p(u))) / std::abs(u);
  }
  double sum = 1.0, power = 2.0;
  for (int k = 2; k <= 9; ++k) {
    sum += power / k;
    power *= -u;
  }
  return std::sqrt(sum);
}

double phi(double t) { return (t - 1.0) * phi_quotient(t - 1.0); }

/// Returns the derivative φ' = (t − 1/t)/φ of the function φ of InertiaPrior.
double phi_slope(double t) { return (t + 1.0) / (t * phi_quotient(t - 1.0)); }

Eigen::Matrix3d drawn_second_moments(const Mechanism& mechanism, int body) {
  Moments moments;
  for (int i = 0; i < 6; ++i) {
    const auto quantity = static_cast<BodyParameter>(static_cast<int>(BodyParameter::kJxx) + i);
    moments[i] = mechanism.parameter(body, quantity).prior_mean;
  }
  return inertia_to_second_moments(inertia_matrix(moments));
}

/// Returns A⁻¹ dA for the upper triangular factor A of Σ, given A⁻¹ dΣ A⁻ᵀ.
Eigen::Matrix3d upper_half(const Eigen::Matrix3d& change) {
  Eigen::Matrix3d half = change.triangularView<Eigen::StrictlyUpper>();
  half.diagonal() = 0.5 * change.diagonal();
  return half;
}

constexpr int kPairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};

constexpr double kRateGrowth = 4.0;  // largest factor per step; exp(−ζ ω²) stays nearly linear in ζ

/// Returns the deviation of a parameter from its prior mean, in prior standard deviations.
double prior_residual(const Parameter& parameter) {
  return (parameter.value - parameter.prior_mean) / parameter.prior_standard_deviation;
}

template <typename Member>
Eigen::VectorXd gather(const Mechanism& mechanism, const std::vector<int>& indices,
                       Member Parameter::*member) {
  Eigen::VectorXd values(static_cast<Eigen::Index>(indices.size()));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    values[i] = mechanism.at(indices[i]).*member;
  }
  return values;
}

}  // namespace

InertiaPrior::InertiaPrior(const Mechanism& mechanism, int body) : body_(body) {
  const Body& own = mechanism.bodies[body];
  weight_ = std::numbers::sqrt2 / own.cad_uncertainty;
  parameters_[0] = mechanism.index(body, BodyParameter::kMass);
  const int centre = mechanism.find_parameter(own.name + ".c_x");
  for (int i = 0; i < 3; ++i) {
    parameters_[1 + i] = centre < 0 ? -1 : centre + i;
    centre_[i] = centre < 0 ? 0.0 : mechanism.at(centre + i).prior_mean;
  }
  for (int i = 0; i < 6; ++i) {
    parameters_[4 + i] = mechanism.index(body, BodyParameter::kJxx) + i;
  }
  mass_ = mechanism.at(parameters_[0]).prior_mean;
  unfactor_ = upper_cholesky(drawn_second_moments(mechanism, body)).inverse();
}

InertiaPrior::InertiaValues InertiaPrior::inertia_values(const Mechanism& mechanism) const {
  Moments moments;
  for (int i = 0; i < 6; ++i) {
    moments[i] = mechanism.at(parameters_[4 + i]).value;
  }
  InertiaValues values{.mass = mechanism.at(parameters_[0]).value,
                       .shift = Eigen::Vector3d::Zero(),
                       .sigma = inertia_to_second_moments(inertia_matrix(moments))};
  for (int i = 0; i < 3; ++i) {
    const int index = parameters_[1 + i];
    if (index >= 0) values.shift[i] = mechanism.at(index).value - centre_[i];
  }
  return values;
}

std::optional<InertiaPrior::Residual> InertiaPrior::residual(const Mechanism& mechanism) const {
  const auto [mass, shift, sigma] = inertia_values(mechanism);
  const Eigen::Matrix3d A = upper_cholesky(sigma);
  if (!(mass > 0.0) || !(A.diagonal().minCoeff() > 0.0) || !A.allFinite()) return std::nullopt;
  const Eigen::Matrix3d T = unfactor_ * A;
  Residual residual;
  for (int i = 0; i < 3; ++i) {
    residual[i] = phi(T(i, i));
    residual[3 + i] = T(kPairs[i][0], kPairs[i][1]);
  }
  residual.segment<3>(6) = unfactor_ * (std::sqrt(mass) * shift);
  residual[9] = phi(std::sqrt(mass / mass_));
  return Residual(weight_ * residual);
}

InertiaPrior::Sensitivities InertiaPrior::sensitivities(const Mechanism& mechanism) const {
  const auto [mass, shift, sigma] = inertia_values(mechanism);
  const Eigen::Matrix3d A = upper_cholesky(sigma), inverse = A.inverse(), T = unfactor_ * A;
  Sensitivities slopes = Sensitivities::Zero();
  for (int moment = 0; moment < 6; ++moment) {
    const Eigen::Matrix3d change = inertia_to_second_moments(inertia_matrix(Moments::Unit(moment)));
    const Eigen::Matrix3d turned = T * upper_half(inverse * change * inverse.transpose());
    for (int i = 0; i < 3; ++i) {
      slopes(i, 4 + moment) = phi_slope(T(i, i)) * turned(i, i);
      slopes(3 + i, 4 + moment) = turned(kPairs[i][0], kPairs[i][1]);
    }
  }
  const double root = std::sqrt(mass);
  slopes.block<3, 1>(6, 0) = unfactor_ * shift / (2.0 * root);
  slopes.block<3, 3>(6, 1) = root * unfactor_;
  slopes(9, 0) = phi_slope(std::sqrt(mass / mass_)) / (2.0 * std::sqrt(mass * mass_));
  return weight_ * slopes;
}

void check_cad_prior(const Mechanism& mechanism, int body) {
  const Body& own = mechanism.bodies[body];
  if (std::isinf(own.cad_uncertainty)) return;
  const std::string who = "body " + quoted(own.name) + ": ";
  if (!(own.cad_uncertainty > 0.0)) {
    throw std::invalid_argument(who + "cad_uncertainty_percent must be above zero");
  }
  if (own.massless) {
    throw std::invalid_argument(
        who + "it is massless, so cad_uncertainty_percent has no effect; remove it");
  }
  if (!(mechanism.parameter(body, BodyParameter::kMass).prior_mean > 0.0)) {
    throw std::invalid_argument(who + "cad_uncertainty_percent needs a mass above zero");
  }
  for (int i = static_cast<int>(BodyParameter::kMass); i < Mechanism::kBodyParameters; ++i) {
    const Parameter& parameter = mechanism.parameter(body, static_cast<BodyParameter>(i));
    if (std::isinf(parameter.prior_standard_deviation)) continue;
    throw std::invalid_argument(who + "two priors for " + parameter.name +
                                ", its own and cad_uncertainty_percent; remove one");
  }
  const Eigen::Vector3d values = symmetric_eigen3(drawn_second_moments(mechanism, body)).values;
  if (!(values[0] > kFlatnessLimit * values[2])) {
    throw std::invalid_argument(
        who +
        "cad_uncertainty_percent is undefined for a flat or physically inconsistent body; "
        "give the body its actual thickness");
  }
}

Mechanism fix_parameters(Mechanism mechanism) {
  for (Parameter& parameter : mechanism.parameters) parameter.free = false;
  return mechanism;
}

FreeParameters::FreeParameters(const Mechanism& mechanism, double angle_noise)
    : angle_noise_(angle_noise) {
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    if (mechanism.parameters[i].free) indices_.push_back(static_cast<int>(i));
  }
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    if (!std::isfinite(mechanism.parameters[i].prior_standard_deviation)) continue;
    const auto index = static_cast<int>(i);
    GaussianPriorTerm prior{index, along(mechanism, index)};
    if (!prior.along.empty()) priors_.push_back(prior);
  }
  for (int body = 0; body < mechanism.body_count(); ++body) {
    if (std::isinf(mechanism.bodies[body].cad_uncertainty)) continue;
    CadPrior drawing{InertiaPrior(mechanism, body), {}};
    for (std::size_t i = 0; i < drawing.along.size(); ++i) {
      const int index = drawing.prior.parameters()[i];
      if (index >= 0) drawing.along[i] = along(mechanism, index);
    }
    if (std::ranges::any_of(drawing.along, [](const auto& terms) { return !terms.empty(); })) {
      cad_priors_.push_back(drawing);
    }
  }
}

/// Returns the nonzero derivatives of a parameter with respect to the free parameters.
std::vector<DependencyTerm> FreeParameters::along(const Mechanism& mechanism, int parameter) const {
  const ParameterDependency* const tie = find_dependency(mechanism, parameter);
  const std::vector<DependencyTerm> terms =
      tie == nullptr ? std::vector<DependencyTerm>{{parameter, 1.0}} : tie->terms;
  std::vector<DependencyTerm> along;
  for (const DependencyTerm& term : terms) {
    if (const int at = find_position(term.parameter); at >= 0) along.push_back({at, term.factor});
  }
  return along;
}

int FreeParameters::find_position(int parameter_index) const {
  const auto found = std::find(indices_.begin(), indices_.end(), parameter_index);
  return found == indices_.end() ? -1 : static_cast<int>(found - indices_.begin());
}

Eigen::VectorXd FreeParameters::parameter_values(const Mechanism& mechanism) const {
  return gather(mechanism, indices_, &Parameter::value);
}

Eigen::VectorXd FreeParameters::lower(const Mechanism& mechanism) const {
  Eigen::VectorXd lower = gather(mechanism, indices_, &Parameter::lower);
  // A negative Stribeck excess is bounded below, since dry friction at rest must not be negative.
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const int excess =
        find_position(mechanism.joint_parameter_index(j, JointParameter::kStribeckTorque));
    if (excess < 0 || !can_friction_rise_from_rest(mechanism, j)) continue;
    const double kinetic = mechanism.joint_parameter(j, JointParameter::kCoulombTorque).value;
    lower[excess] = std::max(lower[excess], -kinetic);
  }
  return lower;
}

Eigen::VectorXd FreeParameters::upper(const Mechanism& mechanism) const {
  return gather(mechanism, indices_, &Parameter::upper);
}

Eigen::VectorXd FreeParameters::step_factor_limits(const Mechanism& mechanism) const {
  Eigen::VectorXd growth = Eigen::VectorXd::Constant(size(), HUGE_VAL);
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const int rate =
        find_position(mechanism.joint_parameter_index(j, JointParameter::kStribeckRate));
    if (rate >= 0) growth[rate] = kRateGrowth;
  }
  return growth;
}

void FreeParameters::move(const Mechanism& from, const Eigen::VectorXd& step, Mechanism& to) const {
  for (std::size_t i = 0; i < indices_.size(); ++i) {
    to.parameters[indices_[i]].value = from.at(indices_[i]).value + step[i];
  }
  apply_dependencies(to);
}

// Dry friction must not be negative, and end stops must not be exchanged.
bool FreeParameters::has_valid_dependent_parameters(const Mechanism& mechanism) {
  return friction_opposes_motion(mechanism) && are_end_stops_ordered(mechanism) &&
         std::ranges::all_of(mechanism.dependencies, [&](const ParameterDependency& tie) {
           const Parameter& parameter = mechanism.at(tie.parameter);
           return parameter.value >= parameter.lower && parameter.value <= parameter.upper;
         });
}

double FreeParameters::prior_cost(const Mechanism& mechanism) const {
  double sum = 0.0;
  for (const GaussianPriorTerm& prior : priors_) {
    const double residual = angle_noise_ * prior_residual(mechanism.at(prior.parameter));
    sum += residual * residual;
  }
  for (const CadPrior& drawing : cad_priors_) {
    const auto residual = drawing.prior.residual(mechanism);
    if (!residual) return std::numeric_limits<double>::infinity();
    sum += angle_noise_ * angle_noise_ * residual->squaredNorm();
  }
  return sum;
}

void FreeParameters::linearize_priors(const Mechanism& mechanism, int group,
                                      ResidualBlock& out) const {
  resize_block(out, 0, 0, 0, size(), prior_residual_count(), group);
  out.parameter_jacobian.setZero();
  for (std::size_t row = 0; row < priors_.size(); ++row) {
    const Parameter& parameter = mechanism.at(priors_[row].parameter);
    out.residual[row] = angle_noise_ * prior_residual(parameter);
    for (const DependencyTerm& share : priors_[row].along) {
      out.parameter_jacobian(static_cast<Eigen::Index>(row), share.parameter) =
          angle_noise_ * share.factor / parameter.prior_standard_deviation;
    }
  }
  auto row = static_cast<Eigen::Index>(priors_.size());
  for (const CadPrior& drawing : cad_priors_) {
    const auto residual = drawing.prior.residual(mechanism);
    assert(residual);  // a point without finite cost is never accepted
    out.residual.segment<InertiaPrior::kRows>(row) = angle_noise_ * *residual;
    const InertiaPrior::Sensitivities slopes =
        angle_noise_ * drawing.prior.sensitivities(mechanism);
    for (std::size_t i = 0; i < drawing.along.size(); ++i) {
      for (const DependencyTerm& share : drawing.along[i]) {
        out.parameter_jacobian.col(share.parameter).segment<InertiaPrior::kRows>(row) +=
            share.factor * slopes.col(i);
      }
    }
    row += InertiaPrior::kRows;
  }
}

std::vector<FreeParameters::PriorRows> FreeParameters::prior_rows() const {
  std::vector<PriorRows> rows;
  int first = 0;
  for (const GaussianPriorTerm& prior : priors_) rows.push_back({prior.parameter, -1, first++, 1});
  for (const CadPrior& drawing : cad_priors_) {
    rows.push_back({-1, drawing.prior.body(), first, InertiaPrior::kRows});
    first += InertiaPrior::kRows;
  }
  return rows;
}

}  // namespace estimator
