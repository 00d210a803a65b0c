#include "estimator/assessment/quantization.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <random>

#include "estimator/math/decompositions.hpp"
#include "estimator/signal/noise_level.hpp"

namespace estimator {
namespace {

constexpr Eigen::Index kChunk = 256;  // number of readings summed at once

/// Returns the amplitude of harmonic k of the rounding error, whose Fourier series is Σ_k
/// ±sin(2πkx)/πk in quantization steps q. Noise of variance σ² before quantization attenuates it by
/// exp(−½ (2πk/q)² σ²).
double amplitude(int k, const QuantizedSensor& sensor, double unit) {
  const double wave = 2.0 * M_PI * k / sensor.quantum;
  return unit * sensor.quantum / (M_PI * k) *
         std::exp(-0.5 * wave * wave * sensor.pre_quantization_variance);
}

/// The harmonic sums Σ_t A_tᵀ e^{2πikθ_t/q} of one sensor over readings t with rows A_t of a matrix
/// A, angles θ_t and the quantization step q, times the amplitude of harmonic k of the quantization
/// error. Rows: columns of A. Columns: 2k−2 for the real and 2k−1 for the imaginary part of
/// harmonic k.
using Harmonics = Eigen::MatrixXd;

/// Computes the harmonic sums of one sensor, see Harmonics.
/// @param rows    matrix A of Harmonics, one row per reading
/// @param angles  measured angles [rad or m]
/// @param count   number of harmonics
/// @param unit    ratio of whitened to actual errors [1/rad or 1/m]
Harmonics sum_harmonics(const Eigen::MatrixXd& rows, const Eigen::VectorXd& angles, int count,
                        const QuantizedSensor& sensor, double unit) {
  Harmonics sums = Harmonics::Zero(rows.cols(), 2 * count);
  Eigen::MatrixXd waves(kChunk, 2 * count);
  for (Eigen::Index begin = 0; begin < angles.size(); begin += kChunk) {
    const Eigen::Index size = std::min(kChunk, angles.size() - begin);
    const Eigen::ArrayXd phase = 2.0 * M_PI / sensor.quantum * angles.segment(begin, size).array();
    const Eigen::ArrayXd cosine = phase.cos(), sine = phase.sin();
    waves.col(0).head(size) = cosine;
    waves.col(1).head(size) = sine;
    for (Eigen::Index k = 2; k < 2 * count; k += 2) {
      const auto re = waves.col(k - 2).head(size).array();
      const auto im = waves.col(k - 1).head(size).array();
      waves.col(k).head(size) = re * cosine - im * sine;
      waves.col(k + 1).head(size) = re * sine + im * cosine;
    }
    sums.noalias() += rows.middleRows(begin, size).transpose() * waves.topRows(size);
  }
  for (int k = 1; k <= count; ++k) sums.middleCols(2 * k - 2, 2) *= amplitude(k, sensor, unit);
  return sums;
}

/// Returns the part of the variance of a sensor's whitened quantization errors that their first
/// `count` harmonics do not represent.
double white_variance(const QuantizedSensor& sensor, double unit, int count) {
  double variance =
      unit * unit * (sensor.quantum * sensor.quantum / 12.0 + sensor.pre_quantization_variance);
  for (int k = 1; k <= count; ++k) variance -= 0.5 * std::pow(amplitude(k, sensor, unit), 2);
  return variance;
}

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
  const Eigen::MatrixXd& all = problem.predicted_angles(segment);
  std::vector<double> angles;
  for (Eigen::Index k = 0; k < all.rows(); ++k) {
    if (problem.has_reading(segment, k, sensor)) angles.push_back(all(k, sensor));
  }
  return Eigen::Map<Eigen::VectorXd>(angles.data(), static_cast<Eigen::Index>(angles.size()));
}

/// Collects the readings by segment. Node states are eliminated over all sensors: T = J_χ − J_x N⁻¹
/// J_xᵀJ_χ, with Jacobians J_χ for parameters and J_x for states, and N = J_xᵀJ_x.
std::vector<SegmentRows> collect_rows(const ShootingProblem& problem,
                                      const std::vector<QuantizedSensor>& sensors) {
  const ProblemShape shape = problem.shape();
  const int n = shape.node_size;
  const auto segments = static_cast<std::size_t>(problem.segment_count());
  std::vector<Eigen::MatrixXd> nodes(segments, Eigen::MatrixXd::Zero(n, n));
  std::vector<Eigen::MatrixXd> cross(segments, Eigen::MatrixXd::Zero(n, shape.parameter_count));
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
    const auto J_p = block.parameter_jacobian.topRows(block.rows);
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

/// Fills columns with random samples of the gradient Tᵀe, around motions perturbed by quantization
/// errors. Each column has its own random phases.
/// @param units    whitened per actual error, by sensor
/// @param columns  initially zero
void draw_gradients(const std::vector<SegmentRows>& rows,
                    const std::vector<QuantizedSensor>& sensors, const Eigen::MatrixXd& inverse,
                    const std::vector<double>& units, Eigen::MatrixXd& columns) {
  std::vector<Harmonics> harmonics;  // by segment and sensor, for Tᵀe above J_xᵀe
  for (const SegmentRows& segment : rows) {
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      const SensorRows& own = segment.sensors[i];
      Eigen::MatrixXd both(own.response.rows(), own.response.cols() + own.of_node.cols());
      both << own.response, own.of_node;
      harmonics.push_back(sum_harmonics(both, own.angles, kShaped, sensors[i], units[i]));
    }
  }
  std::mt19937_64 random;  // fixed seed on purpose: repeatable results
  for (Eigen::Index motion = 0; motion < kMotions; ++motion) {
    std::vector<Eigen::VectorXd> gradients;
    Eigen::VectorXd score = Eigen::VectorXd::Zero(inverse.rows());
    for (std::size_t s = 0, at = 0; s < rows.size(); ++s) {
      gradients.emplace_back(Eigen::VectorXd::Zero(rows[s].node_inverse.rows()));
      for (std::size_t i = 0; i < sensors.size(); ++i, ++at) {
        const Eigen::VectorXd both = draw(harmonics[at], random);
        score += both.head(score.size());
        gradients.back() += both.tail(gradients.back().size());
      }
    }
    const Eigen::VectorXd moved = inverse * score;
    const Eigen::Index begin = motion * columns.cols() / kMotions;
    auto own_columns = columns.middleCols(begin, (motion + 1) * columns.cols() / kMotions - begin);
    for (std::size_t s = 0; s < rows.size(); ++s) {
      const Eigen::VectorXd node = rows[s].node_inverse * gradients[s];
      for (std::size_t i = 0; i < sensors.size(); ++i) {
        const SensorRows& own = rows[s].sensors[i];
        const Eigen::VectorXd angles =
            own.angles + (own.response * moved + own.of_node * node) / units[i];
        const Harmonics perturbed =
            sum_harmonics(own.response, angles, kShaped, sensors[i], units[i]);
        for (auto column : own_columns.colwise()) column += draw(perturbed, random);
      }
    }
  }
}

}  // namespace

Eigen::MatrixXd compute_quantization_covariance(const Eigen::MatrixXd& rows,
                                                const Eigen::VectorXd& angles, int count,
                                                const QuantizedSensor& sensor, double unit) {
  const Harmonics harmonics = sum_harmonics(rows, angles, count, sensor, unit);
  return 0.5 * harmonics * harmonics.transpose() +
         white_variance(sensor, unit, count) * rows.transpose() * rows;
}

double find_quantization_step(const std::vector<Segment>& segments, int sensor, double scale) {
  std::vector<double> changes;
  for (const Segment& segment : segments) {
    double last = std::numeric_limits<double>::quiet_NaN();
    for (const double reading : segment.angles.col(sensor)) {
      if (std::isnan(reading)) continue;
      const double change = std::abs(reading - last);
      if (change > kSmallestQuantum * scale) changes.push_back(change);
      last = reading;
    }
  }
  if (changes.empty()) return 0.0;
  double quantum = *std::ranges::min_element(changes);
  // Refine by larger multiples, so that truncated decimals do not accumulate.
  double multiples = 0.0, sum = 0.0;
  for (const double change : changes) {
    multiples += std::round(change / quantum);
    sum += change;
  }
  quantum = sum / multiples;
  const bool whole = std::ranges::all_of(changes, [&](double change) {
    return std::abs(change / quantum - std::round(change / quantum)) < kQuantumTolerance;
  });
  return whole ? quantum : 0.0;
}

double estimate_reading_noise(const std::vector<Segment>& segments, int sensor, double scale) {
  return std::max(find_quantization_step(segments, sensor, scale) / std::sqrt(12.0),
                  estimate_noise_level(segments, sensor));
}

double estimate_noise_before_quantization(const std::vector<Segment>& segments, int sensor,
                                          double quantum) {
  const double encoder = quantum * quantum / 12.0;
  const double variance = std::pow(estimate_noise_level(segments, sensor), 2) - encoder;
  return variance > kAnalogShare * encoder ? variance : 0.0;
}

bool can_be_quantization_error(const std::vector<Eigen::VectorXd>& errors, double quantum,
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

QuantizationErrors compute_quantization_errors(const ShootingProblem& problem,
                                               const std::vector<QuantizedSensor>& sensors,
                                               const Eigen::MatrixXd& inverse, int draws) {
  assert(problem.shape().node_count == problem.segment_count());
  const Eigen::Index n = problem.shape().parameter_count;
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
  if (errors.draws.size() > 0) draw_gradients(rows, sensors, inverse, units, errors.draws);
  return errors;
}

std::vector<std::vector<Eigen::VectorXd>> compute_reading_errors(
    const ShootingProblem& problem, const std::vector<Segment>& segments) {
  std::vector<std::vector<Eigen::VectorXd>> errors(
      static_cast<std::size_t>(problem.encoder_count()));
  for (int sensor = 0; sensor < problem.encoder_count(); ++sensor) {
    for (std::size_t s = 0; s < segments.size(); ++s) {
      Eigen::VectorXd series = problem.predicted_angles(static_cast<int>(s)).col(sensor);
      for (Eigen::Index k = 0; k < series.size(); ++k) {
        series[k] =
            problem.encoder(sensor).reading_difference(series[k] - segments[s].angles(k, sensor));
      }
      errors[static_cast<std::size_t>(sensor)].push_back(std::move(series));
    }
  }
  return errors;
}

std::vector<QuantizedSensor> find_quantized_sensors(
    const ShootingProblem& problem, const std::vector<Segment>& segments,
    std::vector<std::vector<Eigen::VectorXd>>& errors) {
  std::vector<QuantizedSensor> sensors;
  const Eigen::VectorXd scales = readings_per_radian(problem.mechanism());
  for (int sensor = 0; sensor < problem.encoder_count(); ++sensor) {
    const double quantum = find_quantization_step(segments, sensor, scales[sensor]);
    if (!(quantum > 0.0)) continue;
    const double pre_quantization_variance =
        estimate_noise_before_quantization(segments, sensor, quantum);
    std::vector<Eigen::VectorXd>& own = errors[static_cast<std::size_t>(sensor)];
    if (!can_be_quantization_error(own, quantum, pre_quantization_variance)) continue;
    sensors.push_back({sensor, quantum, pre_quantization_variance});
    own.clear();
  }
  return sensors;
}

}  // namespace estimator
