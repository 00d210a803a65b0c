#include "estimator/calibrate/prior_check.hpp"

#include <Eigen/QR>
#include <cmath>
#include <limits>

#include "estimator/calibrate/free_parameters.hpp"
#include "estimator/calibrate/number_text.hpp"

namespace estimator {
namespace {

const Parameter& at(const Mechanism& mechanism, int index) {
  return mechanism.parameters[static_cast<std::size_t>(index)];
}

Eigen::VectorXd total_score(const ParameterInformation& information) {
  Eigen::VectorXd score = Eigen::VectorXd::Zero(information.schur.rows());
  for (const Eigen::VectorXd& part : information.group_score) score += part;
  return score;
}

/// What is left of the information, and where the estimates would go with it.
struct Rest {
  ParameterInformation information;
  Eigen::VectorXd step;
  ParameterCovariance covariance;
};

/// @param rows  of the priors' block, those that are left out
Rest leave_out(const ParameterInformation& information, const Eigen::VectorXd& variances,
               const Eigen::MatrixXd& slopes, const Eigen::VectorXd& residual) {
  Rest rest{information, {}, {}};
  rest.information.group_schur.back() -= slopes.transpose() * slopes;
  rest.information.group_score.back() += slopes.transpose() * residual;
  analyse_again(rest.information);
  rest.step = rest.information.inverse * total_score(rest.information);
  rest.covariance = compute_covariance(rest.information, variances);
  return rest;
}

/// The conflict of one number: its prior, and what the rest says of it along `gradient`.
PriorConflict compare(const Parameter& parameter, double mean, double deviation,
                      const Eigen::VectorXd& gradient, const Rest& rest) {
  PriorConflict conflict{.parameter = parameter.name,
                         .mean = mean,
                         .without = parameter.value + gradient.dot(rest.step),
                         .deviations = 0.0,
                         .unit = parameter.unit};
  for (Eigen::Index i = 0; i < gradient.size(); ++i) {
    if (gradient[i] != 0.0 && rest.information.undetermined[static_cast<std::size_t>(i)]) {
      return conflict;  // nothing else says anything
    }
  }
  const double variance = gradient.dot(rest.covariance.covariance * gradient);
  const double combined = std::sqrt(deviation * deviation + std::max(variance, 0.0));
  conflict.deviations = std::abs(conflict.without - mean) / combined;
  return conflict;
}

/// Of a drawing: each of its free parameters against the deviation that the drawing gives it while
/// the others are as drawn.
PriorConflict compare_drawing(const Mechanism& mechanism, const FreeParameters& free, int body,
                              const Rest& rest) {
  const InertiaPrior prior(mechanism, body);
  Mechanism drawn = mechanism;
  for (const int index : prior.parameters()) {
    if (index >= 0) {
      drawn.parameters[static_cast<std::size_t>(index)].value = at(mechanism, index).prior_mean;
    }
  }
  const InertiaPrior::Slopes slopes = prior.slopes(drawn);
  std::vector<int> among;
  for (int i = 0; i < 10; ++i) {
    const int index = prior.parameters()[static_cast<std::size_t>(i)];
    if (index >= 0 && free.position(index) >= 0) among.push_back(i);
  }
  const Eigen::MatrixXd own = slopes(Eigen::all, among);
  const Eigen::MatrixXd covariance =
      (own.transpose() * own).completeOrthogonalDecomposition().pseudoInverse();
  PriorConflict worst;
  for (std::size_t i = 0; i < among.size(); ++i) {
    const int index = prior.parameters()[static_cast<std::size_t>(among[i])];
    const auto k = static_cast<Eigen::Index>(i);
    const PriorConflict conflict =
        compare(at(mechanism, index), at(mechanism, index).prior_mean, std::sqrt(covariance(k, k)),
                Eigen::VectorXd::Unit(free.size(), free.position(index)), rest);
    if (i == 0 || conflict.deviations > worst.deviations) worst = conflict;
  }
  return worst;
}

}  // namespace

DataAlone without_priors(const Mechanism& mechanism, const ParameterInformation& information,
                         const Eigen::VectorXd& variances) {
  const FreeParameters free(mechanism);
  if (free.prior_count() == 0 || !information.valid) return {};
  ResidualBlock block;
  free.linearize_priors(mechanism, 0, block);
  const Rest rest = leave_out(information, variances, block.arrow_jacobian, block.residual);
  DataAlone alone{free.values(mechanism) + rest.step, rest.covariance.standard_deviation};
  for (Eigen::Index i = 0; i < alone.values.size(); ++i) {
    if (rest.information.undetermined[static_cast<std::size_t>(i)]) {
      alone.values[i] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return alone;
}

std::vector<PriorConflict> find_conflicts(const Mechanism& mechanism,
                                          const ParameterInformation& information,
                                          const Eigen::VectorXd& variances) {
  std::vector<PriorConflict> conflicts;
  const FreeParameters free(mechanism);
  if (free.prior_count() == 0 || !information.valid) return conflicts;
  ResidualBlock block;
  free.linearize_priors(mechanism, 0, block);
  for (const FreeParameters::PriorRows& rows : free.prior_rows()) {
    const Eigen::MatrixXd slopes = block.arrow_jacobian.middleRows(rows.first, rows.count);
    const Rest rest =
        leave_out(information, variances, slopes, block.residual.segment(rows.first, rows.count));
    PriorConflict conflict;
    if (rows.body >= 0) {
      conflict = compare_drawing(mechanism, free, rows.body, rest);
    } else {
      const Parameter& parameter = at(mechanism, rows.parameter);
      conflict = compare(parameter, parameter.prior_mean, parameter.prior_standard_deviation,
                         parameter.prior_standard_deviation * slopes.row(0).transpose(), rest);
    }
    if (conflict.deviations >= kConflictDeviations) conflicts.push_back(conflict);
  }
  return conflicts;
}

std::string describe(const PriorConflict& conflict) {
  return "the prior of " + conflict.parameter + ", " + number_text(conflict.mean, 4) + " " +
         conflict.unit + ", lies " + number_text(conflict.deviations, 2) +
         " combined deviations from the " + number_text(conflict.without, 4) + " " + conflict.unit +
         " that all else says: the prior is wrong, or the model";
}

}  // namespace estimator
