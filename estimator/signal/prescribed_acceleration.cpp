#include "estimator/signal/prescribed_acceleration.hpp"

#include <cmath>
#include <vector>

namespace estimator {
namespace {

constexpr int kDiffuseReadings = 3;  // determine the initial coordinate, speed and acceleration
constexpr int kReadingsMin = 5;
// Prior variance of the initial state, relative to the noise and in units of the mean period. It
// exceeds the squared ratio of range and noise of any encoder.
constexpr double kDiffuseVariance = 1e10;
// Range of the smoothness: the logarithm (base 10) of the variance of the acceleration's change in
// one period, relative to the noise and in units of the mean period.
constexpr double kSmoothnessMin = -14.0, kSmoothnessMax = 4.0, kSmoothnessTolerance = 0.05;

/// One step of the Kalman filter: predicted state and covariance of coordinate, speed and
/// acceleration, and what the smoother needs of the step.
struct FilterStep {
  Eigen::Vector3d state;
  Eigen::Matrix3d covariance;        // relative to the variance of the noise
  Eigen::Matrix3d transition;        // to the next row, without the gain: L of [Dur12]
  double innovation = 0.0;           // reading minus prediction; 0 if there is no reading
  double innovation_variance = 0.0;  // relative to the variance of the noise; 0 if no reading
};

/// Kalman filter and smoother of a coordinate with a random walk of the acceleration.
class MotionSmoother {
 public:
  MotionSmoother(const Segment& segment, Eigen::Index sensor)
      : segment_(segment), sensor_(sensor) {}

  /// Returns the negative logarithm of the likelihood, doubled and without constants, for the
  /// variance of the noise of largest likelihood.
  /// @param smoothness  see kSmoothnessMin
  /// @param[out] steps, variance  the steps and the variance of the noise, if requested
  double filter(double smoothness, std::vector<FilterStep>* steps = nullptr,
                double* variance = nullptr) const {
    const double period = segment_.period, rate = std::pow(10.0, smoothness) / std::pow(period, 5);
    FilterStep now;
    now.state.setZero();
    now.state[0] = first_reading();
    now.covariance.setZero();
    for (int i = 0; i < 3; ++i) {
      now.covariance(i, i) = kDiffuseVariance / std::pow(period, 2 * i);
    }
    double logarithms = 0.0, squares = 0.0;
    int readings = 0;
    for (Eigen::Index k = 0; k < segment_.angles.rows(); ++k) {
      const double duration =
          k + 1 < segment_.angles.rows() ? segment_.time(k + 1) - segment_.time(k) : period;
      Eigen::Matrix3d transition;
      transition << 1.0, duration, 0.5 * duration * duration, 0.0, 1.0, duration, 0.0, 0.0, 1.0;
      Eigen::Vector3d gain = Eigen::Vector3d::Zero();
      now.innovation = now.innovation_variance = 0.0;
      if (const double reading = segment_.angles(k, sensor_); !std::isnan(reading)) {
        now.innovation = reading - now.state[0];
        now.innovation_variance = now.covariance(0, 0) + 1.0;
        gain = transition * now.covariance.col(0) / now.innovation_variance;
        if (readings++ >= kDiffuseReadings) {
          logarithms += std::log(now.innovation_variance);
          squares += now.innovation * now.innovation / now.innovation_variance;
        }
      }
      now.transition = transition;
      now.transition.col(0) -= gain;
      if (steps != nullptr) steps->push_back(now);
      now.state = transition * now.state + gain * now.innovation;
      // Joseph's form stays positive definite.
      const Eigen::Matrix3d covariance = now.transition * now.covariance;
      now.covariance = covariance * now.transition.transpose() + gain * gain.transpose();
      now.covariance(2, 2) += rate * duration;
    }
    const double count = readings - kDiffuseReadings;
    if (variance != nullptr) *variance = squares / count;
    return count * std::log(squares / count) + logarithms;
  }

  /// Returns the smoothness of largest likelihood, by golden-section search.
  double find_smoothness() const {
    const double golden = 0.5 * (std::sqrt(5.0) - 1.0);
    double low = kSmoothnessMin, high = kSmoothnessMax;
    double left = high - golden * (high - low), right = low + golden * (high - low);
    double at_left = filter(left), at_right = filter(right);
    while (high - low > kSmoothnessTolerance) {
      if (at_left < at_right) {
        high = right;
        right = left;
        at_right = at_left;
        left = high - golden * (high - low);
        at_left = filter(left);
      } else {
        low = left;
        left = right;
        at_left = at_right;
        right = low + golden * (high - low);
        at_right = filter(right);
      }
    }
    return 0.5 * (low + high);
  }

  PrescribedAcceleration smooth(double smoothness) const {
    std::vector<FilterStep> steps;
    double variance = 0.0;
    filter(smoothness, &steps, &variance);
    const double cutoff = std::pow(10.0, smoothness / 6.0) / segment_.period;  // ω_c [rad/s]
    PrescribedAcceleration result{.values = Eigen::VectorXd(std::ssize(steps)),
                                  .noise = std::sqrt(variance) * cutoff * cutoff};
    Eigen::VectorXd& accelerations = result.values;
    Eigen::Vector3d r = Eigen::Vector3d::Zero();  // r of [Dur12], the smoothing recursion
    for (Eigen::Index k = accelerations.size() - 1; k >= 0; --k) {
      const FilterStep& step = steps[static_cast<std::size_t>(k)];
      r = (step.transition.transpose() * r).eval();
      if (step.innovation_variance > 0.0) r[0] += step.innovation / step.innovation_variance;
      accelerations[k] = step.state[2] + step.covariance.row(2).dot(r);
    }
    return result;
  }

 private:
  double first_reading() const {
    for (const double reading : segment_.angles.col(sensor_)) {
      if (!std::isnan(reading)) return reading;
    }
    return 0.0;
  }

  const Segment& segment_;
  Eigen::Index sensor_;
};

}  // namespace

PrescribedAcceleration estimate_prescribed_acceleration(const Segment& segment,
                                                        Eigen::Index sensor) {
  ValueRange range;
  Eigen::Index readings = 0;
  for (const double reading : segment.angles.col(sensor)) {
    range.add(reading);
    readings += std::isnan(reading) ? 0 : 1;
  }
  if (readings < kReadingsMin || !(range.width() > 0.0)) {
    return {.values = Eigen::VectorXd::Zero(segment.angles.rows())};
  }
  const MotionSmoother smoother(segment, sensor);
  return smoother.smooth(smoother.find_smoothness());
}

}  // namespace estimator
