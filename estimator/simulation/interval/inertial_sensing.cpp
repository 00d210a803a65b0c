#include "estimator/simulation/interval/inertial_sensing.hpp"

#include <algorithm>
#include <memory>

#include "estimator/math/parallel_jobs.hpp"
#include "estimator/simulation/interval/motion_lanes.hpp"

namespace estimator {
namespace {

constexpr int kSensingLanes = 16;  // lanes

using RowMajor = IntervalSensitivities::RowMajor;

/// One sample instant of one interval.
struct Place {
  std::size_t interval;
  int look;  ///< of the interval, from 0
};

std::vector<Place> places_of(std::span<const MotionInterval> intervals) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    for (int look = 0; look < intervals[i].last_instant - intervals[i].first_instant; ++look) {
      places.push_back({i, look});
    }
  }
  return places;
}

/// Loads the motion at a sample instant, and the increase of the controls over the substep, into a
/// lane.
void load_look(SimdMotionIntegrator& lanes, int lane, const MotionInterval& interval, int look) {
  const SampleInstantMotion& log = *interval.instants;
  const int at = interval.first_instant + look - log.first;
  for (int row = 0; row < log.states.rows(); ++row) lanes.state(row)[lane] = log.states(row, at);
  for (int j = 0; j < log.guesses.rows(); ++j) lanes.guess(j)[lane] = log.guesses(j, at);
  const double time = interval.sample_instants[interval.first_instant + look];
  const SegmentControls& controls = *interval.controls;
  const int substep = log.substeps[at];
  set_segment_controls(lanes, lane, controls, substep, time,
                       time + controls.end(substep) - controls.begin(substep));
  set_contact_states(lanes, lane, log.contacts[at]);
}

/// Calls `use(lane, place)` for each sample instant, after `work` has processed its batch.
template <typename Work, typename Use>
void for_each_look(std::span<const MotionInterval> intervals, std::span<const Place> places,
                   SimdMotionIntegrator& lanes, const Work& work, const Use& use) {
  for (std::size_t first = 0; first < places.size(); first += kSensingLanes) {
    const int count = static_cast<int>(std::min<std::size_t>(kSensingLanes, places.size() - first));
    for (int lane = 0; lane < kSensingLanes; ++lane) {  // unused lanes repeat the last instant
      const Place& place = places[first + static_cast<std::size_t>(std::min(lane, count - 1))];
      load_look(lanes, lane, intervals[place.interval], place.look);
    }
    work();
    for (int lane = 0; lane < count; ++lane) {
      use(lane, places[first + static_cast<std::size_t>(lane)]);
    }
  }
}

/// Copies the joint motion and the controls to the sensing lanes.
void pass_motion(SimdMotionIntegrator& from, SimdSensorReadings<kSensingLanes>& to) {
  const int n = from.joint_count();
  for (int j = 0; j < n; ++j) {
    std::copy_n(from.joint_angle(j), kSensingLanes, to.motion(j));
    std::copy_n(from.joint_rate(j), kSensingLanes, to.motion(n + j));
    std::copy_n(from.joint_acceleration(j), kSensingLanes, to.motion(2 * n + j));
  }
  for (int m = 0; m < from.control_count(); ++m)
    std::copy_n(from.control(m), kSensingLanes, to.control(m));
}

/// Writes the joint motion of a lane to a column: angles, rates, accelerations.
void store_motion(const SimdMotionIntegrator& lanes, int lane, Eigen::Ref<Eigen::VectorXd> motion) {
  const int n = lanes.joint_count();
  for (int j = 0; j < n; ++j) {
    motion[j] = lanes.joint_angle(j)[lane];
    motion[n + j] = lanes.joint_rate(j)[lane];
    motion[2 * n + j] = lanes.joint_acceleration(j)[lane];
  }
}

/// Computes derivatives of readings at a batch of sample instants, by the state there and the
/// parameters.
class LookSlopes {
 public:
  LookSlopes(const TreeProgram& program, const SensingProgram& sensing, const Mechanism& values)
      : sensing_(sensing),
        program_(program),
        integrator_(SimdMotionIntegrator::make(kSensingLanes, program, values, true)),
        lanes_(*integrator_),
        sensors_(sensing, values),
        directions_(lanes_.derivative_column_count()),
        states_(2 * lanes_.coordinate_count()),
        motion_(make_zero_rows<kSensingLanes>(3 * lanes_.joint_count() * directions_)),
        moves_(static_cast<std::size_t>(3 * lanes_.joint_count() * directions_)) {
    int rows = 0;
    for (int axis = 0; axis < sensing.axis_count(); ++axis) {
      first_.push_back(rows);
      rows += columns(axis);
      has_delays_ |= !sensing.delay_dependencies(axis).empty();
    }
    slopes_ = make_zero_rows<kSensingLanes>(rows);
    growth_ = make_zero_rows<kSensingLanes>(sensing.axis_count());
  }

  SimdMotionIntegrator& lanes() { return lanes_; }
  /// Returns the number of columns: state, motion parameters, and constants on which an axis
  /// depends.
  int columns(int axis) const {
    return directions_ + static_cast<int>(sensing_.sensor_parameters(axis).size());
  }
  const double* slope(int axis, int column) const {
    return row_at<kSensingLanes>(slopes_, row_of(axis, column));
  }

  void find() {
    find_growth();
    lanes_.compute_start_derivatives();
    pass_motion(lanes_, sensors_);
    sensors_.read();
    sensors_.linearize();
    const int n = lanes_.joint_count();
    for (int j = 0; j < n; ++j) {
      for (int d = 0; d < directions_; ++d) {
        lanes_.joint_sensitivities(j, d, motion(j, d), motion(n + j, d), motion(2 * n + j, d));
      }
    }
    // In most directions neither angles nor rates change.
    for (int row = 0; row < 3 * n * directions_; ++row) {
      const double* moved = row_at<kSensingLanes>(motion_, row);
      moves_[row] =
          std::any_of(moved, moved + kSensingLanes, [](double value) { return value != 0.0; });
    }
    std::fill(slopes_.begin(), slopes_.end(), 0.0);
    for (const SensingProgram::SparseEntry& entry : sensing_.derivatives()) {
      const double* own = sensors_.slope(entry);
      if (entry.column >= sensing_.control_column(0)) {
        const int motor = entry.column - sensing_.control_column(0);
        const double* late = lanes_.control_delay_derivative(motor);
        for (const auto& [place, factor] : program_.delay_dependencies(motor)) {
          add(entry.axis, states_ + place, [=, f = factor](int i) { return f * own[i] * late[i]; });
        }
        continue;
      }
      if (entry.column >= 3 * n) {
        const int column = sensing_.derivative_column(entry.axis, entry.column - 3 * n, states_);
        add(entry.axis, column, [=](int i) { return own[i]; });
        continue;
      }
      for (int d = 0; d < directions_; ++d) {
        if (!moves_[entry.column * directions_ + d]) continue;
        const double* moved = motion(entry.column, d);
        add(entry.axis, d, [=](int i) { return own[i] * moved[i]; });
      }
    }
    find_delays();
  }

 private:
  int row_of(int axis, int column) const { return first_[axis] + column; }
  double* motion(int row, int direction) {
    return row_at<kSensingLanes>(motion_, row * directions_ + direction);
  }
  template <typename F>
  void add(int axis, int column, const F& f) {
    double* sum = row_at<kSensingLanes>(slopes_, row_of(axis, column));
    for_lanes<kSensingLanes>(sum, [=](int i) { return sum[i] + f(i); });
  }

  /// Computes the rate at which the controls alone change the readings within a substep [1/s].
  /// Readings are linear in the controls, except for load-dependent friction.
  void find_growth() {
    const int rows = lanes_.control_count() * kSensingLanes;
    const double *const rise = lanes_.rise(0), *const length = lanes_.substep_length();
    grows_ = has_delays_ && std::any_of(rise, rise + rows, [](double by) { return by != 0.0; });
    if (!grows_) return;
    double* const control = lanes_.control(0);
    const std::vector<double> now(control, control + rows);
    for (const double sign : {-1.0, 1.0}) {
      for (int i = 0; i < rows; ++i) {
        control[i] = now[i] + sign * 0.5 * rise[i];
      }
      lanes_.compute_start_accelerations();
      pass_motion(lanes_, sensors_);
      sensors_.read();
      for (int axis = 0; axis < sensing_.axis_count(); ++axis) {
        const double* reading = sensors_.reading(axis);
        double* growth = row_at<kSensingLanes>(growth_, axis);
        for_lanes<kSensingLanes>(growth, [=](int i) {
          return sign < 0.0 ? reading[i] : (reading[i] - growth[i]) / length[i];
        });
      }
    }
    std::ranges::copy(now, control);
  }

  /// Sets the derivatives by a sensor's delay: minus the time derivative of the reading.
  void find_delays() {
    const int c = lanes_.coordinate_count();
    for (int axis = 0; axis < sensing_.axis_count(); ++axis) {
      for (const SensingProgram::DelayDependency& source : sensing_.delay_dependencies(axis)) {
        const int column = sensing_.derivative_column(axis, source.place, states_);
        if (grows_) {
          const double* growth = row_at<kSensingLanes>(growth_, axis);
          add(axis, column, [=, f = source.factor](int i) { return -f * growth[i]; });
        }
        for (int p = 0; p < c; ++p) {
          const double *by_angle = slope(axis, p), *by_rate = slope(axis, c + p),
                       *rate = lanes_.state(c + p),
                       *acceleration = lanes_.coordinate_acceleration(p);
          add(axis, column, [=, f = source.factor](int i) {
            return -f * (by_angle[i] * rate[i] + by_rate[i] * acceleration[i]);
          });
        }
      }
    }
  }

  const SensingProgram& sensing_;
  const TreeProgram& program_;
  std::unique_ptr<SimdMotionIntegrator> integrator_;
  SimdMotionIntegrator& lanes_;
  SimdSensorReadings<kSensingLanes> sensors_;
  int directions_, states_;
  Rows motion_;              // of joint angles, rates, accelerations × directions
  std::vector<bool> moves_;  // of its rows: whether any lane is nonzero
  std::vector<int> first_;   // row of each axis' first column
  Rows slopes_;              // of all axes, consecutively
  bool has_delays_ = false;  // whether derivatives by any sensor's delay are needed
  bool grows_ = false;       // whether any control changes within its substep
  Rows growth_;              // of each axis due to this
};

}  // namespace

void compute_sensor_readings(const TreeProgram& program, const SensingProgram& sensing,
                             const Mechanism& values, std::span<const MotionInterval> intervals,
                             std::span<Eigen::MatrixXd> readings, int threads) {
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    readings[i].resize(intervals[i].last_instant - intervals[i].first_instant,
                       sensing.axis_count());
  }
  const std::vector<Place> places = places_of(intervals);
  constexpr std::size_t kBatch = 64 * kSensingLanes;
  run_parallel_batches(threads, places.size(), kBatch, [&](std::size_t first, std::size_t count) {
    const auto lanes = SimdMotionIntegrator::make(kSensingLanes, program, values, false);
    SimdSensorReadings<kSensingLanes> sensors(sensing, values);
    for_each_look(
        intervals, std::span(places).subspan(first, count), *lanes,
        [&] {
          lanes->compute_start_accelerations();
          pass_motion(*lanes, sensors);
          sensors.read();
        },
        [&](int lane, const Place& place) {
          for (int axis = 0; axis < sensing.axis_count(); ++axis) {
            readings[place.interval](place.look, axis) = sensors.reading(axis)[lane];
          }
        });
  });
}

Eigen::MatrixXd motion_at_sample_instants(const TreeProgram& program, const Mechanism& values,
                                          std::span<const MotionInterval> intervals) {
  const auto lanes = SimdMotionIntegrator::make(kSensingLanes, program, values, false);
  const std::vector<Place> places = places_of(intervals);
  Eigen::MatrixXd motion(3 * lanes->joint_count(), std::ssize(places));
  Eigen::Index at = 0;
  for_each_look(
      intervals, places, *lanes, [&] { lanes->compute_start_accelerations(); },
      [&](int lane, const Place&) { store_motion(*lanes, lane, motion.col(at++)); });
  return motion;
}

void differentiate_sensor_readings(const TreeProgram& program, const SensingProgram& sensing,
                                   const Mechanism& values,
                                   std::span<const MotionInterval> intervals,
                                   std::span<IntervalSensitivities::IntervalDerivatives> results) {
  LookSlopes slopes(program, sensing, values);
  const int states = 2 * program.coordinate_count();
  const int directions = slopes.lanes().derivative_column_count(), axes = sensing.axis_count();
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const int instants = intervals[i].last_instant - intervals[i].first_instant;
    results[i].inertial.clear();
    for (int axis = 0; axis < axes; ++axis) {
      results[i].inertial.emplace_back(instants, slopes.columns(axis));
    }
  }
  for_each_look(
      intervals, places_of(intervals), slopes.lanes(), [&] { slopes.find(); },
      [&](int lane, const Place& place) {
        IntervalSensitivities::IntervalDerivatives& result = results[place.interval];
        const auto moved = result.instants.middleRows(place.look * states, states);
        for (int axis = 0; axis < axes; ++axis) {
          auto row = result.inertial[axis].row(place.look);
          for (int d = 0; d < slopes.columns(axis); ++d) {
            row[d] = d < states ? 0.0 : slopes.slope(axis, d)[lane];
          }
          for (int s = 0; s < states; ++s) {
            row.head(directions) += slopes.slope(axis, s)[lane] * moved.row(s);
          }
        }
      });
  for (IntervalSensitivities::IntervalDerivatives& result : results) result.instants.resize(0, 0);
}

void linearize_sample_instant_motion(const TreeProgram& program, const Mechanism& values,
                                     std::span<const MotionInterval> intervals,
                                     Eigen::MatrixXd& motion, std::vector<RowMajor>& slopes) {
  const auto integrator = SimdMotionIntegrator::make(kSensingLanes, program, values, true);
  SimdMotionIntegrator& lanes = *integrator;
  const int n = lanes.joint_count(), motors = lanes.control_count(), rows = 3 * n + motors;
  const int directions = lanes.derivative_column_count(), states = 2 * program.coordinate_count();
  const std::vector<Place> places = places_of(intervals);
  motion.resize(rows, std::ssize(places));
  slopes.assign(places.size(), RowMajor(rows, directions));
  Eigen::Index at = 0;
  Rows joint_sensitivities = make_zero_rows<kSensingLanes>(rows * directions);
  const auto slope_at = [&](int row, int d) {
    return row_at<kSensingLanes>(joint_sensitivities, row * directions + d);
  };
  for_each_look(
      intervals, places, lanes,
      [&] {
        lanes.compute_start_derivatives();
        for (int j = 0; j < n; ++j) {
          for (int d = 0; d < directions; ++d) {
            lanes.joint_sensitivities(j, d, slope_at(j, d), slope_at(n + j, d),
                                      slope_at(2 * n + j, d));
          }
        }
        for (int m = 0; m < motors; ++m) {
          for (const auto& [place, factor] : program.delay_dependencies(m)) {
            const double* late = lanes.control_delay_derivative(m);
            for_lanes<kSensingLanes>(slope_at(3 * n + m, states + place),
                                     [=, f = factor](int i) { return f * late[i]; });
          }
        }
      },
      [&](int lane, const Place&) {
        store_motion(lanes, lane, motion.col(at));
        for (int m = 0; m < motors; ++m) motion(3 * n + m, at) = lanes.control(m)[lane];
        for (int row = 0; row < rows; ++row) {
          for (int d = 0; d < directions; ++d) {
            slopes[at](row, d) = slope_at(row, d)[lane];
          }
        }
        ++at;
      });
}

void compute_readings_of_motion(const SensingProgram& sensing, const Mechanism& values,
                                const Eigen::MatrixXd& motion, Eigen::MatrixXd& readings,
                                std::vector<RowMajor>& slopes) {
  SimdSensorReadings<kSensingLanes> lanes(sensing, values);
  const int moves = 3 * sensing.joint_count();
  readings.resize(sensing.axis_count(), motion.cols());
  slopes.assign(static_cast<std::size_t>(motion.cols()),
                RowMajor::Zero(sensing.axis_count(), sensing.column_count()));
  for (Eigen::Index first = 0; first < motion.cols(); first += kSensingLanes) {
    const auto count =
        static_cast<int>(std::min<Eigen::Index>(kSensingLanes, motion.cols() - first));
    for (int lane = 0; lane < kSensingLanes; ++lane) {  // unused lanes repeat the last
      const auto of = motion.col(first + std::min(lane, count - 1));
      for (int i = 0; i < moves; ++i) lanes.motion(i)[lane] = of[i];
      for (int m = 0; m < sensing.control_count(); ++m) lanes.control(m)[lane] = of[moves + m];
    }
    lanes.read();
    lanes.linearize();
    for (int lane = 0; lane < count; ++lane) {
      for (int axis = 0; axis < sensing.axis_count(); ++axis) {
        readings(axis, first + lane) = lanes.reading(axis)[lane];
      }
      for (const SensingProgram::SparseEntry& entry : sensing.derivatives()) {
        slopes[first + lane](entry.axis, entry.column) = lanes.slope(entry)[lane];
      }
    }
  }
}

}  // namespace estimator
