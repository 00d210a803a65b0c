#include "estimator/assessment/quantization.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimator/signal/noise_level.hpp"

namespace estimator {
namespace {

constexpr double kSmallestQuantum = 1e-7;  // [rad]; finer steps are decimals of a text file
constexpr double kQuantumTolerance = 0.02;
/// Ratio of analog noise to quantization variance below which the noise is only estimation error.
constexpr double kAnalogShare = 0.1;
constexpr double kAnalogDeviations = 3.0;  // of noise before quantization, bound of its errors
constexpr double kExcess = 0.03;           // rms excess over that bound, relative to the step
constexpr double kLag = 0.02;              // [s]; short compared with motions
constexpr int kLags = 4;                   // multiples of it
constexpr double kQuantaMoved = 2.0;       // least travel between the errors of a product
constexpr double kChance = 5.0;            // standard deviations of a significant mean

/// Calls visit(difference) for each change between consecutive readings of a sensor.
template <typename Visit>
void visit_changes(const std::vector<Segment>& segments, int sensor, double scale,
                   const Visit& visit) {
  for (const Segment& segment : segments) {
    for (Eigen::Index k = 1; k < segment.angles.rows(); ++k) {
      const double change = std::abs(segment.angles(k, sensor) - segment.angles(k - 1, sensor));
      if (change > kSmallestQuantum * scale) visit(change);  // false for NaN
    }
  }
}

}  // namespace

double find_quantum(const std::vector<Segment>& segments, int sensor, double scale) {
  double quantum = std::numeric_limits<double>::infinity();
  visit_changes(segments, sensor, scale,
                [&](double change) { quantum = std::min(quantum, change); });
  if (std::isinf(quantum)) return 0.0;
  // Refine by ever larger multiples, so that truncated decimals do not accumulate.
  double multiples = 0.0, sum = 0.0;
  visit_changes(segments, sensor, scale, [&](double change) {
    multiples += std::round(change / quantum);
    sum += change;
  });
  quantum = sum / multiples;
  bool whole = true;
  visit_changes(segments, sensor, scale, [&](double change) {
    whole &= std::abs(change / quantum - std::round(change / quantum)) < kQuantumTolerance;
  });
  return whole ? quantum : 0.0;
}

double pre_quantization_noise(const std::vector<Segment>& segments, int sensor, double quantum) {
  const double encoder = quantum * quantum / 12.0;
  double variance = 0.0;
  for (const Segment& segment : segments) {
    variance = std::max(variance, std::pow(noise_level(segment, sensor), 2) - encoder);
  }
  return variance > kAnalogShare * encoder ? variance : 0.0;
}

bool is_quantization_error(const std::vector<Eigen::VectorXd>& errors, double quantum,
                           double pre_quantization_variance) {
  const double largest = 0.5 * quantum + kAnalogDeviations * std::sqrt(pre_quantization_variance);
  double squares = 0.0, count = 0.0;
  for (const Eigen::VectorXd& segment : errors) {
    for (const double error : segment) {
      if (std::isnan(error)) continue;
      squares += std::pow(std::max(std::abs(error) - largest, 0.0), 2);
      count += 1.0;
    }
  }
  return squares <= count * std::pow(kExcess * quantum, 2);
}

bool is_correlated_beyond_quantization(const std::vector<Eigen::VectorXd>& errors,
                                       const std::vector<Eigen::VectorXd>& angles, double period,
                                       double quantum, double pre_quantization_variance) {
  const auto lag = std::max<Eigen::Index>(1, std::lround(kLag / period));
  const double blur =
      std::exp(-4.0 * M_PI * M_PI * pre_quantization_variance / (quantum * quantum));
  double sum = 0.0, squares = 0.0;
  for (std::size_t s = 0; s < errors.size(); ++s) {
    const Eigen::VectorXd &e = errors[s], &angle = angles[s];
    // Sum products within one quantization step of travel.
    double travel = 0.0, together = 0.0;
    const auto close = [&] {
      sum += together;
      squares += together * together;
      travel = together = 0.0;
    };
    for (Eigen::Index k = lag; k < e.size(); ++k) {
      travel += std::abs(angle[k] - angle[k - 1]);
      if (!(travel < quantum)) close();
      for (Eigen::Index before = k - lag; before >= std::max<Eigen::Index>(0, k - kLags * lag);
           before -= lag) {
        const double moved = std::abs(angle[k] - angle[before]) / quantum;
        const double product = e[k] * e[before];
        if (std::isnan(product) || !(moved > kQuantaMoved)) continue;
        const double x = moved - std::floor(moved);
        together += product - blur * quantum * quantum / 12.0 * (1.0 - 6.0 * x + 6.0 * x * x);
      }
    }
    close();
  }
  return sum > kChance * std::sqrt(squares);
}

}  // namespace estimator
