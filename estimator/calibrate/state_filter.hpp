#pragma once

#include <Eigen/Core>
#include <vector>

namespace estimator {

/// A Kalman filter over the samples of a segment, and its adjoint for smoothing [Bie77]. It is
/// linearised about given states. The filter does not invert covariances, because they may be
/// singular for strongly damped motion or almost zero noise.
///
/// The filter also computes the derivatives X of every mean with respect to the fixed parameters.
/// The errors of a state then have the covariance P + X C Xᵀ. P is the covariance due to the noise
/// of readings and motion, and C the covariance of the parameters. The result is the same as with
/// joint estimation of parameters and states. It is also valid for parameters estimated from other
/// readings.
///
/// "Means" are matrices with 1 + parameters columns: the first column contains the mean relative to
/// the linearisation state, and all other columns contain its derivatives with respect to the
/// parameters.
class StateFilter {
 public:
  struct Reading {
    Eigen::VectorXd slope;        ///< derivative with respect to the state
    Eigen::RowVectorXd residual;  ///< reading minus expected value, then its derivatives
    double variance;
    // Set by the filter: innovation, its variance, and gain.
    Eigen::RowVectorXd innovation = {};
    double spread = 0.0;
    Eigen::VectorXd gain = {};
  };

  /// The estimates of a state and of the disturbance that acts until the next sample, with
  /// covariances.
  struct Estimate {
    Eigen::MatrixXd mean, disturbance;                   ///< means
    Eigen::MatrixXd covariance, disturbance_covariance;  ///< covariances, for exact parameters
    Eigen::MatrixXd cross;  ///< cross-covariance of state and disturbance, for exact parameters
  };

  /// @param mean  mean of the state at the first sample, before its readings
  StateFilter(Eigen::MatrixXd mean, Eigen::MatrixXd covariance)
      : mean_(std::move(mean)), covariance_(std::move(covariance)) {}

  /// Updates the mean and covariance with the readings of the current sample.
  void read(std::vector<Reading> readings);
  /// Returns the mean at the current sample.
  const Eigen::MatrixXd& mean() const { return mean_; }
  /// Moves the linearisation state to the mean: the mean relative to this state becomes zero. The
  /// derivatives of the mean do not change.
  void relinearise_at_mean() { mean_.col(0).setZero(); }
  /// Predicts the mean and covariance at the next sample. Must also be called after the last
  /// sample.
  /// @param slope   derivative of the next state with respect to the current state
  /// @param defect  linearisation state of the next sample minus the predicted state, and its
  ///                derivatives
  /// @param noise   covariance of the disturbance
  void move(const Eigen::MatrixXd& slope, const Eigen::MatrixXd& defect,
            const Eigen::MatrixXd& noise);

  int sample_count() const { return static_cast<int>(samples_.size()); }

  /// Returns the estimate of the state at `sample` from readings up to the later sample `last`. The
  /// computing time is proportional to the number of samples between `sample` and `last`.
  Estimate estimate_state(int sample, int last) const;

  /// Computes smoothed estimates sample by sample, from the last sample to the first.
  class BackwardSmoother;

 private:
  struct Sample {
    Eigen::MatrixXd mean, covariance;  // after its readings
    std::vector<Reading> readings;
    Eigen::MatrixXd slope, noise;
  };
  friend class BackwardSmoother;

  Eigen::MatrixXd mean_, covariance_;
  std::vector<Reading> readings_;
  std::vector<Sample> samples_;
};

class StateFilter::BackwardSmoother {
 public:
  /// @param last  the last sample whose readings are used
  BackwardSmoother(const StateFilter& filter, int last);

  int sample_index() const { return sample_; }
  /// Returns the smoothed estimate of the state at the current sample.
  Estimate estimate_state() const;
  /// Moves to the previous sample.
  void step();

 private:
  const StateFilter& filter_;
  int sample_;
  // Adjoint and information from later readings: at the next sample with its readings, and here.
  Eigen::MatrixXd next_adjoint_, next_information_, adjoint_, information_;
};

}  // namespace estimator
