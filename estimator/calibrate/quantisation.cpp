#include "estimator/calibrate/quantisation.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "estimator/calibrate/preparation.hpp"

namespace estimator {
namespace {

constexpr double kSmallestQuantum = 1e-7;  // [rad]; finer steps are decimals of a text file
constexpr double kQuantumTolerance = 0.02;
constexpr double kAnalogShare =
    0.1;                        // of an encoder's variance; less is the scatter of its estimate
constexpr int kHarmonics = 64;  // the rest, 1 % of the variance, is as good as white

constexpr double kAnalogDeviations = 3.0;  // of noise before counting, that no error exceeds
constexpr double kExcess = 0.03;           // root mean square of what is beyond, of the quantum

/// Calls visit(difference) for each change from one reading to the next.
template <typename Visit>
void visit_changes(const std::vector<Segment>& segments, int sensor, const Visit& visit) {
  for (const Segment& segment : segments) {
    for (Eigen::Index k = 1; k < segment.angles.rows(); ++k) {
      const double change = std::abs(segment.angles(k, sensor) - segment.angles(k - 1, sensor));
      if (change > kSmallestQuantum) visit(change);  // NaN is not
    }
  }
}

/// Readings of one sensor in one segment: responses of the whitened errors to the parameters, with
/// the segment's node following, and the angles they were taken at.
struct SensorResponse {
  Eigen::MatrixXd rows;
  Eigen::VectorXd angles;
};

SensorResponse response_of(const ShootingProblem& problem, int segment, int sensor) {
  const ArrowLayout layout = problem.layout();
  const int n = layout.node_size;
  Eigen::MatrixXd nodes = Eigen::MatrixXd::Zero(n, n);
  Eigen::MatrixXd cross = Eigen::MatrixXd::Zero(n, layout.arrow_size);
  ResidualBlock block, own;
  for (int index = 0; index < problem.block_count(); ++index) {
    problem.linearize(index, block);
    if (block.node_span == 0 || block.first_node != segment) continue;
    const auto J_x = block.node_jacobian.topRows(block.rows);
    nodes += J_x.transpose() * J_x;
    cross += J_x.transpose() * block.arrow_jacobian.topRows(block.rows);
    if (block.group == sensor) own = block;
  }
  SensorResponse response;
  response.rows = own.arrow_jacobian.topRows(own.rows) -
                  own.node_jacobian.topRows(own.rows) * nodes.ldlt().solve(cross);
  response.angles.resize(own.rows);
  Eigen::Index row = 0;
  for (Eigen::Index k = 0; k < problem.angles(segment).rows(); ++k) {
    if (problem.is_read(segment, k, sensor)) {
      response.angles[row++] = problem.angles(segment)(k, sensor);
    }
  }
  return response;
}

}  // namespace

double find_quantum(const std::vector<Segment>& segments, int sensor) {
  double quantum = std::numeric_limits<double>::infinity();
  visit_changes(segments, sensor, [&](double change) { quantum = std::min(quantum, change); });
  if (std::isinf(quantum)) return 0.0;
  // Refined by ever larger multiples, so that decimals cut off do not add up.
  double multiples = 0.0, sum = 0.0;
  visit_changes(segments, sensor, [&](double change) {
    multiples += std::round(change / quantum);
    sum += change;
  });
  quantum = sum / multiples;
  bool whole = true;
  visit_changes(segments, sensor, [&](double change) {
    whole &= std::abs(change / quantum - std::round(change / quantum)) < kQuantumTolerance;
  });
  return whole ? quantum : 0.0;
}

double analog_variance(const std::vector<Segment>& segments, int sensor, double quantum) {
  const double encoder = quantum * quantum / 12.0;
  double variance = 0.0;
  for (const Segment& segment : segments) {
    variance = std::max(variance, std::pow(noise_level(segment.angles.col(sensor)), 2) - encoder);
  }
  return variance > kAnalogShare * encoder ? variance : 0.0;
}

bool counting_explains(const std::vector<Eigen::VectorXd>& errors, double quantum, double analog) {
  const double largest = 0.5 * quantum + kAnalogDeviations * std::sqrt(analog);
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

/// The error of rounding x is Σ_k ±sin(2πkx)/πk, in units of the quantum.
QuantisedErrors quantised_errors(const ShootingProblem& problem, int sensor, double quantum,
                                 double analog) {
  assert(problem.layout().node_count == problem.segment_count());
  const double unit = 1.0 / problem.noise().angle[sensor];
  const double encoder = std::pow(unit * quantum, 2) / 12.0;
  const int n = problem.layout().arrow_size;
  QuantisedErrors errors;
  errors.group = sensor;
  errors.normal_scatter.setZero(n, n);
  errors.scatter.setZero(n, n);
  for (int segment = 0; segment < problem.segment_count(); ++segment) {
    const SensorResponse response = response_of(problem, segment, sensor);
    double white = encoder + unit * unit * analog;
    Eigen::MatrixXd harmonics(n, 2 * kHarmonics);
    for (int k = 1; k <= kHarmonics; ++k) {
      // Noise before counting smears the code: a variance σ² weakens harmonic k.
      const double wave = 2.0 * M_PI * k / quantum;
      const double amplitude = unit * quantum / (M_PI * k) * std::exp(-0.5 * wave * wave * analog);
      const Eigen::VectorXd phase = wave * response.angles;
      harmonics.col(2 * k - 2) =
          amplitude * (response.rows.transpose() * phase.array().sin().matrix());
      harmonics.col(2 * k - 1) =
          amplitude * (response.rows.transpose() * phase.array().cos().matrix());
      white -= 0.5 * amplitude * amplitude;
    }
    errors.normal_scatter += white * response.rows.transpose() * response.rows;
    errors.scatter += 0.5 * harmonics * harmonics.transpose();
    errors.harmonics.push_back(std::move(harmonics));
  }
  errors.scatter += errors.normal_scatter;
  return errors;
}

}  // namespace estimator
