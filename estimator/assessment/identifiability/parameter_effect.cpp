#include "estimator/assessment/identifiability/parameter_effect.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/fit/free_parameters.hpp"

namespace estimator {
namespace {

constexpr double kOffBoundShare = 1e-3;  // of the residual's norm
constexpr double kNoEffect = 1e-10;      // relative to the residual's norm

/// The norm of the residual, and the norms of its derivatives with respect to each free parameter.
struct ParameterEffect {
  Eigen::VectorXd column_norms;
  double residual_norm;
};

ParameterEffect parameter_effect(const LeastSquaresProblem& problem) {
  ResidualBlock block;
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(problem.layout().arrow_size);
  for (int index = 0; index < problem.block_count(); ++index) {
    problem.linearize(index, block);
    sums += block.arrow_jacobian.topRows(block.rows).colwise().squaredNorm().transpose();
  }
  return {sums.cwiseSqrt(), std::sqrt(problem.cost())};
}

}  // namespace

void move_off_bounds(Mechanism& mechanism, const ProblemFactory& make_problem) {
  const auto at_bound = [](const Parameter& parameter) {
    return parameter.free &&
           (parameter.value <= parameter.lower || parameter.value >= parameter.upper) &&
           parameter.lower < parameter.upper;
  };
  const FreeParameters free(mechanism);
  // Twice: a rate has an effect only after its torque has left zero.
  for (int round = 0; round < 2; ++round) {
    if (std::none_of(mechanism.parameters.begin(), mechanism.parameters.end(), at_bound)) return;
    const ParameterEffect effect = parameter_effect(*make_problem(mechanism));
    for (int i = 0; i < free.size(); ++i) {
      Parameter& parameter =
          mechanism
              .parameters[static_cast<std::size_t>(free.indices()[static_cast<std::size_t>(i)])];
      const double column = effect.column_norms[i];
      if (!at_bound(parameter) || !(column > 0.0)) continue;
      const double distance = std::min(kOffBoundShare * effect.residual_norm / column,
                                       0.5 * (parameter.upper - parameter.lower));
      parameter.value += parameter.value <= parameter.lower ? distance : -distance;
    }
  }
}

std::vector<int> find_parameters_without_effect(const LeastSquaresProblem& problem,
                                                const Mechanism& mechanism) {
  const ParameterEffect effect = parameter_effect(problem);
  const std::vector<int> free = FreeParameters(mechanism).indices();
  std::vector<int> without;
  for (std::size_t i = 0; i < free.size(); ++i) {
    const Parameter& parameter = mechanism.parameters[static_cast<std::size_t>(free[i])];
    const double reach = effect.column_norms[static_cast<Eigen::Index>(i)] *
                         std::max(std::abs(parameter.value), 1.0);
    if (!(reach > kNoEffect * effect.residual_norm)) without.push_back(free[i]);
  }
  return without;
}

}  // namespace estimator
