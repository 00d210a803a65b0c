#include <algorithm>
#include <cassert>
#include <cmath>
#include <random>

#include "estimator/assessment/quantization.hpp"
#include "estimator/math/decompositions.hpp"

namespace estimator {
namespace {

constexpr int kHarmonics = 64;  // the remaining 1 % of the variance is treated as white
constexpr int kShaped = 8;      // harmonics treated as non-normal
constexpr int kMotions = 16;    // perturbed motions

/// The readings of one sensor in one segment.
struct SensorRows {
  /// Derivatives of whitened readings with respect to parameters, states eliminated.
  Eigen::MatrixXd response;
  Eigen::MatrixXd of_node;  ///< J_x
  Eigen::VectorXd angles;   ///< [rad]
};

/// The readings of all sensors in one segment.
struct SegmentRows {
  std::vector<SensorRows> sensors;
  Eigen::MatrixXd node_inverse;  ///< N⁻¹, for fixed parameters
};

/// Returns the modelled angles of a sensor at its readings.
Eigen::VectorXd angles_read(const ShootingProblem& problem, int segment, int sensor) {
  const Eigen::MatrixXd& all = problem.angles(segment);
  std::vector<double> angles;
  for (Eigen::Index k = 0; k < all.rows(); ++k) {
    if (problem.is_read(segment, k, sensor)) angles.push_back(all(k, sensor));
  }
  return Eigen::Map<Eigen::VectorXd>(angles.data(), static_cast<Eigen::Index>(angles.size()));
}

/// Collects the readings by segment. Node states are eliminated over all sensors: T = J_χ − J_x N⁻¹
/// J_xᵀJ_χ, with Jacobians J_χ for parameters and J_x for states, and N = J_xᵀJ_x.
std::vector<SegmentRows> collect_rows(const ShootingProblem& problem,
                                      const std::vector<QuantizedSensor>& sensors) {
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
  std::vector<SegmentRows> rows(segments);
  for (std::size_t s = 0; s < segments; ++s) {
    const SymmetricFactor factor(nodes[s]);
    const Eigen::MatrixXd follow = -factor.solve(cross[s]);
    rows[s].node_inverse = factor.solve(Eigen::MatrixXd::Identity(n, n));
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      rows[s].sensors.push_back({parameter_rows[s][i] + node_rows[s][i] * follow, node_rows[s][i],
                                 angles_read(problem, static_cast<int>(s), sensors[i].sensor)});
    }
  }
  return rows;
}

/// Returns a random sample of the weighted error sum Aᵀe of Harmonics, with a random phase of the
/// quantization grid.
Eigen::VectorXd draw(const Harmonics& harmonics, std::mt19937_64& random) {
  const double phase = std::uniform_real_distribution<double>(0.0, 2.0 * M_PI)(random);
  Eigen::VectorXd weights(harmonics.cols());
  for (Eigen::Index k = 1; 2 * k <= harmonics.cols(); ++k) {
    weights[2 * k - 2] = std::sin(static_cast<double>(k) * phase);
    weights[2 * k - 1] = std::cos(static_cast<double>(k) * phase);
  }
  return harmonics * weights;
}

/// Draws random samples of the gradient Tᵀe around motions perturbed by quantization errors.
class ShapeDraws {
 public:
  ShapeDraws(const std::vector<SegmentRows>& rows, const std::vector<QuantizedSensor>& sensors,
             const Eigen::MatrixXd& inverse, std::vector<double> units)
      : rows_(rows), sensors_(sensors), inverse_(inverse), units_(std::move(units)) {
    for (const SegmentRows& segment : rows) {
      for (std::size_t i = 0; i < sensors.size(); ++i) {
        const SensorRows& own = segment.sensors[i];
        Eigen::MatrixXd both(own.response.rows(), own.response.cols() + own.of_node.cols());
        both << own.response, own.of_node;
        harmonics_.push_back(sum_harmonics(both, own.angles, kShaped, sensors[i], units_[i]));
      }
    }
  }

  /// Adds samples of Tᵀe for one perturbed motion to the columns. Each column has its own random
  /// phases.
  void add(Eigen::Ref<Eigen::MatrixXd> columns, std::mt19937_64& random) const {
    const Eigen::Index p = inverse_.rows();
    std::vector<Eigen::VectorXd> gradients;
    Eigen::VectorXd score = Eigen::VectorXd::Zero(p);
    for (std::size_t s = 0, at = 0; s < rows_.size(); ++s) {
      gradients.emplace_back(Eigen::VectorXd::Zero(rows_[s].node_inverse.rows()));
      for (std::size_t i = 0; i < sensors_.size(); ++i, ++at) {
        const Eigen::VectorXd both = draw(harmonics_[at], random);
        score += both.head(p);
        gradients.back() += both.tail(gradients.back().size());
      }
    }
    const Eigen::VectorXd moved = inverse_ * score;
    for (std::size_t s = 0; s < rows_.size(); ++s) {
      const Eigen::VectorXd node = rows_[s].node_inverse * gradients[s];
      for (std::size_t i = 0; i < sensors_.size(); ++i) {
        const SensorRows& own = rows_[s].sensors[i];
        const Eigen::VectorXd angles =
            own.angles + (own.response * moved + own.of_node * node) / units_[i];
        const Harmonics harmonics =
            sum_harmonics(own.response, angles, kShaped, sensors_[i], units_[i]);
        for (auto column : columns.colwise()) column += draw(harmonics, random);
      }
    }
  }

 private:
  const std::vector<SegmentRows>& rows_;
  const std::vector<QuantizedSensor>& sensors_;
  const Eigen::MatrixXd& inverse_;
  std::vector<double> units_;         ///< whitened per actual error, by sensor
  std::vector<Harmonics> harmonics_;  ///< by segment and sensor, for Tᵀe above J_xᵀe
};

}  // namespace

QuantizationErrors quantization_errors(const ShootingProblem& problem,
                                       const std::vector<QuantizedSensor>& sensors,
                                       const Eigen::MatrixXd& inverse, int draws) {
  assert(problem.layout().node_count == problem.segment_count());
  const Eigen::Index n = problem.layout().arrow_size;
  QuantizationErrors errors;
  errors.sensors = sensors;
  errors.scatter.assign(sensors.size(), Eigen::MatrixXd::Zero(n, n));
  errors.segment_scatter.resize(sensors.size());
  errors.normal_scatter.setZero(n, n);
  errors.draws.setZero(n, inverse.size() > 0 ? draws : 0);
  const std::vector<SegmentRows> rows = collect_rows(problem, sensors);
  std::vector<double> units;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    const double unit = 1.0 / problem.noise().angle[sensors[i].sensor];
    units.push_back(unit);
    for (const SegmentRows& segment : rows) {
      const SensorRows& own = segment.sensors[i];
      const Harmonics harmonics =
          sum_harmonics(own.response, own.angles, kHarmonics, sensors[i], unit);
      const auto fine = harmonics.rightCols(2 * (kHarmonics - kShaped));
      const Eigen::MatrixXd white =
          white_variance(sensors[i], unit, kHarmonics) * own.response.transpose() * own.response;
      errors.segment_scatter[i].push_back(0.5 * harmonics * harmonics.transpose() + white);
      errors.scatter[i] += errors.segment_scatter[i].back();
      errors.normal_scatter += 0.5 * fine * fine.transpose() + white;
    }
  }
  if (errors.draws.size() == 0) return errors;
  std::mt19937_64 random;  // fixed seed on purpose: repeatable results
  const ShapeDraws shapes(rows, sensors, inverse, units);
  for (Eigen::Index motion = 0; motion < kMotions; ++motion) {
    const Eigen::Index begin = motion * draws / kMotions, end = (motion + 1) * draws / kMotions;
    shapes.add(errors.draws.middleCols(begin, end - begin), random);
  }
  return errors;
}

}  // namespace estimator
