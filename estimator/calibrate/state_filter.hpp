#pragma once

#include <Eigen/Core>
#include <vector>

namespace estimator {

/// A Kalman filter over the samples of a segment, linearised about states that need not be its own,
/// and its adjoint back [Bie77], which inverts no covariance: motion that forgets its past, or
/// noise that is next to nothing, would forbid that.
///
/// Beside every mean go its derivatives along parameters that are kept, at given readings. With C
/// the covariance of their values, the errors of a state have P + X C Xᵀ, P from readings and noise
/// and X these derivatives: as if parameters and states had been estimated together, and also where
/// the parameters are from other readings.
///
/// "Means" are matrices of 1 + parameters columns: the mean's distance from what the state is
/// linearised about, then its derivatives.
class StateFilter {
 public:
  struct Reading {
    Eigen::VectorXd slope;        ///< along the state
    Eigen::RowVectorXd residual;  ///< value less what is expected, then its derivatives
    double variance;
    // Of the filter: what the reading brought, how uncertain that was, how much was made of it.
    Eigen::RowVectorXd innovation = {};
    double spread = 0.0;
    Eigen::VectorXd gain = {};
  };

  /// A state and what pushes it, beyond what is explained, on the way to the next sample.
  struct Estimate {
    Eigen::MatrixXd mean, push;                   ///< means
    Eigen::MatrixXd covariance, push_covariance;  ///< of each, parameters being right
    Eigen::MatrixXd cross;                        ///< covariance of state and push, likewise
  };

  /// @param mean  of the first sample, before its readings
  StateFilter(Eigen::MatrixXd mean, Eigen::MatrixXd covariance)
      : mean_(std::move(mean)), covariance_(std::move(covariance)) {}

  /// Takes the readings of the sample reached.
  void read(std::vector<Reading> readings);
  /// Where the sample reached stands now.
  const Eigen::MatrixXd& mean() const { return mean_; }
  /// Linearises anew about the mean: it becomes zero, its derivatives stay.
  void recentre() { mean_.col(0).setZero(); }
  /// Goes on to the next sample, or past the last one.
  /// @param slope   of the next state along this one
  /// @param defect  of what the next state is linearised about less where this one's motion ends,
  ///                and its derivatives
  /// @param noise   covariance of the push
  void move(const Eigen::MatrixXd& slope, const Eigen::MatrixXd& defect,
            const Eigen::MatrixXd& noise);

  int sample_count() const { return static_cast<int>(samples_.size()); }

  /// By readings up to a later sample, or to the sample itself. Costs a step back for each sample
  /// in between.
  Estimate estimate(int sample, int last) const;

  /// By all readings: estimates of the samples from the last to the first, one a call.
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
  /// @param last  the last sample whose readings count
  Backward(const StateFilter& filter, int last);

  int sample() const { return sample_; }
  /// Of the sample where it stands.
  Estimate estimate() const;
  /// Goes on to the sample before.
  void step();

 private:
  const StateFilter& filter_;
  int sample_;
  // What later readings have of the state, at the next sample with its readings, and here.
  Eigen::MatrixXd next_adjoint_, next_information_, adjoint_, information_;
};

}  // namespace estimator
