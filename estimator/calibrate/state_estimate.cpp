#include "estimator/calibrate/state_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>

#include "estimator/calibrate/held_out_sensors.hpp"
#include "estimator/calibrate/state_filter.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/math/decompositions.hpp"
#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

constexpr std::size_t kLoadBatch = 64;  // samples whose loads are computed together

/// Returns a matrix root with root·rootᵀ = `covariance`, which may be singular.
Eigen::MatrixXd root_of(const Eigen::MatrixXd& covariance) {
  if (covariance.size() == 0) return covariance;
  const SymmetricEigen solved = symmetric_eigen(covariance);
  return solved.vectors * solved.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

/// Returns the standard deviations of quantities, given their derivatives with respect to motion
/// and parameters.
Eigen::VectorXd deviations_of(const Eigen::MatrixXd& slopes, const Eigen::MatrixXd& covariance,
                              const Eigen::MatrixXd& along_root) {
  const Eigen::VectorXd variance = (slopes * covariance).cwiseProduct(slopes).rowwise().sum();
  const Eigen::VectorXd of_parameters = along_root.rowwise().squaredNorm();
  return (variance.cwiseMax(0.0) + of_parameters).cwiseSqrt();
}

/// Computes motion and loads of all joints from the estimated states of a segment.
class JointOutputs {
 public:
  /// @param out  receives the result; allocated by the constructor
  JointOutputs(const SegmentSimulator& steps, const StateEstimationOptions& options,
               StateEstimate& out)
      : steps_(steps), out_(out), root_(root_of(options.spread.covariance)) {
    const Mechanism& mechanism = steps.freed_mechanism();
    const auto columns = steps.joint_count() * kStateQuantities;
    out.times = steps.times();
    out.values.setConstant(steps.sample_count(), columns, std::numeric_limits<double>::quiet_NaN());
    out.deviations = out.values;
    std::vector<int> axes, moving;
    for (int j = 0; options.loads && j < steps.joint_count(); ++j) {
      for (int load = 0; load < static_cast<int>(JointLoad::kCount); ++load) {
        const int quantity = load_quantity_index(static_cast<JointLoad>(load));
        if (!is_observable(mechanism, j, quantity)) continue;
        axes.push_back(joint_load_axis(mechanism, j, static_cast<JointLoad>(load)));
        quantities_.push_back(quantity);
        joints_.push_back(j);
      }
    }
    if (axes.empty()) return;
    for (const int index : options.spread.parameters) {
      const bool moves = steps.affects_motion(index);
      columns_.push_back(moves ? static_cast<int>(moving.size()) : -1);
      if (moves) moving.push_back(index);
    }
    loads_ = std::make_unique<const SensingProgram>(steps.segment_mechanism(), axes, moving);
  }

  /// Adds the estimate of one sample to the result.
  /// @param step      linearised about the state to which the mean of `estimate` is relative
  void add(int sample, const SampleTransition& step, const StateFilter::Estimate& estimate) {
    const int c = steps_.coordinate_count(), n = steps_.joint_count();
    const Eigen::MatrixXd S = step.motion_sensitivities.leftCols(2 * c);
    // Disturbances as accelerations that are constant until the next sample.
    Eigen::MatrixXd B = Eigen::MatrixXd::Zero(S.rows(), 2 * c);
    B.block(2 * n, c, n, c) = S.block(n, c, n, c) / steps_.sample_period(sample);
    const Eigen::MatrixXd means = S * estimate.mean + B * estimate.disturbance;
    const Eigen::MatrixXd mixed = S * estimate.cross * B.transpose();
    waiting_.push_back(
        {sample, step.motion + means.col(0),
         S * estimate.covariance * S.transpose() +
             B * estimate.disturbance_covariance * B.transpose() + mixed + mixed.transpose(),
         means.rightCols(means.cols() - 1) +
             step.motion_sensitivities.rightCols(step.motion_sensitivities.cols() - 2 * c)});
    if (waiting_.size() == kLoadBatch) flush();
  }

  /// Writes all pending samples to the result. Call this after adding the last sample.
  void flush() {
    Eigen::MatrixXd values;
    std::vector<IntervalSensitivities::RowMajor> slopes(waiting_.size());
    values.resize(0, std::ssize(waiting_));
    if (loads_ && !waiting_.empty()) {
      Eigen::MatrixXd motion(waiting_.front().value.size(), std::ssize(waiting_));
      for (std::size_t i = 0; i < waiting_.size(); ++i) {
        motion.col(static_cast<Eigen::Index>(i)) = waiting_[i].value;
      }
      compute_readings_of_motion(*loads_, steps_.segment_mechanism(), motion, values, slopes);
    }
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      write(waiting_[i], values.col(static_cast<Eigen::Index>(i)), slopes[i]);
    }
    waiting_.clear();
  }

 private:
  /// The estimated motion at one sample, and its errors.
  struct Motion {
    int sample;
    Eigen::VectorXd value;       // joint angles, rates, accelerations, and controls
    Eigen::MatrixXd covariance;  // for exact parameters
    Eigen::MatrixXd along;       // derivatives with respect to the parameters
  };

  /// Writes motion, loads and standard deviations of one sample to the result.
  /// @param slopes  derivatives of the loads, with columns for joint angles, rates, accelerations,
  ///                parameters and controls
  void write(const Motion& motion, const Eigen::VectorXd& loads, const Eigen::MatrixXd& slopes) {
    const int n = steps_.joint_count(), moves = 3 * n;
    const Eigen::MatrixXd along = motion.along * root_;
    const Eigen::VectorXd own =
        deviations_of(Eigen::MatrixXd::Identity(motion.value.size(), motion.value.size()),
                      motion.covariance, along);
    for (int j = 0; j < n; ++j) {
      for (int part = 0; part < 3; ++part) {
        out_.values(motion.sample, StateEstimate::column_index(j, part)) =
            motion.value[part * n + j];
        out_.deviations(motion.sample, StateEstimate::column_index(j, part)) = own[part * n + j];
      }
    }
    if (!loads_) return;
    const Eigen::Index motors = motion.value.size() - moves;
    Eigen::MatrixXd by_motion(loads.size(), motion.value.size());
    by_motion << slopes.leftCols(moves), slopes.rightCols(motors);
    Eigen::MatrixXd by_parameters = by_motion * motion.along;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] < 0) continue;
      by_parameters.col(static_cast<Eigen::Index>(i)) += slopes.col(moves + columns_[i]);
    }
    const Eigen::VectorXd spread =
        deviations_of(by_motion, motion.covariance, by_parameters * root_);
    for (std::size_t i = 0; i < quantities_.size(); ++i) {
      const Eigen::Index column = StateEstimate::column_index(joints_[i], quantities_[i]);
      out_.values(motion.sample, column) = loads[static_cast<Eigen::Index>(i)];
      out_.deviations(motion.sample, column) = spread[static_cast<Eigen::Index>(i)];
    }
  }

  const SegmentSimulator& steps_;
  StateEstimate& out_;
  Eigen::MatrixXd root_;                         // of the parameter covariance C = root rootᵀ
  std::vector<int> quantities_, joints_;         // of each load computed
  std::unique_ptr<const SensingProgram> loads_;  // null: no loads
  std::vector<int> columns_;  // index of each parameter among those of the loads; −1: none
  std::vector<Motion> waiting_;
};

/// Estimates motion and loads at all samples of one segment after a joint estimation.
class SegmentStates {
 public:
  SegmentStates(const ShootingFit& fit, int segment, const StateEstimationOptions& options,
                int threads)
      : problem_(fit.joint_problem()),
        options_(options),
        segment_(fit.input().segments[static_cast<std::size_t>(segment)]),
        nodes_(problem_.node_states(segment)),
        steps_(problem_.mechanism(), segment_, fit.input().grid, problem_.node_times(segment),
               options.spread.parameters, threads),
        sensors_(used_encoders(problem_.mechanism())),
        c_(steps_.coordinate_count()) {
    density_.setZero(c_);
    for (int p = 0; p < c_; ++p) {
      if (fit.is_process_noise_significant(p)) density_[p] = problem_.noise().acceleration[p];
    }
    find_readings();
    out_.start = segment_.start;
    out_.controls = segment_.controls;
  }

  StateEstimate run() {
    JointOutputs outputs(steps_, options_, out_);
    StateFilter filter = start();
    if (options_.readings == ReadingSelection::kAll) {
      smooth(filter, outputs);
    } else {
      follow(filter, outputs);
    }
    outputs.flush();
    return std::move(out_);
  }

 private:
  int count() const { return steps_.sample_count(); }
  Eigen::Index parameter_count() const { return std::ssize(options_.spread.parameters); }
  double parameter(int index) const { return problem_.mechanism().at(index).value; }

  /// Assigns each reading to the sample at which it was measured, given the sensor's delay.
  void find_readings() {
    sensed_.resize(static_cast<std::size_t>(count()));
    read_.resize(static_cast<std::size_t>(count()));
    for (int place = 0; place < std::ssize(steps_.inertial_axes()); ++place) {
      const int axis = steps_.inertial_axes()[static_cast<std::size_t>(place)];
      for (int k = 0; k < count(); ++k) {
        if (std::isnan(segment_.inertial(k, axis))) continue;
        book(sensed_, {place, k, 0.0},
             parameter(delay_parameter_of_axis(problem_.mechanism(), axis)));
      }
    }
    for (int sensor = 0; sensor < std::ssize(sensors_); ++sensor) {
      for (int k = 0; k < count(); ++k) {
        if (std::isnan(segment_.angles(k, sensor))) continue;
        book(read_, {sensor, k, 0.0}, parameter(sensors_[static_cast<std::size_t>(sensor)].delay));
      }
    }
  }

  /// A reading and the time between its sample and its measurement [s].
  struct Read {
    int sensor;  ///< an encoder, or the index of an axis
    int row;     ///< row in which it was recorded
    double after;
  };

  /// Stores a reading at its sample. Drops readings measured outside the segment.
  void book(std::vector<std::vector<Read>>& books, Read reading, double delay) const {
    int sample = reading.row;
    if (delay != 0.0) {
      const double of = segment_.time(reading.row) - delay;
      if (of < 0.0 || of > segment_.duration()) return;
      sample = std::min(segment_.first_sample_at_or_after(of - 0.5 * segment_.period), count() - 1);
      reading.after = of - segment_.time(sample);
    }
    books[static_cast<std::size_t>(sample)].push_back(reading);
  }

  /// Returns a filter whose initial state has the prior of the joint estimation.
  StateFilter start() const {
    Eigen::VectorXd spread(2 * c_);
    spread << Eigen::VectorXd::Constant(c_, kStartAngleDeviation),
        Eigen::VectorXd::Constant(c_, kStartRateDeviation);
    return {Eigen::MatrixXd::Zero(2 * c_, 1 + parameter_count()),
            spread.cwiseAbs2().asDiagonal().toDenseMatrix()};
  }

  /// Returns the readings at a sample minus the readings expected from the linearised step.
  std::vector<StateFilter::Reading> readings_of(int sample, const SampleTransition& step) const {
    std::vector<StateFilter::Reading> readings;
    const auto add = [&](const Eigen::RowVectorXd& slopes, double error, double deviation) {
      StateFilter::Reading reading{slopes.head(2 * c_).transpose(),
                                   Eigen::RowVectorXd(1 + parameter_count()),
                                   deviation * deviation};
      reading.residual << error, -slopes.tail(parameter_count());
      readings.push_back(std::move(reading));
    };
    for (const Read& each : read_[static_cast<std::size_t>(sample)]) {
      const Encoder& sensor = sensors_[static_cast<std::size_t>(each.sensor)];
      const int n = steps_.joint_count();
      Eigen::RowVectorXd slopes = Eigen::RowVectorXd::Zero(step.motion_sensitivities.cols());
      for (const Encoder::JointTerm& term : sensor.terms) {
        slopes += term.sign * step.motion_sensitivities.row(term.joint);
        if (each.after == 0.0) continue;
        slopes += term.sign * each.after * step.motion_sensitivities.row(n + term.joint);
      }
      const double rate = sensor.sum([&](int joint) { return step.motion[n + joint]; });
      const double growth = sensor.sum([&](int joint) { return step.motion[2 * n + joint]; });
      double expected = sensor.sum([&](int joint) { return step.motion[joint]; }) +
                        each.after * (rate + 0.5 * each.after * growth);
      const auto move = [&](int index, double slope) {
        const auto at = std::ranges::find(options_.spread.parameters, index);
        if (at == options_.spread.parameters.end()) return;
        slopes[2 * c_ + (at - options_.spread.parameters.begin())] += slope;
      };
      const auto shift = [&](int index, double sign) {
        expected += sign * parameter(index);
        move(index, sign);
      };
      shift(sensor.offset, -1.0);
      move(sensor.delay, -rate);
      for (const EncoderShift& shifted : segment_.shifts) {
        if (shifted.sensor == each.sensor && each.row >= shifted.sample) {
          shift(shifted.parameter, 1.0);
        }
      }
      add(slopes, sensor.reading_difference(segment_.angles(each.row, each.sensor) - expected),
          problem_.noise().angle[each.sensor]);
    }
    for (const Read& each : sensed_[static_cast<std::size_t>(sample)]) {
      const double expected = step.sensed[each.sensor] + each.after * step.sensed_rate[each.sensor];
      const int axis = steps_.inertial_axes()[static_cast<std::size_t>(each.sensor)];
      add(step.sensed_sensitivities.row(each.sensor), segment_.inertial(each.row, axis) - expected,
          problem_.noise().inertial[axis]);
    }
    return readings;
  }

  /// Returns the covariance of the disturbance that acts until the next sample.
  Eigen::MatrixXd push_of(int sample) const {
    const double T = steps_.sample_period(sample);
    Eigen::MatrixXd disturbance = Eigen::MatrixXd::Zero(2 * c_, 2 * c_);
    for (int p = 0; p < c_; ++p) {
      const double density = density_[p] * density_[p];
      disturbance(p, p) = density * T * T * T / 3.0;
      disturbance(p, c_ + p) = disturbance(c_ + p, p) = density * T * T / 2.0;
      disturbance(c_ + p, c_ + p) = density * T;
    }
    return disturbance;
  }

  /// Moves the filter from one sample to the next.
  /// @param next  linearisation state of the next sample
  void move(StateFilter& filter, int sample, const SampleTransition& step,
            const Eigen::VectorXd& next) {
    if (sample + 1 == count()) {
      filter.move(Eigen::MatrixXd::Identity(2 * c_, 2 * c_),
                  Eigen::MatrixXd::Zero(2 * c_, 1 + parameter_count()), push_of(sample));
      return;
    }
    Eigen::MatrixXd defect(2 * c_, 1 + parameter_count());
    defect << next - step.end, -step.end_sensitivities.rightCols(parameter_count());
    filter.move(step.end_sensitivities.leftCols(2 * c_), defect, push_of(sample));
  }

  /// Smooths the states with all readings, linearised about the motion from the shooting nodes.
  void smooth(StateFilter& filter, JointOutputs& outputs) {
    const SegmentSimulator::SampleStates at = steps_.simulate(nodes_);
    const std::vector<SampleTransition> steps = steps_.linearize(0, at);
    for (int k = 0; k < count(); ++k) {
      const SampleTransition& step = steps[static_cast<std::size_t>(k)];
      filter.read(readings_of(k, step));
      move(filter, k, step, at.states.col(std::min(k + 1, count() - 1)));
    }
    for (StateFilter::BackwardSmoother back(filter, count() - 1);; back.step()) {
      outputs.add(back.sample_index(), steps[static_cast<std::size_t>(back.sample_index())],
                  back.estimate_state());
      if (back.sample_index() == 0) break;
    }
  }

  /// Filters the states, linearised about the filter's own estimates. Each estimate uses readings
  /// up to a lag beyond its sample.
  void follow(StateFilter& filter, JointOutputs& outputs) {
    std::vector<SampleTransition> steps;
    SegmentSimulator::SampleStates at{steps_.select_independent_coordinates(nodes_.col(0)),
                                      nodes_.col(0).head(steps_.joint_count())};
    for (int k = 0; k < count(); ++k) {
      filter.read(readings_of(k, steps_.linearize(k, at).front()));
      at.states += filter.mean().col(0);
      filter.relinearise_at_mean();
      steps.push_back(steps_.linearize(k, at).front());
      at.states = steps.back().end;
      at.guesses = steps.back().motion.head(steps_.joint_count());
      move(filter, k, steps.back(), at.states);
    }
    for (int k = 0, last = 0; k < count(); ++k) {
      const double until = segment_.time(k) + options_.lag + kSampleTolerance * segment_.period;
      while (last + 1 < count() && segment_.time(last + 1) <= until) ++last;
      outputs.add(k, steps[static_cast<std::size_t>(k)], filter.estimate_state(k, last));
    }
  }

  const ShootingProblem& problem_;
  const StateEstimationOptions& options_;
  const Segment& segment_;
  Eigen::MatrixXd nodes_;
  SegmentSimulator steps_;
  std::vector<Encoder> sensors_;
  int c_;
  Eigen::VectorXd density_;  // root spectral density of the unexplained acceleration
  std::vector<std::vector<Read>> read_, sensed_;  // by sample: encoders, and other sensors
  StateEstimate out_;
};

}  // namespace

bool is_observable(const Mechanism& mechanism, int joint, int quantity) {
  if (quantity < static_cast<int>(StateQuantity::kLoads)) return true;
  const bool is_driven = mechanism.joints[static_cast<std::size_t>(joint)].motor.present;
  if (quantity == load_quantity_index(JointLoad::kMotorTorque)) return is_driven;
  return is_tree_mechanism(mechanism);
}

std::vector<StateEstimate> estimate_states(const Mechanism& rig, const Mechanism& estimate,
                                           const std::vector<Recording>& recordings,
                                           const CalibrationOptions& options,
                                           const CalibrationMonitor& monitor,
                                           const StateEstimationOptions& wanted) {
  const std::vector<Recording> used = split_held_out_sensors(rig, recordings);
  ShootingFit fit(prepare_shooting_input(fix_parameters(rig), used, options), options, monitor,
                  {EstimationStage::kStateEstimation, EstimationStage::kInitialStates});
  fit.estimate_jointly(fix_parameters(estimate));
  std::vector<StateEstimate> estimates;
  for (int s = 0; s < fit.joint_problem().segment_count() && !fit.is_cancelled(); ++s) {
    estimates.push_back(SegmentStates(fit, s, wanted, monitor.threads).run());
    estimates.back().recording = fit.input().sources[static_cast<std::size_t>(s)];
  }
  return estimates;
}

}  // namespace estimator
