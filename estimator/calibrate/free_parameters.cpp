#include "estimator/calibrate/free_parameters.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/model/rest_friction.hpp"

namespace estimator {
namespace {

const Parameter& at(const Mechanism& mechanism, int index) {
  return mechanism.parameters[static_cast<std::size_t>(index)];
}

/// How many prior standard deviations the value lies from the prior's mean.
double prior_residual(const Parameter& parameter) {
  return (parameter.value - parameter.prior_mean) / parameter.prior_standard_deviation;
}

template <typename Member>
Eigen::VectorXd gather(const Mechanism& mechanism, const std::vector<int>& indices,
                       Member Parameter::*member) {
  Eigen::VectorXd values(static_cast<Eigen::Index>(indices.size()));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    values[static_cast<Eigen::Index>(i)] = at(mechanism, indices[i]).*member;
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
    Prior prior{index, {}};
    const Tie* const tie = find_tie(mechanism, index);
    const std::vector<TieTerm> terms =
        tie == nullptr ? std::vector<TieTerm>{{index, 1.0}} : tie->terms;
    for (const TieTerm& term : terms) {
      if (const int at = position(term.parameter); at >= 0)
        prior.along.push_back({at, term.factor});
    }
    if (!prior.along.empty()) priors_.push_back(prior);
  }
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
  // A negative excess goes down to where nothing is left of the friction at rest.
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    const int excess = position(mechanism.index_of_hinge(j, HingeQuantity::kStribeckTorque));
    if (excess < 0 || !may_rise_from_rest(mechanism, j)) continue;
    const double kinetic = mechanism.hinge_parameter(j, HingeQuantity::kCoulombTorque).value;
    lower[excess] = std::max(lower[excess], -kinetic);
  }
  return lower;
}

Eigen::VectorXd FreeParameters::upper(const Mechanism& mechanism) const {
  return gather(mechanism, indices_, &Parameter::upper);
}

void FreeParameters::move(const Mechanism& from, const Eigen::VectorXd& step, Mechanism& to) const {
  for (std::size_t i = 0; i < indices_.size(); ++i) {
    to.parameters[static_cast<std::size_t>(indices_[i])].value =
        at(from, indices_[i]).value + step[static_cast<Eigen::Index>(i)];
  }
  apply_ties(to);
}

// Friction that rises from rest is nowhere negative, either.
bool FreeParameters::is_possible(const Mechanism& mechanism) {
  return opposes_motion(mechanism) && std::ranges::all_of(mechanism.ties, [&](const Tie& tie) {
           const Parameter& parameter = at(mechanism, tie.parameter);
           return parameter.value >= parameter.lower && parameter.value <= parameter.upper;
         });
}

double FreeParameters::prior_cost(const Mechanism& mechanism) const {
  double sum = 0.0;
  for (const Prior& prior : priors_) {
    const double residual = angle_noise_ * prior_residual(at(mechanism, prior.parameter));
    sum += residual * residual;
  }
  return sum;
}

void FreeParameters::linearize_priors(const Mechanism& mechanism, int group,
                                      ResidualBlock& out) const {
  shape_block(out, 0, 0, 0, size(), prior_count(), group);
  out.arrow_jacobian.setZero();
  for (std::size_t row = 0; row < priors_.size(); ++row) {
    const Parameter& parameter = at(mechanism, priors_[row].parameter);
    out.residual[static_cast<Eigen::Index>(row)] = angle_noise_ * prior_residual(parameter);
    for (const TieTerm& share : priors_[row].along) {
      out.arrow_jacobian(static_cast<Eigen::Index>(row), share.parameter) =
          angle_noise_ * share.factor / parameter.prior_standard_deviation;
    }
  }
}

}  // namespace estimator
