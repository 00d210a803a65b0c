#include "estimator/fit/inertia_prior.hpp"

#include <Eigen/LU>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "estimator/fit/number_text.hpp"
#include "estimator/math/decompositions.hpp"
#include "estimator/model/inertia/consistent_inertia.hpp"
#include "estimator/model/inertia/inertia_parameterization.hpp"

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
    const auto quantity = static_cast<BodyQuantity>(static_cast<int>(BodyQuantity::kJxx) + i);
    moments[i] = mechanism.parameter(body, quantity).prior_mean;
  }
  return second_moments(inertia_matrix(moments));
}

/// Returns A⁻¹ dA for the upper triangular factor A of Σ, given A⁻¹ dΣ A⁻ᵀ.
Eigen::Matrix3d upper_half(const Eigen::Matrix3d& change) {
  Eigen::Matrix3d half = change.triangularView<Eigen::StrictlyUpper>();
  half.diagonal() = 0.5 * change.diagonal();
  return half;
}

constexpr int kPairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};

}  // namespace

InertiaPrior::InertiaPrior(const Mechanism& mechanism, int body) : body_(body) {
  const Body& own = mechanism.bodies[static_cast<std::size_t>(body)];
  weight_ = std::numbers::sqrt2 / own.cad_uncertainty;
  parameters_[0] = mechanism.index(body, BodyQuantity::kMass);
  const int centre = mechanism.find_parameter(own.name + ".c_x");
  for (int i = 0; i < 3; ++i) {
    parameters_[static_cast<std::size_t>(1 + i)] = centre < 0 ? -1 : centre + i;
    centre_[i] = centre < 0 ? 0.0 : parameter_at(mechanism, centre + i).prior_mean;
  }
  for (int i = 0; i < 6; ++i) {
    parameters_[static_cast<std::size_t>(4 + i)] = mechanism.index(body, BodyQuantity::kJxx) + i;
  }
  mass_ = parameter_at(mechanism, parameters_[0]).prior_mean;
  unfactor_ = upper_cholesky(drawn_second_moments(mechanism, body)).inverse();
}

InertiaPrior::Values InertiaPrior::values(const Mechanism& mechanism) const {
  Moments moments;
  for (int i = 0; i < 6; ++i) {
    moments[i] = parameter_at(mechanism, parameters_[static_cast<std::size_t>(4 + i)]).value;
  }
  Values values{.mass = parameter_at(mechanism, parameters_[0]).value,
                .shift = Eigen::Vector3d::Zero(),
                .sigma = second_moments(inertia_matrix(moments))};
  for (int i = 0; i < 3; ++i) {
    const int index = parameters_[static_cast<std::size_t>(1 + i)];
    if (index >= 0) values.shift[i] = parameter_at(mechanism, index).value - centre_[i];
  }
  return values;
}

std::optional<InertiaPrior::Residual> InertiaPrior::residual(const Mechanism& mechanism) const {
  const auto [mass, shift, sigma] = values(mechanism);
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

InertiaPrior::Sensitivities InertiaPrior::slopes(const Mechanism& mechanism) const {
  const auto [mass, shift, sigma] = values(mechanism);
  const Eigen::Matrix3d A = upper_cholesky(sigma), inverse = A.inverse(), T = unfactor_ * A;
  Sensitivities slopes = Sensitivities::Zero();
  for (int moment = 0; moment < 6; ++moment) {
    const Eigen::Matrix3d change = second_moments(inertia_matrix(Moments::Unit(moment)));
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
  const Body& own = mechanism.bodies[static_cast<std::size_t>(body)];
  if (std::isinf(own.cad_uncertainty)) return;
  const std::string who = "body " + quoted(own.name) + ": ";
  if (!(own.cad_uncertainty > 0.0)) {
    throw std::invalid_argument(who + "cad_uncertainty_percent must be above zero");
  }
  if (own.massless) {
    throw std::invalid_argument(
        who + "it is massless, so cad_uncertainty_percent has no effect; remove it");
  }
  if (!(mechanism.parameter(body, BodyQuantity::kMass).prior_mean > 0.0)) {
    throw std::invalid_argument(who + "cad_uncertainty_percent needs a mass above zero");
  }
  for (int i = static_cast<int>(BodyQuantity::kMass); i < Mechanism::kBodyQuantities; ++i) {
    const Parameter& parameter = mechanism.parameter(body, static_cast<BodyQuantity>(i));
    if (std::isinf(parameter.prior_standard_deviation)) continue;
    throw std::invalid_argument(who + "cad_uncertainty_percent and the prior of " + parameter.name +
                                " both give a prior of the same quantity; remove one");
  }
  const Eigen::Vector3d values = symmetric_eigen3(drawn_second_moments(mechanism, body)).values;
  if (!(values[0] > kFlatnessLimit * values[2])) {
    throw std::invalid_argument(
        who +
        "its CAD values describe a flat or physically inconsistent body, so "
        "cad_uncertainty_percent is undefined; give the body its actual thickness");
  }
}

}  // namespace estimator
