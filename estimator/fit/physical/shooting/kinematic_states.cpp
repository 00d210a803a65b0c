#include "estimator/fit/physical/shooting/kinematic_states.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "estimator/fit/physical/shooting/sensor_sample_instants.hpp"
#include "estimator/math/decompositions.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/signal/noise_level.hpp"
#include "estimator/simulation/sensing_program.hpp"

namespace estimator {
namespace {

constexpr double kThinned = 5e-3;         // approximate time between the smoother's instants [s]
constexpr double kDifferenceTime = 0.01;  // for differences that estimate the jerk [s]
constexpr double kPlaceTime = 0.05;       // for positions, which are differenced three times [s]
constexpr double kStill = 0.1;            // duration of readings for the initial configuration [s]
constexpr int kTurns = 16;                // initial angles tried per joint
constexpr int kKinematicRounds = 8;
constexpr double kSettledAngle = 1e-4;  // change of the angles at convergence [rad]
constexpr double kCautious = 3.0;       // factor on the noise of readings, for other errors

// Lower limit of noise levels, so that weights are finite [rad], [rad/s or m/s²].
constexpr double kAngleNoiseMin = 1e-4, kInertialNoiseMin = 1e-4;

// Generous standard deviations of the unknowns about their initial values.
constexpr double kAngleSpread = 1.0;           // [rad or m]
constexpr double kRateSpread = 10.0;           // [rad/s or m/s]
constexpr double kAccelerationSpread = 100.0;  // [rad/s² or m/s²]
constexpr double kScaleSpread = 0.1;           // [-]
constexpr double kPointSpread = 0.05;          // [m]
constexpr double kOriginSpread = 1.0;          // of a point on the ground [m]
constexpr double kCrossSpread = 0.05;          // [-]
constexpr double kMountSpread = 0.3;           // [rad]

double spread_of(const SensorTraits& sensor, SensorParameter quantity) {
  if (quantity < SensorParameter::kMountX) return kPointSpread;
  if (quantity < SensorParameter::kRateBiasX) {
    return sensor.mount == SensorTraits::MountMeaning::kAnchor ? kOriginSpread : kMountSpread;
  }
  const auto bias_prior_deviation = [&](int place) {
    return measured_quantity_traits(sensor.instruments[place].reads).bias_prior_deviation;
  };
  if (quantity < SensorParameter::kRateScaleX) return bias_prior_deviation(0);
  if (quantity < SensorParameter::kForceBiasX) return kScaleSpread;
  if (quantity < SensorParameter::kForceScaleX) return bias_prior_deviation(1);
  return quantity < SensorParameter::kRateCrossXY ? kScaleSpread : kCrossSpread;
}

double squared(double x) { return x * x; }

/// Returns the inertial sensor axes that depend only on the motion, not on forces.
std::vector<int> kinematic_axes(const Mechanism& mechanism, const Segment& segment) {
  std::vector<int> axes = find_read_sensor_axes(mechanism, {segment});
  std::erase_if(axes, [&](int axis) {
    const auto sensor = static_cast<std::size_t>(axis / Sensor::kAxes);
    return mechanism.sensors[sensor].measures_load();
  });
  return axes;
}

/// Reading of an encoder or an inertial sensor axis at an instant.
struct Row {
  double value, variance;
  int sensor = -1;  ///< index of an encoder; −1 for an inertial axis
  int axis = -1;    ///< index of an inertial axis; −1 for an encoder
};

class Smoother {
 public:
  Smoother(const Mechanism& mechanism, const Segment& segment)
      : mechanism_(mechanism),
        segment_(segment),
        n_(mechanism.joint_count()),
        sensors_(used_encoders(mechanism)),
        program_(mechanism, kinematic_axes(mechanism, segment), constants_of(mechanism)),
        lanes_(program_, mechanism),
        size_(3 * n_ + static_cast<int>(program_.parameters().size())) {
    stride_ = std::max(1, static_cast<int>(std::lround(kThinned / segment.period)));
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      angle_noise_.push_back(std::max(estimate_noise_level(segment, static_cast<Eigen::Index>(i)),
                                      kAngleNoiseMin * sensors_[i].units().scale));
    }
    for (const int axis : program_.axes()) {
      inertial_noise_.push_back(std::max(
          kCautious * estimate_noise_level(segment.inertial.col(axis)), kInertialNoiseMin));
    }
    find_jerk();
  }

  void run(Eigen::MatrixXd& states) {
    begin_at(states);
    for (int round = 0; round < kKinematicRounds; ++round) {
      const Eigen::MatrixXd before = means_;
      if (!smooth()) return;
      const double change = (means_ - before).topRows(n_).cwiseAbs().maxCoeff();
      if (!std::isfinite(change)) return;
      if (change < kSettledAngle) break;
    }
    write(states);
  }

 private:
  /// Returns the free parameters of kinematic sensors that affect their readings at an instant.
  static std::vector<int> constants_of(const Mechanism& mechanism) {
    std::vector<int> constants = free_sensor_parameters(mechanism);
    for (int i = 0; i < mechanism.sensor_count(); ++i) {
      const bool is_kinematic = !mechanism.sensors[i].measures_load();
      const int first = mechanism.sensor_parameter_index(i, {});
      const int delay = mechanism.sensor_parameter_index(i, SensorParameter::kDelay);
      std::erase_if(constants, [=](int index) {
        return index == delay ||
               (!is_kinematic && index >= first && index < first + Mechanism::kSensorParameters);
      });
    }
    for (const Encoder& sensor : used_encoders(mechanism)) {
      std::erase_if(constants,
                    [&](int index) { return index == sensor.offset || index == sensor.delay; });
    }
    return constants;
  }

  int instant_count() const { return (segment_.sample_count() - 1) / stride_ + 1; }
  double apart() const { return stride_ * segment_.period; }
  double constant(int place) const {
    return mechanism_.parameters[program_.parameters()[place]].value;
  }

  /// Returns the order of the derivative of the motion that an axis measures.
  int order_of(int axis) const {
    const auto sensor = static_cast<std::size_t>(axis / Sensor::kAxes);
    const Instrument& instrument =
        mechanism_.sensors[sensor].kind_traits().instrument_of_axis(axis % Sensor::kAxes);
    return measured_quantity_traits(instrument.reads).order;
  }

  /// Estimates the density of white jerk from changes of acceleration: for rotations from
  /// gyroscopes; for translations, or without gyroscopes, from accelerometers and position sensors.
  void find_jerk() {
    double turn = 0.0, slide = 0.0;
    for (const int axis : program_.axes()) {
      const auto column = segment_.inertial.col(axis);
      const bool is_place = order_of(axis) == 0, is_rate = order_of(axis) == 1;
      const double wanted = is_place ? kPlaceTime : kDifferenceTime;
      const int far = std::max(1, static_cast<int>(std::lround(wanted / segment_.period)));
      const double time = far * segment_.period;
      double sum = 0.0, count = 0.0;
      for (Eigen::Index k = (is_place ? 3 : 2) * far; k < column.size(); ++k) {
        double change = column[k] - column[k - far];
        if (is_rate) change = (change - column[k - far] + column[k - 2 * far]) / time;
        if (is_place) {
          change += 2.0 * (column[k - 2 * far] - column[k - far]);
          change = (change + column[k - 2 * far] - column[k - 3 * far]) / (time * time);
        }
        if (std::isnan(change)) continue;
        sum += change * change;
        count += 1.0;
      }
      double& density = is_rate ? turn : slide;
      density = std::max(density, std::sqrt(sum / std::max(count, 1.0) / time));
    }
    constexpr double kArm = 0.1;  // [m]
    if (turn == 0.0) turn = slide / kArm;
    for (int j = 0; j < n_; ++j) {
      const bool turns = mechanism_.joints[j].kind_traits().turns;
      jerk_.push_back(std::max(turns ? turn : slide, 1.0));
    }
  }

  std::vector<Row> rows_at(int instant) const {
    const int sample = instant * stride_;
    std::vector<Row> rows;
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      const auto column = static_cast<Eigen::Index>(i);
      const double value = segment_.angles(sample, column);
      if (std::isnan(value)) continue;
      const double offset = mechanism_.parameters[sensors_[i].offset].value;
      rows.push_back({value + offset, squared(angle_noise_[i]), static_cast<int>(i), -1});
    }
    for (int place = 0; place < program_.axis_count(); ++place) {
      const double value = segment_.inertial(sample, program_.axes()[place]);
      if (std::isnan(value)) continue;
      const double noise = inertial_noise_[place];
      rows.push_back({value, squared(noise), -1, place});
    }
    return rows;
  }

  void read_inertial(const Eigen::VectorXd& mean) {
    for (int i = 0; i < 3 * n_; ++i) std::fill_n(lanes_.motion(i), 4, mean[i]);
    for (int i = 3 * n_; i < size_; ++i) std::fill_n(lanes_.parameter(i - 3 * n_), 4, mean[i]);
    lanes_.compute_parameter_terms();
    lanes_.read();
  }

  /// Computes the residuals of the readings at a mean state, and their derivatives.
  void linearize(const std::vector<Row>& rows, const Eigen::VectorXd& mean,
                 Eigen::VectorXd& residual, Eigen::MatrixXd& slope) {
    read_inertial(mean);
    lanes_.linearize();
    residual.resize(std::ssize(rows));
    slope.setZero(std::ssize(rows), size_);
    std::vector<int> row_of(static_cast<std::size_t>(program_.axis_count()), -1);
    for (int row = 0; row < std::ssize(rows); ++row) {
      const Row& own = rows[row];
      if (own.axis >= 0) {
        row_of[own.axis] = row;
        residual[row] = own.value - lanes_.reading(own.axis)[0];
        continue;
      }
      const Encoder& sensor = sensors_[own.sensor];
      residual[row] =
          sensor.reading_difference(own.value - sensor.sum([&](int j) { return mean[j]; }));
      for (const Encoder::JointTerm& term : sensor.terms) slope(row, term.joint) += term.sign;
    }
    for (const SensingProgram::SparseEntry& entry : program_.derivatives()) {
      const int row = row_of[entry.axis];
      if (row < 0 || entry.column >= size_) continue;  // controls are not unknowns
      slope(row, entry.column) = lanes_.slope(entry)[0];
    }
  }

  /// Initializes the means from the encoders. Angles of unobserved joints are searched over a full
  /// turn, one joint after the other, to match the first readings of accelerometers or position
  /// sensors.
  void begin_at(const Eigen::MatrixXd& states) {
    const int count = instant_count();
    means_.setZero(size_, count);
    for (int k = 0; k < count; ++k) {
      const Eigen::Index column = std::min<Eigen::Index>(k * stride_, states.cols() - 1);
      means_.col(k).head(2 * n_) = states.col(column);
    }
    for (int i = 3 * n_; i < size_; ++i) means_.row(i).setConstant(constant(i - 3 * n_));
    const EncoderToJointMap readings(mechanism_);
    for (int j = 0; j < n_; ++j) {
      if (readings.is_observed(j) || !mechanism_.joints[j].kind_traits().wraps) continue;
      double least = std::numeric_limits<double>::infinity(), best = 0.0;
      for (int turn = 0; turn < kTurns; ++turn) {
        Eigen::VectorXd mean = means_.col(0);
        mean[j] = 2.0 * std::numbers::pi * turn / kTurns;
        if (mean[j] > std::numbers::pi) mean[j] -= 2.0 * std::numbers::pi;
        const double misfit = misfit_at_start(mean, j);
        if (misfit < least) {
          least = misfit;
          best = mean[j];
        }
      }
      means_.row(j).setConstant(best);
    }
  }

  /// Returns the misfit of accelerometers and position sensors to their first readings. It includes
  /// the sensors on the joint's child body, or all sensors if that body has none.
  double misfit_at_start(const Eigen::VectorXd& mean, int joint) {
    read_inertial(mean);
    const int body = mechanism_.joints[joint].body_b;
    const int samples =
        std::clamp(static_cast<int>(kStill / segment_.period), 1, segment_.sample_count());
    double own = 0.0, all = 0.0;
    bool is_own = false;
    for (int place = 0; place < program_.axis_count(); ++place) {
      const int axis = program_.axes()[place];
      if (order_of(axis) == 1) continue;
      double sum = 0.0, count = 0.0;
      for (const double value : segment_.inertial.col(axis).head(samples)) {
        if (std::isnan(value)) continue;
        sum += value;
        count += 1.0;
      }
      if (count == 0.0) continue;
      const double misfit = squared(sum / count - lanes_.reading(place)[0]);
      all += misfit;
      if (mechanism_.sensors[axis / Sensor::kAxes].body == body) {
        own += misfit;
        is_own = true;
      }
    }
    return is_own ? own : all;
  }

  Eigen::MatrixXd first_covariance() const {
    Eigen::VectorXd spread(size_);
    spread.head(n_).setConstant(kAngleSpread);
    spread.segment(n_, n_).setConstant(kRateSpread);
    spread.segment(2 * n_, n_).setConstant(kAccelerationSpread);
    for (int i = 3 * n_; i < size_; ++i) {
      const int index = program_.parameters()[i - 3 * n_];
      const Parameter& parameter = mechanism_.parameters[index];
      const int place = index - mechanism_.sensor_parameter_index(0, {});
      const auto sensor = static_cast<std::size_t>(place / Mechanism::kSensorParameters);
      const auto quantity = static_cast<SensorParameter>(place % Mechanism::kSensorParameters);
      spread[i] = std::min(parameter.prior_standard_deviation,
                           spread_of(mechanism_.sensors[sensor].kind_traits(), quantity));
    }
    return spread.cwiseAbs2().asDiagonal();
  }

  /// Advances the state by one instant, x ← F x.
  template <typename Vector>
  void move(Vector&& x) const {
    const double T = apart();
    for (int j = 0; j < n_; ++j) {
      x.row(j) += T * x.row(n_ + j) + 0.5 * T * T * x.row(2 * n_ + j);
      x.row(n_ + j) += T * x.row(2 * n_ + j);
    }
  }

  void add_jerk(Eigen::MatrixXd& covariance) const {
    const double T = apart();
    const double powers[3][3] = {{std::pow(T, 5) / 20.0, std::pow(T, 4) / 8.0, T * T * T / 6.0},
                                 {std::pow(T, 4) / 8.0, T * T * T / 3.0, T * T / 2.0},
                                 {T * T * T / 6.0, T * T / 2.0, T}};
    for (int j = 0; j < n_; ++j) {
      const double density = squared(jerk_[j]);
      for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
          covariance(a * n_ + j, b * n_ + j) += density * powers[a][b];
        }
      }
    }
  }

  /// Runs one forward pass, linearized at the means of the last round, and one backward pass.
  bool smooth() {
    const int count = instant_count();
    std::vector<Eigen::MatrixXd> filtered(static_cast<std::size_t>(count)),
        predicted(static_cast<std::size_t>(count));
    Eigen::MatrixXd filtered_means(size_, count), predicted_means(size_, count);
    Eigen::VectorXd mean = means_.col(0), residual;
    Eigen::MatrixXd covariance = first_covariance(), slope;
    const Eigen::VectorXd first = first_mean_.size() > 0 ? first_mean_ : mean;
    first_mean_ = mean = first;
    for (int k = 0; k < count; ++k) {
      predicted[k] = covariance;
      predicted_means.col(k) = mean;
      const std::vector<Row> rows = rows_at(k);
      const Eigen::VectorXd about = is_first_ ? mean : Eigen::VectorXd(means_.col(k));
      linearize(rows, about, residual, slope);
      residual -= slope * (mean - about);
      Eigen::VectorXd variances(std::ssize(rows));
      for (std::size_t i = 0; i < rows.size(); ++i) {
        variances[i] = rows[i].variance;
      }
      const Eigen::MatrixXd cross = covariance * slope.transpose();
      Eigen::MatrixXd spread = slope * cross;
      spread.diagonal() += variances;
      const SymmetricFactor factor(spread);
      if (!factor.ok()) return false;
      mean += cross * factor.solve(residual);
      covariance -= cross * factor.solve(cross.transpose());
      covariance = 0.5 * (covariance + covariance.transpose()).eval();
      if (!mean.allFinite()) return false;
      filtered[k] = covariance;
      filtered_means.col(k) = mean;
      move(mean);
      move(covariance);
      Eigen::MatrixXd turned = covariance.transpose();
      move(turned);
      covariance = turned.transpose();
      add_jerk(covariance);
    }
    is_first_ = false;
    means_.col(count - 1) = filtered_means.col(count - 1);
    for (int k = count - 1; k-- > 0;) {
      Eigen::MatrixXd moved = filtered[k];  // F P
      move(moved);
      const SymmetricFactor factor(predicted[k + 1]);
      if (!factor.ok()) return false;
      means_.col(k) =
          filtered_means.col(k) +
          moved.transpose() * factor.solve(means_.col(k + 1) - predicted_means.col(k + 1));
    }
    return means_.allFinite();
  }

  void write(Eigen::MatrixXd& states) const {
    for (Eigen::Index column = 0; column < states.cols(); ++column) {
      const double place = static_cast<double>(column) / stride_;
      const auto k = std::min<Eigen::Index>(static_cast<Eigen::Index>(place), means_.cols() - 1);
      const Eigen::Index next = std::min(k + 1, means_.cols() - 1);
      const double share = place - static_cast<double>(k);
      states.col(column) =
          (1.0 - share) * means_.col(k).head(2 * n_) + share * means_.col(next).head(2 * n_);
    }
  }

  const Mechanism& mechanism_;
  const Segment& segment_;
  int n_;
  std::vector<Encoder> sensors_;
  SensingProgram program_;
  SimdSensorReadings<4> lanes_;
  int size_, stride_ = 1;
  std::vector<double> angle_noise_, inertial_noise_, jerk_;
  bool is_first_ = true;  // whether there are no means yet for linearization
  Eigen::VectorXd first_mean_;
  Eigen::MatrixXd means_;  // angles, rates, accelerations, constants × instants
};

}  // namespace

void smooth_kinematics(const Mechanism& mechanism, const Segment& segment,
                       Eigen::MatrixXd& states) {
  if (kinematic_axes(mechanism, segment).empty()) return;
  Smoother(mechanism, segment).run(states);
}

}  // namespace estimator
