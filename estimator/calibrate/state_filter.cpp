#include "estimator/calibrate/state_filter.hpp"

#include <utility>

namespace estimator {

void StateFilter::read(std::vector<Reading> readings) {
  readings_ = std::move(readings);
  for (Reading& reading : readings_) {
    const Eigen::VectorXd cross = covariance_ * reading.slope;
    reading.spread = reading.slope.dot(cross) + reading.variance;
    reading.innovation = reading.residual - reading.slope.transpose() * mean_;
    reading.gain = cross / reading.spread;
    mean_ += reading.gain * reading.innovation;
    covariance_ -= reading.gain * cross.transpose();
  }
}

void StateFilter::move(const Eigen::MatrixXd& slope, const Eigen::MatrixXd& defect,
                       const Eigen::MatrixXd& noise) {
  samples_.push_back({mean_, covariance_, std::move(readings_), slope, noise});
  readings_.clear();
  mean_ = slope * mean_ - defect;
  covariance_ = (slope * covariance_ * slope.transpose()).eval() + noise;
}

StateFilter::Estimate StateFilter::estimate_state(int sample, int last) const {
  BackwardSmoother backward(*this, last);
  while (backward.sample_index() > sample) backward.step();
  return backward.estimate_state();
}

StateFilter::BackwardSmoother::BackwardSmoother(const StateFilter& filter, int last)
    : filter_(filter), sample_(last) {
  const Eigen::MatrixXd& mean = filter.samples_.front().mean;
  next_adjoint_ = adjoint_ = Eigen::MatrixXd::Zero(mean.rows(), mean.cols());
  next_information_ = information_ = Eigen::MatrixXd::Zero(mean.rows(), mean.rows());
}

StateFilter::Estimate StateFilter::BackwardSmoother::estimate_state() const {
  const Sample& own = filter_.samples_[static_cast<std::size_t>(sample_)];
  const Eigen::MatrixXd& P = own.covariance;
  const Eigen::MatrixXd& Q = own.noise;
  return {.mean = own.mean - P * adjoint_,
          .disturbance = -Q * next_adjoint_,
          .covariance = P - P * information_ * P,
          .disturbance_covariance = Q - Q * next_information_ * Q,
          .cross = -P * own.slope.transpose() * next_information_ * Q};
}

void StateFilter::BackwardSmoother::step() {
  const Sample& own = filter_.samples_[static_cast<std::size_t>(sample_)];
  for (std::size_t i = own.readings.size(); i-- > 0;) {
    const Reading& reading = own.readings[i];
    const Eigen::VectorXd& slope = reading.slope;
    adjoint_ -= slope * (reading.gain.transpose() * adjoint_ + reading.innovation / reading.spread);
    const Eigen::VectorXd passed = information_ * reading.gain;
    const double weight = reading.gain.dot(passed) + 1.0 / reading.spread;
    information_ += slope * (weight * slope - passed).transpose();
    information_ -= passed * slope.transpose();
  }
  next_adjoint_ = adjoint_;
  next_information_ = information_;
  const Eigen::MatrixXd& move = filter_.samples_[static_cast<std::size_t>(--sample_)].slope;
  adjoint_ = (move.transpose() * adjoint_).eval();
  information_ = (move.transpose() * information_ * move).eval();
}

}  // namespace estimator
