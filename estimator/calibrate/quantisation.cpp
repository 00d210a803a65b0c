#include "estimator/calibrate/quantisation.hpp"

#include <Eigen/Cholesky>
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

Eigen::MatrixXd quantised_scatter(const ShootingProblem& problem, int sensor, double quantum,
                                  double analog) {
  assert(problem.layout().node_count == problem.segment_count());
  const double unit = std::pow(problem.noise().angle[sensor], -2);
  const double encoder = unit * quantum * quantum / 12.0;
  const int n = problem.layout().arrow_size;
  Eigen::MatrixXd scatter = Eigen::MatrixXd::Zero(n, n);
  for (int segment = 0; segment < problem.segment_count(); ++segment) {
    const SensorResponse response = response_of(problem, segment, sensor);
    double white = encoder + unit * analog;
    for (int k = 1; k <= kHarmonics; ++k) {
      // Noise before counting smears the code: a variance σ² weakens harmonic k.
      const double wave = 2.0 * M_PI * k / quantum;
      const double weight = encoder * 6.0 / std::pow(M_PI * k, 2) * std::exp(-wave * wave * analog);
      const Eigen::VectorXd phase = wave * response.angles;
      const Eigen::VectorXd cosine = response.rows.transpose() * phase.array().cos().matrix();
      const Eigen::VectorXd sine = response.rows.transpose() * phase.array().sin().matrix();
      scatter += weight * (cosine * cosine.transpose() + sine * sine.transpose());
      white -= weight;
    }
    scatter += white * response.rows.transpose() * response.rows;
  }
  return scatter;
}

}  // namespace estimator
