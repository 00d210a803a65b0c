#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "estimator/math/parallel_jobs.hpp"
#include "estimator/model/joint_stop.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/simulation/interval/inertial_sensing.hpp"
#include "estimator/simulation/interval/interval_motion.hpp"
#include "estimator/simulation/interval/motion_lanes.hpp"
#include "estimator/simulation/lane_rows.hpp"
#include "estimator/simulation/loops/ground_contact_points.hpp"

namespace estimator {
namespace {

using Result = IntervalSensitivities::IntervalDerivatives;
using RowMajor = IntervalSensitivities::RowMajor;

/// Propagates sensitivities across impacts of a mechanism without loops. They are derivatives by
/// the state and the motion parameters χ, including those of the stops. A joint j with coordinate
/// q_j hits its stop at position s. Let δt be the change of the impact time, and v⁻, a⁻, v⁺, a⁺ the
/// rates and accelerations before and after the impact. At a fixed time
///
///   δt = −(δq_j − δs)/v⁻_j,
///   δq⁺ = δq⁻ + (v⁻ − v⁺) δt,
///   δv⁺ = D(δq⁻ + v⁻ δt, δv⁻ + a⁻ δt, δχ) − a⁺ δt.
///
/// D is the derivative of the impact law v⁺(q, v⁻, χ) (resolve_impact). This is the saltation
/// matrix of a state with jumps [Mul95]. Derivatives of M(q, χ) (v⁺ − v⁻), with the mass matrix M,
/// are computed by inverse dynamics [MTM, eq. 15]. They are the derivatives for accelerations v⁺ −
/// v⁻, minus those for zero accelerations.
class ImpactSensitivities {
 public:
  /// @param values  mechanism whose parameter values are used
  ImpactSensitivities(const TreeProgram& program, const Mechanism& values)
      : program_(program), stops_(joint_end_stops(values)) {
    if (stops_.empty()) return;
    for (const JointStop& stop : stops_) {
      positions_.push_back(
          gradient_of(values, values.joint_parameter_index(stop.joint, stop.where)));
      restitutions_.push_back(gradient_of(
          values, values.joint_parameter_index(stop.joint, JointParameter::kRestitution)));
    }
    rows_ = program.make_value_rows(values, kLanes);
    program.program().run<kLanes>(TreeProgram::kParameters, rows_.data());
  }

  /// Replaces the derivatives of the state before an impact by those after it.
  /// @param event   an event that contains an impact
  /// @param slopes  derivatives of coordinates, then rates: 2n × directions
  void pass(const MotionEvent& event, Eigen::MatrixXd& slopes) {
    const EndStopImpact& impact = *event.impact;
    const int n = program_.joint_count(), joint = stops_[impact.stop].joint;
    const Eigen::Index directions = slopes.cols(), parameters = directions - 2 * n;
    evaluate(impact, event.rates - impact.rates);
    Eigen::RowVectorXd position = Eigen::RowVectorXd::Zero(directions);  // δs
    for (const auto& [place, factor] : positions_[impact.stop]) position[2 * n + place] = factor;
    Eigen::RowVectorXd time = Eigen::RowVectorXd::Zero(directions);  // δt
    if (impact.speed != 0.0) time = (position - slopes.row(joint)) / impact.speed;

    Eigen::MatrixXd q = slopes.topRows(n) + impact.rates * time;
    const Eigen::MatrixXd arriving = slopes.bottomRows(n) + impact.before * time;
    q.row(joint) = position;
    Eigen::MatrixXd force = balance_.leftCols(n) * q;
    force.rightCols(parameters) += balance_.rightCols(parameters);
    Eigen::MatrixXd v = arriving - solve_positive_definite<double>(mass_, force);
    // M δv⁺ − Jᵀ δΛ = M δv⁻ − δM (v⁺ − v⁻) and J δv⁺ = −E J δv⁻ − δE J v⁻ [MTM, eq. 14].
    Eigen::MatrixXd wanted(std::ssize(impact.struck), directions);
    for (Eigen::Index i = 0; i < wanted.rows(); ++i) {
      const ImpactedJoint<double>& each = impact.struck[i];
      wanted.row(i) = -each.restitution * arriving.row(each.joint) - v.row(each.joint);
      if (each.joint != joint || !impact.rebounds) continue;
      for (const auto& [place, factor] : restitutions_[impact.stop]) {
        wanted(i, 2 * n + place) -= factor * impact.rates[joint];
      }
    }
    v += apply_joint_impulses<double>(mass_, impact.struck, wanted);
    slopes.topRows(n) = q - event.rates * time;
    slopes.bottomRows(n) = v - impact.after * time;
    for (int j = 0; j < n; ++j) {
      if (is_at_rest(event.contacts[j])) slopes.row(n + j).setZero();
    }
  }

 private:
  static constexpr int kLanes = 4;
  /// Derivatives of one parameter by motion parameters, given by their index among these.
  using Gradient = std::vector<std::pair<int, double>>;

  Gradient gradient_of(const Mechanism& values, int parameter) const {
    const std::vector<int>& motion_parameters = program_.motion_parameters();
    const auto place = [&](int index) {
      return static_cast<int>(std::ranges::find(motion_parameters, index) -
                              motion_parameters.begin());
    };
    Gradient gradient;
    const auto add = [&](int index, double factor) {
      if (place(index) < std::ssize(motion_parameters)) gradient.emplace_back(place(index), factor);
    };
    if (const ParameterDependency* tie = find_dependency(values, parameter); tie != nullptr) {
      for (const DependencyTerm& term : tie->terms) add(term.parameter, term.factor);
    } else {
      add(parameter, 1.0);
    }
    return gradient;
  }

  /// Computes the mass matrix M and the derivatives of M (v⁺ − v⁻). The first lane has the jump of
  /// the rates as accelerations, the other lanes have zero. Rates, controls and friction are zero.
  void evaluate(const EndStopImpact& impact, const JointVector<double>& jump) {
    const int n = program_.joint_count();
    for (int j = 0; j < n; ++j) {
      std::fill_n(row(program_.angle_row(j)), kLanes, impact.position[j]);
      std::fill_n(row(program_.acceleration_row(j)), kLanes, 0.0);
      *row(program_.acceleration_row(j)) = jump[j];
    }
    for (const auto section : {TreeProgram::kClosure, TreeProgram::kBalance, TreeProgram::kLoad,
                               TreeProgram::kSensitivities}) {
      program_.program().run<kLanes>(section, rows_.data());
    }
    mass_.resize(n, n);
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < n; ++k) mass_(j, k) = *row(program_.mass_matrix_row(j, k));
    }
    balance_.setZero(n, n + std::ssize(program_.motion_parameters()));
    for (const TreeProgram::SparseEntry& entry : program_.derivatives()) {
      if (entry.column >= n && entry.column < 2 * n) continue;
      const double* slope = row(entry.row);
      balance_(entry.joint, entry.column < n ? entry.column : entry.column - n) +=
          slope[0] - slope[1];
    }
  }

  double* row(int index) { return row_at<kLanes>(rows_, index); }

  const TreeProgram& program_;
  std::vector<JointStop> stops_;
  std::vector<Gradient> positions_, restitutions_;  // of each stop
  Rows rows_;                                       // of the program
  Eigen::MatrixXd mass_;
  Eigen::MatrixXd balance_;  // joints × (coordinates, moving parameters): ∂(M (v⁺ − v⁻))
};

/// One lane of IntervalSensitivities: propagates the derivatives through an interval.
class SlopeLane {
 public:
  SlopeLane(const TreeProgram& program, SimdMotionIntegrator& lanes, ImpactSensitivities& impacts,
            GroundContactPoints* ground, const std::vector<Encoder>& sensors, int lane)
      : program_(program),
        lanes_(lanes),
        impacts_(impacts),
        ground_(ground),
        sensors_(sensors),
        lane_(lane) {}

  bool has_interval() const { return interval_ != nullptr; }

  void start(const MotionInterval& interval, Result& result) {
    const int rows = 2 * program_.coordinate_count(), directions = lanes_.derivative_column_count();
    interval_ = &interval;
    result_ = &result;
    substep_ = interval.first_substep;
    sample_ = interval.first_sample;
    look_ = interval.first_instant;
    event_ = cut_ = 0;
    begin_ = interval.controls->begin(substep_);
    contacts_ = interval.log.start;
    result.readings.resize(sensors_.size());
    for (RowMajor& readings : result.readings) {
      readings.resize(interval.last_sample - interval.first_sample, directions);
    }
    result.end.resize(rows, directions);
    result.instants.resize((interval.last_instant - interval.first_instant) * rows, directions);
    set_start_state(lanes_, lane_, interval);
    for (int i = 0; i < rows; ++i) {
      for (int d = 0; d < directions; ++d) slope(i, d) = i == d ? 1.0 : 0.0;
    }
    load();
  }

  /// Lets a lane without an interval repeat a step of zero length.
  void idle() { lanes_.substep_length()[lane_] = 0.0; }

  /// Stores the derivatives of the readings at the samples, and of the state at the sample instants
  /// of inertial sensors, within the last step.
  void read() {
    const int c = program_.coordinate_count(), directions = lanes_.derivative_column_count();
    const double length = end_ - begin_;
    for (; is_sample_in_segment(*interval_, sample_, substep_, end_); ++sample_) {
      const HermiteWeights w = hermite_weights(interval_->time(sample_) - begin_, length);
      for (std::size_t sensor = 0; sensor < sensors_.size(); ++sensor) {
        auto row = result_->readings[sensor].row(sample_ - interval_->first_sample);
        for (int d = 0; d < directions; ++d) {
          row[d] = sensors_[sensor].sum(
              [&](int j) { return interpolate_joint_derivative(lanes_, lane_, j, d, w); });
        }
      }
    }
    for (; look_ < interval_->last_instant; ++look_) {
      const double time = interval_->sample_instants[look_];
      if (!is_instant_in_segment(*interval_, time, substep_, end_)) return;
      const HermiteWeights weights[] = {hermite_weights(time - begin_, length),
                                        hermite_rate_weights(time - begin_, length)};
      const Eigen::Index at = (look_ - interval_->first_instant) * 2 * c;
      for (int row = 0; row < 2 * c; ++row) {
        const int joint = program_.independent_joints(row % c);
        for (int d = 0; d < directions; ++d) {
          result_->instants(at + row, d) =
              interpolate_joint_derivative(lanes_, lane_, joint, d, weights[row < c ? 0 : 1]);
        }
      }
    }
  }

  /// Begins the next segment at the end of the last one, or stores the end of the interval.
  void go_on() {
    begin_ = end_;
    if (!has_event() && !is_cut_) ++substep_;
    if (substep_ < interval_->last_substep) {
      load();
      return;
    }
    for (int i = 0; i < result_->end.rows(); ++i) {
      for (int d = 0; d < result_->end.cols(); ++d) result_->end(i, d) = slope(i, d);
    }
    interval_ = nullptr;
  }

 private:
  /// Begins the next segment: processes the events at this instant and finds the next event.
  void load() {
    if (ground_ != nullptr) apply_touch_down();
    const std::vector<MotionEvent>& events = interval_->log.events;
    while (has_event() && events[event_].time <= begin_) {
      pass(events[event_]);
      ++event_;
    }
    end_ = has_event() ? events[event_].time : interval_->controls->end(substep_);
    const std::vector<double>& cuts = interval_->log.cuts;
    is_cut_ = cut_ < cuts.size() && cuts[cut_] < end_;
    if (is_cut_) end_ = cuts[cut_++];
    set_segment_controls(lanes_, lane_, *interval_->controls, substep_, begin_, end_);
    set_contact_states(lanes_, lane_, contacts_);
  }

  /// Updates the derivatives at an instant at which accelerations jump.
  void pass(const MotionEvent& event) {
    const int c = program_.coordinate_count(), n = program_.joint_count();
    const auto move = [&](int direction, double time) {
      for (int p = 0; p < c; ++p) slope(c + p, direction) += event.drop[p] * time;
    };
    if (event.joint < 0) {
      for (const TreeProgram::DelayDependency& source : program_.delay_dependencies(event.motor)) {
        move(2 * c + source.place, source.factor);
      }
      return;
    }
    if (event.impact != nullptr) {
      pass_impact(event);
    } else if (!is_at_rest(contacts_[event.joint])) {
      for (int d = 0; event.acceleration_before != 0.0 && d < lanes_.derivative_column_count();
           ++d) {
        const double rate = program_.has_loops()
                                ? lanes_.derivative_at_step_start(n + event.joint, d)[lane_]
                                : slope(n + event.joint, d);
        move(d, -rate / event.acceleration_before);
      }
      for (int p = 0; p < c; ++p) lanes_.state(c + p)[lane_] = event.rates[p];
      if (!program_.has_loops() && event.contacts[event.joint] == Contact::kStick) {
        for (int d = 0; d < lanes_.derivative_column_count(); ++d) slope(c + event.joint, d) = 0.0;
      }
    }
    contacts_ = event.contacts;
  }

  /// Changes the derivatives of the state at an instant at which rates jump.
  template <typename Change>
  void change_derivatives(const Change& change) {
    Eigen::MatrixXd slopes(2 * program_.coordinate_count(), lanes_.derivative_column_count());
    for (int i = 0; i < slopes.rows(); ++i) {
      for (int d = 0; d < slopes.cols(); ++d) slopes(i, d) = slope(i, d);
    }
    change(slopes);
    for (int i = 0; i < slopes.rows(); ++i) {
      for (int d = 0; d < slopes.cols(); ++d) slope(i, d) = slopes(i, d);
    }
  }

  /// Updates state and derivatives where a contact with the ground begins, as SegmentIntegrator
  /// does.
  void apply_touch_down() {
    const SegmentControls& controls = *interval_->controls;
    if (begin_ != controls.begin(substep_)) return;
    if (!controls.has_touch_down(substep_, interval_->first_substep)) return;
    const int n = program_.joint_count();
    Eigen::VectorXd coordinates(n), rates(n);
    for (int j = 0; j < n; ++j) {
      coordinates[j] = lanes_.state(j)[lane_];
      rates[j] = lanes_.state(n + j)[lane_];
    }
    ground_->apply_impulse(controls, substep_, coordinates, rates);
    change_derivatives([&](Eigen::MatrixXd& slopes) { ground_->differentiate_impulse(slopes); });
    for (int j = 0; j < n; ++j) lanes_.state(n + j)[lane_] = rates[j];
  }

  /// Updates the derivatives at an impact, at which rates jump.
  void pass_impact(const MotionEvent& event) {
    const int n = program_.joint_count();
    change_derivatives([&](Eigen::MatrixXd& slopes) { impacts_.pass(event, slopes); });
    for (int j = 0; j < n; ++j) {
      lanes_.state(j)[lane_] = event.impact->position[j];
      lanes_.state(n + j)[lane_] = event.rates[j];
    }
  }

  double& slope(int row, int direction) { return lanes_.slope(row, direction)[lane_]; }
  bool has_event() const {
    const std::vector<MotionEvent>& events = interval_->log.events;
    return event_ < events.size() && events[event_].substep == substep_;
  }

  const TreeProgram& program_;
  SimdMotionIntegrator& lanes_;
  ImpactSensitivities& impacts_;
  GroundContactPoints* ground_;  // null without contacts with the ground
  const std::vector<Encoder>& sensors_;
  int lane_;

  const MotionInterval* interval_ = nullptr;
  Result* result_ = nullptr;
  int substep_ = 0, sample_ = 0, look_ = 0;
  std::size_t event_ = 0, cut_ = 0;
  double begin_ = 0.0, end_ = 0.0;
  bool is_cut_ = false;
  Contacts contacts_ = {};
};

/// Propagates derivatives through intervals side by side. A lane starts the next interval as soon
/// as it has finished its current one.
void propagate(const TreeProgram& program, const Mechanism& values,
               const std::vector<Encoder>& sensors, std::span<const MotionInterval> intervals,
               std::span<Result> results) {
  const auto integrator =
      SimdMotionIntegrator::make(static_cast<int>(kSideBySide), program, values, true);
  ImpactSensitivities impacts(program, values);
  const std::unique_ptr<GroundContactPoints> ground = make_ground_contact_points(program, values);
  std::vector<SlopeLane> lanes;
  for (int lane = 0; lane < integrator->width(); ++lane) {
    lanes.emplace_back(program, *integrator, impacts, ground.get(), sensors, lane);
  }
  std::size_t next = 0;
  const auto fill = [&](SlopeLane& lane) {
    if (next < intervals.size()) {
      lane.start(intervals[next], results[next]);
      ++next;
    } else {
      lane.idle();
    }
  };
  for (SlopeLane& lane : lanes) fill(lane);
  while (std::ranges::any_of(lanes, &SlopeLane::has_interval)) {
    integrator->step();
    for (SlopeLane& lane : lanes) {
      if (lane.has_interval()) lane.read();
    }
    integrator->continue_from_end_state();
    for (SlopeLane& lane : lanes) {
      if (!lane.has_interval()) continue;
      lane.go_on();
      if (!lane.has_interval()) fill(lane);
    }
  }
}

/// Returns whether derivatives can start at a checkpoint. They cannot if a loop joint stops there,
/// since the preceding step computes the derivative of its rate.
bool can_begin(const TreeProgram& program, const MotionInterval& interval,
               const MotionCheckpoint& point) {
  if (!program.has_loops() || point.event >= interval.log.events.size()) return true;
  const MotionEvent& next = interval.log.events[point.event];
  return next.joint < 0 || next.substep != point.substep ||
         next.time > interval.controls->begin(point.substep);
}

/// Returns the part of an interval between two checkpoints; null means the interval's start or end.
MotionInterval leg_of(const MotionInterval& interval, const MotionCheckpoint* from,
                      const MotionCheckpoint* to) {
  MotionInterval leg{.controls = interval.controls,
                     .first_substep = from ? from->substep : interval.first_substep,
                     .last_substep = to ? to->substep : interval.last_substep,
                     .first_sample = from ? from->sample : interval.first_sample,
                     .last_sample = to ? to->sample : interval.last_sample,
                     .period = interval.period,
                     .times = interval.times,
                     .sample_instants = interval.sample_instants,
                     .first_instant = from ? from->look : interval.first_instant,
                     .last_instant = to ? to->look : interval.last_instant,
                     .start = from ? from->state : interval.start,
                     .guess = from ? from->guess : interval.guess,
                     .log = {.start = from ? from->contacts : interval.log.start},
                     .instants = interval.instants};
  const auto take = [&](const auto& whole, auto& part, std::size_t MotionCheckpoint::*next) {
    const auto first = static_cast<std::ptrdiff_t>(from ? from->*next : 0);
    part.assign(whole.begin() + first,
                to ? whole.begin() + static_cast<std::ptrdiff_t>(to->*next) : whole.end());
  };
  take(interval.log.events, leg.log.events, &MotionCheckpoint::event);
  take(interval.log.cuts, leg.log.cuts, &MotionCheckpoint::cut);
  return leg;
}

/// Appends the checkpoint spans of an interval in order.
void append_legs(const TreeProgram& program, const MotionInterval& interval,
                 std::vector<MotionInterval>& legs) {
  const MotionCheckpoint* from = nullptr;
  for (const MotionCheckpoint& point : interval.checkpoints) {
    if (!can_begin(program, interval, point)) continue;
    legs.push_back(leg_of(interval, from, &point));
    from = &point;
  }
  legs.push_back(leg_of(interval, from, nullptr));
}

/// Multiplies the derivatives of all spans by the chain rule. The results are derivatives by the
/// state at the start of the first span and by the parameters.
Result chain(std::span<const Result> legs) {
  const Eigen::Index states = legs.front().end.rows(), directions = legs.front().end.cols();
  const Eigen::Index parameters = directions - states;
  RowMajor start = RowMajor::Identity(states, directions);
  const auto along = [&](const RowMajor& own) {
    RowMajor whole(own.rows(), own.cols());
    whole.leftCols(directions) = own.leftCols(states) * start;
    whole.middleCols(states, parameters) += own.middleCols(states, parameters);
    whole.rightCols(own.cols() - directions) = own.rightCols(own.cols() - directions);
    return whole;
  };
  Result result;
  const auto resize = [&](std::vector<RowMajor> Result::*member) {
    (result.*member).resize((legs.front().*member).size());
    for (std::size_t i = 0; i < (result.*member).size(); ++i) {
      Eigen::Index rows = 0;
      for (const Result& leg : legs) rows += (leg.*member)[i].rows();
      (result.*member)[i].resize(rows, (legs.front().*member)[i].cols());
    }
  };
  resize(&Result::readings);
  resize(&Result::inertial);
  Eigen::Index sample = 0, look = 0;
  const auto append = [&](const std::vector<RowMajor>& own, std::vector<RowMajor>& whole,
                          Eigen::Index& at) {
    for (std::size_t i = 0; i < whole.size(); ++i) {
      whole[i].middleRows(at, own[i].rows()) = along(own[i]);
    }
    at += own.empty() ? 0 : own.front().rows();
  };
  for (const Result& leg : legs) {
    append(leg.readings, result.readings, sample);
    append(leg.inertial, result.inertial, look);
    start = along(leg.end);
  }
  result.end = start;
  return result;
}

}  // namespace

void IntervalSensitivities::run(std::span<const MotionInterval> intervals,
                                std::span<Result> results) const {
  std::vector<MotionInterval> legs;
  std::vector<std::size_t> first{0};
  for (const MotionInterval& interval : intervals) {
    append_legs(program_, interval, legs);
    first.push_back(legs.size());
  }
  std::vector<Result> of_legs(legs.size());
  for (std::size_t i = 0; i < intervals.size(); ++i) {  // reuses memory
    of_legs[first[i]] = std::move(results[i]);
  }
  run_parallel_batches(
      threads_, legs.size(), kSideBySide, [&](std::size_t begin, std::size_t count) {
        const auto some = std::span<const MotionInterval>(legs).subspan(begin, count);
        const auto own = std::span(of_legs).subspan(begin, count);
        propagate(program_, values_, sensors_, some, own);
        if (sensing_ != nullptr)
          differentiate_sensor_readings(program_, *sensing_, values_, some, own);
      });
  run_parallel_jobs(threads_, intervals.size(), [&](std::size_t i) {
    const auto own = std::span(of_legs).subspan(first[i], first[i + 1] - first[i]);
    results[i] = own.size() == 1 ? std::move(own.front()) : chain(own);
  });
}

}  // namespace estimator
