#include <algorithm>
#include <cassert>
#include <cmath>
#include <random>

#include "estimator/calibrate/quantisation.hpp"
#include "estimator/math/decompositions.hpp"

namespace estimator {
namespace {

constexpr int kHarmonics = 64;        // the rest, 1 % of the variance, is as good as white
constexpr Eigen::Index kChunk = 256;  // readings that are summed at once

/// Readings of one sensor in one segment.
struct SensorRows {
  Eigen::MatrixXd response;  ///< T: of whitened errors to the parameters, the node following
  Eigen::VectorXd angles;    ///< [rad]
};

/// Sums Σ_t T_tᵀ e^{2πikθ_t/q} of one sensor in one segment, times the amplitude of the harmonic:
/// parameters × 2·harmonics, columns 2k−2 (real) and 2k−1 (imaginary part).
using Harmonics = Eigen::MatrixXd;

/// Angles of a sensor where it was read.
Eigen::VectorXd angles_read(const ShootingProblem& problem, int segment, int sensor) {
  const Eigen::MatrixXd& all = problem.angles(segment);
  std::vector<double> angles;
  for (Eigen::Index k = 0; k < all.rows(); ++k) {
    if (problem.is_read(segment, k, sensor)) angles.push_back(all(k, sensor));
  }
  return Eigen::Map<Eigen::VectorXd>(angles.data(), static_cast<Eigen::Index>(angles.size()));
}

/// By segment and sensor. Nodes follow the parameters: T = J_χ − J_x N⁻¹ J_xᵀJ_χ over all sensors.
std::vector<std::vector<SensorRows>> collect_rows(const ShootingProblem& problem,
                                                  const std::vector<CountingSensor>& sensors) {
  const ArrowLayout layout = problem.layout();
  const int n = layout.node_size;
  const auto segments = static_cast<std::size_t>(problem.segment_count());
  std::vector<Eigen::MatrixXd> nodes(segments, Eigen::MatrixXd::Zero(n, n));
  std::vector<Eigen::MatrixXd> cross(segments, Eigen::MatrixXd::Zero(n, layout.arrow_size));
  std::vector<std::vector<Eigen::MatrixXd>> node_rows(segments), parameter_rows(segments);
  for (std::size_t s = 0; s < segments; ++s) {
    node_rows[s].resize(sensors.size());
    parameter_rows[s].resize(sensors.size());
  }
  ResidualBlock block;
  for (int index = 0; index < problem.block_count(); ++index) {
    problem.linearize(index, block);
    if (block.node_span == 0) continue;
    const auto at = static_cast<std::size_t>(block.first_node);
    const auto J_x = block.node_jacobian.topRows(block.rows);
    const auto J_p = block.arrow_jacobian.topRows(block.rows);
    nodes[at] += J_x.transpose() * J_x;
    cross[at] += J_x.transpose() * J_p;
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      if (sensors[i].sensor != block.group) continue;
      node_rows[at][i] = J_x;
      parameter_rows[at][i] = J_p;
    }
  }
  std::vector<std::vector<SensorRows>> rows(segments);
  for (std::size_t s = 0; s < segments; ++s) {
    const Eigen::MatrixXd follow = -SymmetricFactor(nodes[s]).solve(cross[s]);
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      rows[s].push_back({parameter_rows[s][i] + node_rows[s][i] * follow,
                         angles_read(problem, static_cast<int>(s), sensors[i].sensor)});
    }
  }
  return rows;
}

/// Of harmonic k of the error of rounding, which is Σ_k ±sin(2πkx)/πk in units of the quantum.
/// Noise before counting smears the code: a variance σ² weakens it by exp(−½ (2πk/q)² σ²).
double amplitude(int k, const CountingSensor& sensor, double unit) {
  const double wave = 2.0 * M_PI * k / sensor.quantum;
  return unit * sensor.quantum / (M_PI * k) * std::exp(-0.5 * wave * wave * sensor.analog);
}

Harmonics sum_harmonics(const SensorRows& rows, const CountingSensor& sensor, double unit) {
  const Eigen::VectorXd& angles = rows.angles;
  Harmonics sums = Harmonics::Zero(rows.response.cols(), 2 * kHarmonics);
  Eigen::MatrixXd waves(kChunk, 2 * kHarmonics);
  for (Eigen::Index begin = 0; begin < angles.size(); begin += kChunk) {
    const Eigen::Index count = std::min(kChunk, angles.size() - begin);
    const Eigen::ArrayXd phase = 2.0 * M_PI / sensor.quantum * angles.segment(begin, count).array();
    const Eigen::ArrayXd cosine = phase.cos(), sine = phase.sin();
    waves.col(0).head(count) = cosine;
    waves.col(1).head(count) = sine;
    for (Eigen::Index k = 2; k < 2 * kHarmonics; k += 2) {
      const auto re = waves.col(k - 2).head(count).array();
      const auto im = waves.col(k - 1).head(count).array();
      waves.col(k).head(count) = re * cosine - im * sine;
      waves.col(k + 1).head(count) = re * sine + im * cosine;
    }
    sums.noalias() += rows.response.middleRows(begin, count).transpose() * waves.topRows(count);
  }
  for (int k = 1; k <= kHarmonics; ++k) {
    sums.middleCols(2 * k - 2, 2) *= amplitude(k, sensor, unit);
  }
  return sums;
}

/// Tᵀe at a random phase of the code disc.
Eigen::VectorXd draw(const Harmonics& harmonics, std::mt19937_64& random) {
  const double phase = std::uniform_real_distribution<double>(0.0, 2.0 * M_PI)(random);
  Eigen::VectorXd weights(2 * kHarmonics);
  for (int k = 1; k <= kHarmonics; ++k) {
    weights[2 * k - 2] = std::sin(k * phase);
    weights[2 * k - 1] = std::cos(k * phase);
  }
  return harmonics * weights;
}

/// What the harmonics leave of a sensor's variance.
double white_variance(const CountingSensor& sensor, double unit) {
  double variance = unit * unit * (sensor.quantum * sensor.quantum / 12.0 + sensor.analog);
  for (int k = 1; k <= kHarmonics; ++k) variance -= 0.5 * std::pow(amplitude(k, sensor, unit), 2);
  return variance;
}

}  // namespace

QuantisedErrors quantised_errors(const ShootingProblem& problem,
                                 const std::vector<CountingSensor>& sensors, int draws) {
  assert(problem.layout().node_count == problem.segment_count());
  const Eigen::Index n = problem.layout().arrow_size;
  QuantisedErrors errors;
  errors.sensors = sensors;
  errors.scatter.assign(sensors.size(), Eigen::MatrixXd::Zero(n, n));
  errors.segment_scatter.resize(sensors.size());
  errors.normal_scatter.setZero(n, n);
  errors.draws.setZero(n, draws);
  std::mt19937_64 random;  // seeded alike on purpose: results can be repeated
  for (const std::vector<SensorRows>& segment : collect_rows(problem, sensors)) {
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      const double unit = 1.0 / problem.noise().angle[sensors[i].sensor];
      const Harmonics harmonics = sum_harmonics(segment[i], sensors[i], unit);
      const Eigen::MatrixXd white =
          white_variance(sensors[i], unit) * segment[i].response.transpose() * segment[i].response;
      errors.segment_scatter[i].push_back(0.5 * harmonics * harmonics.transpose() + white);
      errors.scatter[i] += errors.segment_scatter[i].back();
      errors.normal_scatter += white;
      for (int d = 0; d < draws; ++d) errors.draws.col(d) += draw(harmonics, random);
    }
  }
  return errors;
}

}  // namespace estimator
