#include <algorithm>
#include <cstddef>

#include "estimator/math/parallel_jobs.hpp"
#include "estimator/simulation/interval/impact_sensitivities.hpp"
#include "estimator/simulation/interval/inertial_sensing.hpp"
#include "estimator/simulation/interval/interval_motion.hpp"
#include "estimator/simulation/interval/motion_segment.hpp"

namespace estimator {
namespace {

using Result = IntervalSensitivities::Result;
using RowMajor = IntervalSensitivities::RowMajor;

/// The integrator of IntervalSensitivities. It processes kSideBySide intervals at a time. A lane
/// starts the next interval as soon as it has finished its current one.
class SlopeLanes {
 public:
  SlopeLanes(const TreeProgram& program, const Mechanism& values,
             const std::vector<Encoder>& sensors)
      : program_(program),
        lanes_(program, values, true),
        impacts_(program, values),
        sensors_(sensors),
        lane_states_(kSideBySide) {}

  void run(std::span<const MotionInterval> intervals, std::span<Result> results);

 private:
  struct Lane {
    const MotionInterval* interval = nullptr;
    Result* result = nullptr;
    int substep = 0, sample = 0, look = 0;
    std::size_t event = 0, cut = 0;
    double begin = 0.0, end = 0.0;
    bool is_cut = false;
    Contacts contacts = {};
  };

  void start(int lane, const MotionInterval& interval, Result& result);
  void load(int lane);
  void go_on(int lane);
  void pass(int lane, const MotionEvent& event);
  void pass_impact(int lane, const MotionEvent& event);
  double rate_slope(int lane, int joint, int direction);
  void read_samples(int lane);
  void record_instants(int lane);

  const TreeProgram& program_;
  MotionLanes<kSideBySide> lanes_;
  ImpactSensitivities impacts_;
  const std::vector<Encoder>& sensors_;
  std::vector<Lane> lane_states_;
};

void SlopeLanes::run(std::span<const MotionInterval> intervals, std::span<Result> results) {
  std::size_t next = 0;
  const auto fill = [&](int lane) {
    if (next < intervals.size()) {
      start(lane, intervals[next], results[next]);
      ++next;
    } else {
      lane_states_[static_cast<std::size_t>(lane)].interval = nullptr;
      lanes_.length()[lane] = 0.0;
    }
  };
  for (int lane = 0; lane < static_cast<int>(kSideBySide); ++lane) fill(lane);
  const auto is_busy = [](const Lane& slot) { return slot.interval != nullptr; };
  while (std::ranges::any_of(lane_states_, is_busy)) {
    lanes_.step();
    for (int lane = 0; lane < static_cast<int>(kSideBySide); ++lane) {
      if (!is_busy(lane_states_[static_cast<std::size_t>(lane)])) continue;
      read_samples(lane);
      record_instants(lane);
    }
    lanes_.commit();
    for (int lane = 0; lane < static_cast<int>(kSideBySide); ++lane) {
      if (!is_busy(lane_states_[static_cast<std::size_t>(lane)])) continue;
      go_on(lane);
      if (!is_busy(lane_states_[static_cast<std::size_t>(lane)])) fill(lane);
    }
  }
}

void SlopeLanes::start(int lane, const MotionInterval& interval, Result& result) {
  const int rows = 2 * program_.coordinate_count(), directions = lanes_.direction_count();
  lane_states_[static_cast<std::size_t>(lane)] = {
      .interval = &interval,
      .result = &result,
      .substep = interval.first_substep,
      .sample = interval.first_sample,
      .look = interval.first_instant,
      .begin = interval.controls->begin(interval.first_substep),
      .contacts = interval.log.start};
  result.readings.resize(sensors_.size());
  for (RowMajor& readings : result.readings) {
    readings.resize(interval.last_sample - interval.first_sample, directions);
  }
  result.end.resize(rows, directions);
  result.instants.resize((interval.last_instant - interval.first_instant) * rows, directions);
  load_start(lanes_, lane, interval);
  for (int i = 0; i < rows; ++i) {
    for (int d = 0; d < directions; ++d) lanes_.slope(i, d)[lane] = i == d ? 1.0 : 0.0;
  }
  load(lane);
}

/// Begins the next segment: processes the events at this instant and finds the next event.
void SlopeLanes::load(int lane) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  const std::vector<MotionEvent>& events = slot.interval->log.events;
  const auto is_here = [&](const MotionEvent& event) {
    return event.substep == slot.substep && event.time <= slot.begin;
  };
  while (slot.event < events.size() && is_here(events[slot.event])) {
    pass(lane, events[slot.event]);
    ++slot.event;
  }
  const bool has_event = slot.event < events.size() && events[slot.event].substep == slot.substep;
  slot.end = has_event ? events[slot.event].time : slot.interval->controls->end(slot.substep);
  const std::vector<double>& cuts = slot.interval->log.cuts;
  slot.is_cut = slot.cut < cuts.size() && cuts[slot.cut] < slot.end;
  if (slot.is_cut) slot.end = cuts[slot.cut++];
  load_segment(lanes_, lane, *slot.interval->controls, slot.substep, slot.begin, slot.end);
  load_contacts(lanes_, lane, slot.contacts);
}

/// Updates the derivatives at an instant at which accelerations jump.
void SlopeLanes::pass(int lane, const MotionEvent& event) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  const int c = program_.coordinate_count(), directions = lanes_.direction_count();
  const auto move = [&](int direction, double time) {
    for (int p = 0; p < c; ++p) lanes_.slope(c + p, direction)[lane] += event.drop[p] * time;
  };
  if (event.joint < 0) {
    for (const TreeProgram::DelayDependency& source : program_.delay_dependencies(event.motor)) {
      move(2 * c + source.place, source.factor);
    }
    return;
  }
  const auto joint = static_cast<std::size_t>(event.joint);
  if (event.impact != nullptr) {
    pass_impact(lane, event);
  } else if (!is_held(slot.contacts[joint])) {
    if (event.acceleration_before != 0.0) {
      for (int d = 0; d < directions; ++d)
        move(d, -rate_slope(lane, event.joint, d) / event.acceleration_before);
    }
    for (int p = 0; p < c; ++p) lanes_.state(c + p)[lane] = event.rates[p];
    if (!program_.has_loops() && event.contacts[joint] == Contact::kStick) {
      for (int d = 0; d < directions; ++d) lanes_.slope(c + event.joint, d)[lane] = 0.0;
    }
  }
  slot.contacts = event.contacts;
}

/// Updates the derivatives at an impact, at which rates jump.
void SlopeLanes::pass_impact(int lane, const MotionEvent& event) {
  const int rows = 2 * program_.coordinate_count(), directions = lanes_.direction_count();
  Eigen::MatrixXd slopes(rows, directions);
  for (int i = 0; i < rows; ++i) {
    for (int d = 0; d < directions; ++d) slopes(i, d) = lanes_.slope(i, d)[lane];
  }
  impacts_.pass(event, slopes);
  for (int i = 0; i < rows; ++i) {
    for (int d = 0; d < directions; ++d) lanes_.slope(i, d)[lane] = slopes(i, d);
  }
  for (int j = 0; j < program_.joint_count(); ++j) {
    lanes_.state(j)[lane] = event.impact->position[j];
    lanes_.state(program_.joint_count() + j)[lane] = event.rates[j];
  }
}

/// Returns the derivative of a joint's rate at the end of the last segment.
double SlopeLanes::rate_slope(int lane, int joint, int direction) {
  if (!program_.has_loops()) return lanes_.slope(program_.joint_count() + joint, direction)[lane];
  return lanes_.begin_slope(program_.joint_count() + joint, direction)[lane];
}

/// Begins the next segment at the end of the last one, or stores the end of the interval.
void SlopeLanes::go_on(int lane) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  const std::vector<MotionEvent>& events = slot.interval->log.events;
  const bool has_event = slot.event < events.size() && events[slot.event].substep == slot.substep;
  slot.begin = slot.end;
  if (!has_event && !slot.is_cut) ++slot.substep;
  if (slot.substep < slot.interval->last_substep) {
    load(lane);
    return;
  }
  for (int i = 0; i < 2 * program_.coordinate_count(); ++i) {
    for (int d = 0; d < lanes_.direction_count(); ++d) {
      slot.result->end(i, d) = lanes_.slope(i, d)[lane];
    }
  }
  slot.interval = nullptr;
}

void SlopeLanes::read_samples(int lane) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  const MotionInterval& interval = *slot.interval;
  const int n = program_.joint_count(), directions = lanes_.direction_count();
  const double length = slot.end - slot.begin;
  for (; is_within(interval, slot.sample, slot.substep, slot.end); ++slot.sample) {
    const HermiteWeights w = hermite_weights(interval.time(slot.sample) - slot.begin, length);
    const Eigen::Index at = slot.sample - interval.first_sample;
    for (std::size_t sensor = 0; sensor < sensors_.size(); ++sensor) {
      double* const row = slot.result->readings[sensor].row(at).data();
      for (int d = 0; d < directions; ++d) {
        row[d] = sensors_[sensor].sum([&](int j) {
          return w.angle_begin * lanes_.begin_slope(j, d)[lane] +
                 w.angle_end * lanes_.end_slope(j, d)[lane] +
                 w.rate_begin * lanes_.begin_slope(n + j, d)[lane] +
                 w.rate_end * lanes_.end_slope(n + j, d)[lane];
        });
      }
    }
  }
}

/// Stores the derivatives of the state at the sample instants of inertial sensors.
void SlopeLanes::record_instants(int lane) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  const MotionInterval& interval = *slot.interval;
  const int n = program_.joint_count(), c = program_.coordinate_count();
  const double length = slot.end - slot.begin;
  for (; slot.look < interval.last_instant; ++slot.look) {
    const double time = interval.sample_instants[slot.look];
    if (!is_before_end(interval, time, slot.substep, slot.end)) return;
    const HermiteWeights weights[] = {hermite_weights(time - slot.begin, length),
                                      hermite_rate_weights(time - slot.begin, length)};
    const Eigen::Index at = (slot.look - interval.first_instant) * 2 * c;
    for (int row = 0; row < 2 * c; ++row) {
      const HermiteWeights& w = weights[row < c ? 0 : 1];
      const int j = program_.independent()[static_cast<std::size_t>(row % c)];
      for (int d = 0; d < lanes_.direction_count(); ++d) {
        slot.result->instants(at + row, d) = w.angle_begin * lanes_.begin_slope(j, d)[lane] +
                                             w.angle_end * lanes_.end_slope(j, d)[lane] +
                                             w.rate_begin * lanes_.begin_slope(n + j, d)[lane] +
                                             w.rate_end * lanes_.end_slope(n + j, d)[lane];
      }
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
  MotionInterval checkpoint_span{.controls = interval.controls,
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
                                 .guess = from ? from->guess : interval.guess};
  checkpoint_span.instants = interval.instants;
  checkpoint_span.log.start = from ? from->contacts : interval.log.start;
  const auto take = [&](const auto& whole, auto& part, std::size_t MotionCheckpoint::*next) {
    const auto first = static_cast<std::ptrdiff_t>(from ? from->*next : 0);
    part.assign(whole.begin() + first,
                to ? whole.begin() + static_cast<std::ptrdiff_t>(to->*next) : whole.end());
  };
  take(interval.log.events, checkpoint_span.log.events, &MotionCheckpoint::event);
  take(interval.log.cuts, checkpoint_span.log.cuts, &MotionCheckpoint::cut);
  return checkpoint_span;
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
      for (const Result& checkpoint_span : legs) rows += (checkpoint_span.*member)[i].rows();
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
  for (const Result& checkpoint_span : legs) {
    append(checkpoint_span.readings, result.readings, sample);
    append(checkpoint_span.inertial, result.inertial, look);
    start = along(checkpoint_span.end);
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
  for_each_batch(threads_, legs.size(), kSideBySide, [&](std::size_t begin, std::size_t count) {
    SlopeLanes(program_, values_, sensors_)
        .run(std::span(legs).subspan(begin, count), std::span(of_legs).subspan(begin, count));
    if (sensing_ == nullptr) return;
    linearize_sensing(program_, *sensing_, values_, std::span(legs).subspan(begin, count),
                      std::span(of_legs).subspan(begin, count));
  });
  for_each_job(threads_, intervals.size(), [&](std::size_t i) {
    const auto own = std::span(of_legs).subspan(first[i], first[i + 1] - first[i]);
    results[i] = own.size() == 1 ? std::move(own.front()) : chain(own);
  });
}

}  // namespace estimator
