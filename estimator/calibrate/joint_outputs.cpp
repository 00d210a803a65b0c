#include "estimator/calibrate/joint_outputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "estimator/math/decompositions.hpp"

namespace estimator {
namespace {

constexpr std::size_t kLoadBatch = 64;  // samples whose loads are computed together

/// Returns a matrix root with root·rootᵀ = `covariance`, which may be singular.
Eigen::MatrixXd root_of(const Eigen::MatrixXd& covariance) {
  if (covariance.size() == 0) return covariance;
  const SymmetricEigen solved = symmetric_eigen(covariance);
  return solved.vectors * solved.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

/// Returns the standard deviations of quantities, given their derivatives with respect to motion
/// and parameters.
Eigen::VectorXd deviations_of(const Eigen::MatrixXd& slopes, const Eigen::MatrixXd& covariance,
                              const Eigen::MatrixXd& along_root) {
  const Eigen::VectorXd variance = (slopes * covariance).cwiseProduct(slopes).rowwise().sum();
  const Eigen::VectorXd of_parameters = along_root.rowwise().squaredNorm();
  return (variance.cwiseMax(0.0) + of_parameters).cwiseSqrt();
}

}  // namespace

JointOutputs::JointOutputs(const SegmentSteps& steps, const StateOptions& options,
                           StateEstimate& out)
    : steps_(steps), out_(out), root_(root_of(options.spread.covariance)) {
  const Mechanism& mechanism = steps.freed();
  const auto columns = steps.joint_count() * kStateQuantities;
  out.times = steps.times();
  out.values.setConstant(steps.sample_count(), columns, std::numeric_limits<double>::quiet_NaN());
  out.deviations = out.values;
  std::vector<int> axes, moving;
  for (int j = 0; options.loads && j < steps.joint_count(); ++j) {
    for (int load = 0; load < static_cast<int>(JointLoad::kCount); ++load) {
      const int quantity = quantity_of(static_cast<JointLoad>(load));
      if (!is_observable(mechanism, j, quantity)) continue;
      axes.push_back(load_axis(mechanism, j, static_cast<JointLoad>(load)));
      quantities_.push_back(quantity);
      joints_.push_back(j);
    }
  }
  if (axes.empty()) return;
  for (const int index : options.spread.parameters) {
    const bool moves = steps.moves(index);
    columns_.push_back(moves ? static_cast<int>(moving.size()) : -1);
    if (moves) moving.push_back(index);
  }
  loads_ = std::make_unique<const SensingProgram>(steps.values(), axes, moving);
}

void JointOutputs::add(int sample, const SampleStep& step, const StateFilter::Estimate& estimate) {
  const int c = steps_.coordinate_count(), n = steps_.joint_count();
  const Eigen::MatrixXd S = step.motion_sensitivities.leftCols(2 * c);
  // Disturbances as accelerations that are constant until the next sample.
  Eigen::MatrixXd B = Eigen::MatrixXd::Zero(S.rows(), 2 * c);
  B.block(2 * n, c, n, c) = S.block(n, c, n, c) / steps_.period(sample);
  const Eigen::MatrixXd means = S * estimate.mean + B * estimate.disturbance;
  const Eigen::MatrixXd mixed = S * estimate.cross * B.transpose();
  waiting_.push_back(
      {sample, step.motion + means.col(0),
       S * estimate.covariance * S.transpose() +
           B * estimate.disturbance_covariance * B.transpose() + mixed + mixed.transpose(),
       means.rightCols(means.cols() - 1) +
           step.motion_sensitivities.rightCols(step.motion_sensitivities.cols() - 2 * c)});
  if (waiting_.size() == kLoadBatch) flush();
}

void JointOutputs::flush() {
  Eigen::MatrixXd values;
  std::vector<IntervalSensitivities::RowMajor> slopes(waiting_.size());
  values.resize(0, std::ssize(waiting_));
  if (loads_ && !waiting_.empty()) {
    Eigen::MatrixXd motion(waiting_.front().value.size(), std::ssize(waiting_));
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      motion.col(static_cast<Eigen::Index>(i)) = waiting_[i].value;
    }
    sense_motion(*loads_, steps_.values(), motion, values, slopes);
  }
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    write(waiting_[i], values.col(static_cast<Eigen::Index>(i)), slopes[i]);
  }
  waiting_.clear();
}

/// Writes motion, loads and standard deviations of one sample to the result.
/// @param slopes  derivatives of the loads, with columns for joint angles, rates, accelerations,
///                parameters and controls
void JointOutputs::write(const Motion& motion, const Eigen::VectorXd& loads,
                         const Eigen::MatrixXd& slopes) {
  const int n = steps_.joint_count(), moves = 3 * n;
  const Eigen::MatrixXd along = motion.along * root_;
  const Eigen::VectorXd own =
      deviations_of(Eigen::MatrixXd::Identity(motion.value.size(), motion.value.size()),
                    motion.covariance, along);
  for (int j = 0; j < n; ++j) {
    for (int part = 0; part < 3; ++part) {
      out_.values(motion.sample, StateEstimate::column(j, part)) = motion.value[part * n + j];
      out_.deviations(motion.sample, StateEstimate::column(j, part)) = own[part * n + j];
    }
  }
  if (!loads_) return;
  const Eigen::Index motors = motion.value.size() - moves;
  Eigen::MatrixXd by_motion(loads.size(), motion.value.size());
  by_motion << slopes.leftCols(moves), slopes.rightCols(motors);
  Eigen::MatrixXd by_parameters = by_motion * motion.along;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i] < 0) continue;
    by_parameters.col(static_cast<Eigen::Index>(i)) += slopes.col(moves + columns_[i]);
  }
  const Eigen::VectorXd spread = deviations_of(by_motion, motion.covariance, by_parameters * root_);
  for (std::size_t i = 0; i < quantities_.size(); ++i) {
    const Eigen::Index column = StateEstimate::column(joints_[i], quantities_[i]);
    out_.values(motion.sample, column) = loads[static_cast<Eigen::Index>(i)];
    out_.deviations(motion.sample, column) = spread[static_cast<Eigen::Index>(i)];
  }
}

}  // namespace estimator
