#include "estimator/assessment/intervals/confidence_intervals.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "estimator/assessment/calibration.hpp"
#include "estimator/math/decompositions.hpp"

namespace estimator {
namespace {

/// Returns a matrix R with R Rᵀ = A for a possibly singular covariance A.
Eigen::MatrixXd square_root(const Eigen::MatrixXd& A) {
  const SymmetricEigen eigen = symmetric_eigen(A);
  return eigen.vectors * eigen.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

/// Returns the covariance of the cost gradient due to normally distributed reading errors.
Eigen::MatrixXd normal_scatter(const ParameterInformation& information,
                               const Eigen::VectorXd& variances,
                               const QuantizationErrors& counting) {
  Eigen::MatrixXd scatter = counting.normal_scatter;
  for (std::size_t g = 0; g < information.group_schur.size(); ++g) {
    const auto counts = [&](const QuantizedSensor& s) { return s.sensor == static_cast<int>(g); };
    if (std::any_of(counting.sensors.begin(), counting.sensors.end(), counts)) continue;
    scatter += variances[static_cast<Eigen::Index>(g)] * information.group_schur[g];
  }
  return scatter;
}

constexpr double kConcerned = 0.5;  // standard deviations; smaller changes are not listed

/// Returns a clause about the best value of a parameter at a bound.
Message describe_optimum(const Mechanism& mechanism, const std::vector<int>& estimated,
                         const ParameterInformation& information, const ReleasedParameter& freed,
                         const std::vector<int>& profiled) {
  if (!(freed.deviation > 0.0)) return MessageCode::kUnidentifiableAtBound;
  const double reach = freed.reach();
  if (reach <= 0.0) {
    return {MessageCode::kOptimumBeyondBound,
            {{"excess", -freed.unconstrained_change / freed.deviation}}};
  }
  const auto parameter = [&](Eigen::Index at) -> const Parameter& {
    return mechanism.at(estimated[static_cast<std::size_t>(at)]);
  };
  const bool lower = information.at_bound[freed.position] < 0;
  std::vector<Message> changes;
  for (std::size_t i = 0; i < freed.free.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    if (information.undetermined[static_cast<std::size_t>(freed.free[i])]) continue;
    const double moved = reach * freed.slopes[at] * (lower ? 1.0 : -1.0);
    if (!(std::abs(moved) > kConcerned * freed.deviations[at])) continue;
    const Parameter& partner = parameter(freed.free[i]);
    changes.push_back({MessageCode::kChangedEstimate,
                       {{"parameter", partner.name},
                        {"change", Quantity{moved, partner.unit}},
                        {"deviations", std::abs(moved) / freed.deviations[at]}}});
  }
  Message interval(
      MessageCode::kIntervalAtBound,
      {{"reach", Quantity{reach, parameter(freed.position).unit}}, {"is_alone", changes.empty()}});
  if (!changes.empty()) {
    interval.arguments.push_back({"changes", std::move(changes)});
    interval.arguments.push_back(
        {"is_profiled", std::ranges::count(profiled, static_cast<int>(freed.position)) > 0});
  }
  return interval;
}

}  // namespace

Eigen::VectorXd compute_confidence_half_widths(const ParameterInformation& information,
                                               const Eigen::VectorXd& variances,
                                               const QuantizationErrors& counting) {
  const ParameterCovariance covariance = compute_covariance(information, variances);
  Eigen::VectorXd half = kNormalHalfWidth95 * covariance.standard_deviation;
  if (counting.sensors.empty()) return half;
  const Eigen::MatrixXd root = square_root(normal_scatter(information, variances, counting));
  std::mt19937_64 random;  // fixed seed on purpose: repeatable results
  std::normal_distribution<double> gaussian;
  const Eigen::MatrixXd normal = Eigen::MatrixXd::NullaryExpr(half.size(), counting.draws.cols(),
                                                              [&] { return gaussian(random); });
  Eigen::MatrixXd magnitudes =
      (information.inverse * (counting.draws + root * normal)).cwiseAbs().transpose();
  const Eigen::Index rank = magnitudes.rows() * 95 / 100;
  for (Eigen::Index parameter = 0; parameter < half.size(); ++parameter) {
    if (!(half[parameter] > 0.0) || std::isinf(half[parameter])) continue;
    auto column = magnitudes.col(parameter);
    std::nth_element(column.begin(), column.begin() + rank, column.end());
    half[parameter] = column[rank];
  }
  return half;
}

ReleasedParameter release_from_bound(const ParameterInformation& information,
                                     const Eigen::VectorXd& variances, Eigen::Index position) {
  ReleasedParameter freed;
  freed.position = position;
  for (Eigen::Index i = 0; i < information.schur.rows(); ++i) {
    if (information.at_bound[i] == 0) freed.free.push_back(i);
  }
  const Eigen::Index n = std::ssize(freed.free);
  const Eigen::MatrixXd noise = compute_score_covariance(information, variances);
  const Eigen::VectorXd score = compute_total_score(information);
  // S over the others is already inverted; add one row by its Schur complement.
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Zero(n, n);
  if (n > 0) inverse = information.inverse(freed.free, freed.free);
  const Eigen::VectorXd cross = information.schur.col(position)(freed.free);
  const Eigen::VectorXd own = score(freed.free);
  freed.slopes = -inverse * cross;
  const double left = information.schur(position, position) + cross.dot(freed.slopes);
  const double inward = -static_cast<double>(information.at_bound[position]);
  Eigen::VectorXd along = Eigen::VectorXd::Zero(information.schur.rows());
  along[position] = 1.0;
  along(freed.free) = freed.slopes;
  freed.unconstrained_change = inward * (score[position] + freed.slopes.dot(own)) / left;
  freed.deviation = std::sqrt(along.dot(noise * along)) / left;
  freed.deviations.setZero(n);
  if (n > 0) {
    const Eigen::MatrixXd middle = noise(freed.free, freed.free);
    freed.deviations = (inverse * middle * inverse).diagonal().cwiseSqrt();
  }
  return freed;
}

bool ReleasedParameter::changes_others() const {
  return (reach() * slopes.cwiseAbs().array() > kConcerned * deviations.array()).any();
}

Eigen::VectorXd compute_interval_widths_at_bounds(const ParameterInformation& information,
                                                  const Eigen::VectorXd& variances) {
  Eigen::VectorXd reaches = Eigen::VectorXd::Zero(information.at_bound.size());
  for (Eigen::Index i = 0; i < reaches.size(); ++i) {
    if (information.at_bound[i] == 0) continue;
    const ReleasedParameter freed = release_from_bound(information, variances, i);
    reaches[i] = freed.deviation > 0.0 ? std::max(freed.reach(), 0.0) : HUGE_VAL;
  }
  return reaches;
}

std::vector<Message> describe_parameters_at_bounds(const Mechanism& mechanism,
                                                   const std::vector<int>& estimated,
                                                   const ParameterInformation& information,
                                                   const Eigen::VectorXd& variances,
                                                   const std::vector<int>& profiled) {
  std::vector<Message> notes;
  if (!information.valid) return notes;
  for (Eigen::Index i = 0; i < information.at_bound.size(); ++i) {
    if (information.at_bound[i] == 0) continue;
    const int index = estimated[static_cast<std::size_t>(i)];
    const Parameter& own = mechanism.at(index);
    const bool lower = information.at_bound[i] < 0;
    const Message optimum = describe_optimum(
        mechanism, estimated, information, release_from_bound(information, variances, i), profiled);
    notes.push_back({MessageCode::kAtBound,
                     {{"parameter", own.name},
                      {"lower", lower},
                      {"bound", lower ? own.lower : own.upper},
                      {"optimum", std::vector<Message>{optimum}}}});
  }
  return notes;
}

}  // namespace estimator
