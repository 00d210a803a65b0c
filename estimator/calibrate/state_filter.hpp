#pragma once

#include <Eigen/Core>
#include <vector>

namespace estimator {

/// A Kalman filter over the samples of a segment, linearised about given states, and its adjoint
/// for smoothing [Bie77]. It inverts no covariance, which could be singular for strongly damped
/// motion or almost zero noise.
///
/// Every mean is accompanied by its derivatives with respect to fixed parameters, for given
/// readings. If C is the parameter covariance, a state's errors have the covariance P + X C Xᵀ,
/// with P from readings and noise and X these derivatives. This equals joint estimation of
/// parameters and states, and also holds for parameters from other readings.
///
/// "Means" are matrices of 1 + parameters columns: the mean relative to the linearisation state,
/// then its derivatives.
class StateFilter {
 public:
  struct Reading {
    Eigen::VectorXd slope;        ///< with respect to the state
    Eigen::RowVectorXd residual;  ///< reading minus expected value, then its derivatives
    double variance;
    // Set by the filter: innovation, its variance, and gain.
    Eigen::RowVectorXd innovation = {};
    double spread = 0.0;
    Eigen::VectorXd gain = {};
  };

  /// A state, and its disturbance until the next sample.
  struct Estimate {
    Eigen::MatrixXd mean, disturbance;                   ///< means
    Eigen::MatrixXd covariance, disturbance_covariance;  ///< of each, for exact parameters
    Eigen::MatrixXd cross;  ///< covariance of state and disturbance, likewise
  };

  /// @param mean  of the first sample, before its readings
  StateFilter(Eigen::MatrixXd mean, Eigen::MatrixXd covariance)
      : mean_(std::move(mean)), covariance_(std::move(covariance)) {}

  /// Updates with the readings of the current sample.
  void read(std::vector<Reading> readings);
  /// Mean at the current sample.
  const Eigen::MatrixXd& mean() const { return mean_; }
  /// Moves the linearisation state to the mean: the mean becomes zero, its derivatives stay.
  void relinearise_at_mean() { mean_.col(0).setZero(); }
  /// Predicts the next sample; also to be called after the last one.
  /// @param slope   derivative of the next state with respect to this one
  /// @param defect  linearisation state of the next sample minus the predicted state, and its
  ///                derivatives
  /// @param noise   covariance of the disturbance
  void move(const Eigen::MatrixXd& slope, const Eigen::MatrixXd& defect,
            const Eigen::MatrixXd& noise);

  int sample_count() const { return static_cast<int>(samples_.size()); }

  /// Estimate at a sample from readings up to `last`. Costs one backward step per sample in
  /// between.
  Estimate estimate(int sample, int last) const;

  /// Estimates from all readings, from the last sample to the first, one per call.
  class Backward;

 private:
  struct Sample {
    Eigen::MatrixXd mean, covariance;  // after its readings
    std::vector<Reading> readings;
    Eigen::MatrixXd slope, noise;
  };
  friend class Backward;

  Eigen::MatrixXd mean_, covariance_;
  std::vector<Reading> readings_;
  std::vector<Sample> samples_;
};

class StateFilter::Backward {
 public:
  /// @param last  the last sample whose readings are used
  Backward(const StateFilter& filter, int last);

  int sample() const { return sample_; }
  /// Estimate at the current sample.
  Estimate estimate() const;
  /// Moves to the previous sample.
  void step();

 private:
  const StateFilter& filter_;
  int sample_;
  // Adjoint and information from later readings: at the next sample with its readings, and here.
  Eigen::MatrixXd next_adjoint_, next_information_, adjoint_, information_;
};

}  // namespace estimator
