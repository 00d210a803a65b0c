#include "estimator/fit/free_parameters.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "estimator/model/joint_stop.hpp"
#include "estimator/model/rest_friction.hpp"

namespace estimator {
namespace {

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
    values[static_cast<Eigen::Index>(i)] = parameter_at(mechanism, indices[i]).*member;
  }
  return values;
}

}  // namespace

FreeParameters::FreeParameters(const Mechanism& mechanism, double angle_noise)
    : angle_noise_(angle_noise) {
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    if (mechanism.parameters[i].free) indices_.push_back(static_cast<int>(i));
  }
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    if (!std::isfinite(mechanism.parameters[i].prior_standard_deviation)) continue;
    const auto index = static_cast<int>(i);
    Prior prior{index, along(mechanism, index)};
    if (!prior.along.empty()) priors_.push_back(prior);
  }
  for (int body = 0; body < mechanism.body_count(); ++body) {
    if (std::isinf(mechanism.bodies[static_cast<std::size_t>(body)].cad_uncertainty)) continue;
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

/// Returns the derivatives of a parameter by the free parameters, by arrow position. Empty if it
/// depends on no free parameter.
std::vector<DependencyTerm> FreeParameters::along(const Mechanism& mechanism, int parameter) const {
  const ParameterDependency* const tie = find_dependency(mechanism, parameter);
  const std::vector<DependencyTerm> terms =
      tie == nullptr ? std::vector<DependencyTerm>{{parameter, 1.0}} : tie->terms;
  std::vector<DependencyTerm> along;
  for (const DependencyTerm& term : terms) {
    if (const int at = position(term.parameter); at >= 0) along.push_back({at, term.factor});
  }
  return along;
}

int FreeParameters::position(int parameter_index) const {
  const auto found = std::find(indices_.begin(), indices_.end(), parameter_index);
  return found == indices_.end() ? -1 : static_cast<int>(found - indices_.begin());
}

Eigen::VectorXd FreeParameters::values(const Mechanism& mechanism) const {
  return gather(mechanism, indices_, &Parameter::value);
}

Eigen::VectorXd FreeParameters::lower(const Mechanism& mechanism) const {
  Eigen::VectorXd lower = gather(mechanism, indices_, &Parameter::lower);
  // A negative Stribeck excess is bounded below, since dry friction at rest must not be negative.
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const int excess = position(mechanism.index_of_joint(j, JointQuantity::kStribeckTorque));
    if (excess < 0 || !may_rise_from_rest(mechanism, j)) continue;
    const double kinetic = mechanism.joint_parameter(j, JointQuantity::kCoulombTorque).value;
    lower[excess] = std::max(lower[excess], -kinetic);
  }
  return lower;
}

Eigen::VectorXd FreeParameters::upper(const Mechanism& mechanism) const {
  return gather(mechanism, indices_, &Parameter::upper);
}

Eigen::VectorXd FreeParameters::growth(const Mechanism& mechanism) const {
  Eigen::VectorXd growth = Eigen::VectorXd::Constant(size(), HUGE_VAL);
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const int rate = position(mechanism.index_of_joint(j, JointQuantity::kStribeckRate));
    if (rate >= 0) growth[rate] = kRateGrowth;
  }
  return growth;
}

void FreeParameters::move(const Mechanism& from, const Eigen::VectorXd& step, Mechanism& to) const {
  for (std::size_t i = 0; i < indices_.size(); ++i) {
    to.parameters[static_cast<std::size_t>(indices_[i])].value =
        parameter_at(from, indices_[i]).value + step[static_cast<Eigen::Index>(i)];
  }
  apply_dependencies(to);
}

// Dry friction must not be negative, and end stops must not be exchanged.
bool FreeParameters::is_possible(const Mechanism& mechanism) {
  return opposes_motion(mechanism) && are_stops_apart(mechanism) &&
         std::ranges::all_of(mechanism.dependencies, [&](const ParameterDependency& tie) {
           const Parameter& parameter = parameter_at(mechanism, tie.parameter);
           return parameter.value >= parameter.lower && parameter.value <= parameter.upper;
         });
}

double FreeParameters::prior_cost(const Mechanism& mechanism) const {
  double sum = 0.0;
  for (const Prior& prior : priors_) {
    const double residual = angle_noise_ * prior_residual(parameter_at(mechanism, prior.parameter));
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
  shape_block(out, 0, 0, 0, size(), prior_count(), group);
  out.arrow_jacobian.setZero();
  for (std::size_t row = 0; row < priors_.size(); ++row) {
    const Parameter& parameter = parameter_at(mechanism, priors_[row].parameter);
    out.residual[static_cast<Eigen::Index>(row)] = angle_noise_ * prior_residual(parameter);
    for (const DependencyTerm& share : priors_[row].along) {
      out.arrow_jacobian(static_cast<Eigen::Index>(row), share.parameter) =
          angle_noise_ * share.factor / parameter.prior_standard_deviation;
    }
  }
  auto row = static_cast<Eigen::Index>(priors_.size());
  for (const CadPrior& drawing : cad_priors_) {
    const auto residual = drawing.prior.residual(mechanism);
    assert(residual);  // a point without finite cost is never accepted
    out.residual.segment<InertiaPrior::kRows>(row) = angle_noise_ * *residual;
    const InertiaPrior::Sensitivities slopes = angle_noise_ * drawing.prior.slopes(mechanism);
    for (std::size_t i = 0; i < drawing.along.size(); ++i) {
      for (const DependencyTerm& share : drawing.along[i]) {
        out.arrow_jacobian.col(share.parameter).segment<InertiaPrior::kRows>(row) +=
            share.factor * slopes.col(static_cast<Eigen::Index>(i));
      }
    }
    row += InertiaPrior::kRows;
  }
}

std::vector<FreeParameters::PriorRows> FreeParameters::prior_rows() const {
  std::vector<PriorRows> rows;
  int first = 0;
  for (const Prior& prior : priors_) rows.push_back({prior.parameter, -1, first++, 1});
  for (const CadPrior& drawing : cad_priors_) {
    rows.push_back({-1, drawing.prior.body(), first, InertiaPrior::kRows});
    first += InertiaPrior::kRows;
  }
  return rows;
}

}  // namespace estimator
