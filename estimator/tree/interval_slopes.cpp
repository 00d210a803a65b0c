#include <algorithm>

#include "estimator/tree/interval_motion.hpp"
#include "estimator/tree/motion_piece.hpp"

namespace estimator {

IntervalSlopes::IntervalSlopes(const TreeProgram& program, const Mechanism& values,
                               std::vector<int> joints)
    : program_(program),
      lanes_(program, values, true),
      joints_(std::move(joints)),
      slots_(kWidth) {}

void IntervalSlopes::run(std::span<const MotionInterval> intervals, std::span<Result> results) {
  std::size_t next = 0;
  const auto fill = [&](int lane) {
    if (next < intervals.size()) {
      start(lane, intervals[next], results[next]);
      ++next;
    } else {
      slots_[static_cast<std::size_t>(lane)].interval = nullptr;
      lanes_.length()[lane] = 0.0;
    }
  };
  for (int lane = 0; lane < kWidth; ++lane) fill(lane);
  const auto is_busy = [](const Slot& slot) { return slot.interval != nullptr; };
  while (std::ranges::any_of(slots_, is_busy)) {
    lanes_.step();
    for (int lane = 0; lane < kWidth; ++lane) {
      if (is_busy(slots_[static_cast<std::size_t>(lane)])) read_samples(lane);
    }
    lanes_.commit();
    for (int lane = 0; lane < kWidth; ++lane) {
      if (!is_busy(slots_[static_cast<std::size_t>(lane)])) continue;
      go_on(lane);
      if (!is_busy(slots_[static_cast<std::size_t>(lane)])) fill(lane);
    }
  }
}

void IntervalSlopes::start(int lane, const MotionInterval& interval, Result& result) {
  const int n = program_.joint_count(), directions = lanes_.direction_count();
  slots_[static_cast<std::size_t>(lane)] = {
      .interval = &interval,
      .result = &result,
      .stretch = interval.first_stretch,
      .sample = interval.first_sample,
      .begin = interval.controls->begin(interval.first_stretch),
      .contacts = interval.log.start};
  result.readings.resize(joints_.size());
  for (RowMajor& readings : result.readings) {
    readings.resize(interval.last_sample - interval.first_sample, directions);
  }
  result.end.resize(2 * n, directions);
  for (int j = 0; j < n; ++j) {
    lanes_.angle(j)[lane] = interval.start[j];
    lanes_.rate(j)[lane] = interval.start[n + j];
  }
  for (int i = 0; i < 2 * n; ++i) {
    for (int d = 0; d < directions; ++d) lanes_.slope(i, d)[lane] = i == d ? 1.0 : 0.0;
  }
  load(lane);
}

/// Begins the next piece: passes the events of this instant, and goes on to the next.
void IntervalSlopes::load(int lane) {
  Slot& slot = slots_[static_cast<std::size_t>(lane)];
  const std::vector<MotionEvent>& events = slot.interval->log.events;
  const auto is_here = [&](const MotionEvent& event) {
    return event.stretch == slot.stretch && event.time <= slot.begin;
  };
  while (slot.event < events.size() && is_here(events[slot.event])) {
    pass(lane, events[slot.event]);
    ++slot.event;
  }
  const bool is_cut = slot.event < events.size() && events[slot.event].stretch == slot.stretch;
  slot.end = is_cut ? events[slot.event].time : slot.interval->controls->end(slot.stretch);
  load_piece(lanes_, lane, *slot.interval->controls, slot.stretch, slot.begin, slot.end);
  load_contacts(lanes_, lane, slot.contacts);
}

/// Carries the derivatives across an instant at which accelerations jump.
void IntervalSlopes::pass(int lane, const MotionEvent& event) {
  Slot& slot = slots_[static_cast<std::size_t>(lane)];
  const int n = program_.joint_count(), directions = lanes_.direction_count();
  const auto move = [&](int direction, double time) {
    for (int k = 0; k < n; ++k) lanes_.slope(n + k, direction)[lane] += event.drop[k] * time;
  };
  if (event.joint < 0) {
    move(program_.delay_direction(event.motor), 1.0);
    return;
  }
  Contact& contact = slot.contacts[static_cast<std::size_t>(event.joint)];
  if (contact != Contact::kStick) {
    if (event.approach != 0.0) {
      for (int d = 0; d < directions; ++d) {
        move(d, -lanes_.slope(n + event.joint, d)[lane] / event.approach);
      }
    }
    lanes_.rate(event.joint)[lane] = 0.0;
    if (event.contact == Contact::kStick) {
      for (int d = 0; d < directions; ++d) lanes_.slope(n + event.joint, d)[lane] = 0.0;
    }
  }
  contact = event.contact;
}

/// Begins the next piece at the end of the last, or books the end of the interval.
void IntervalSlopes::go_on(int lane) {
  Slot& slot = slots_[static_cast<std::size_t>(lane)];
  const std::vector<MotionEvent>& events = slot.interval->log.events;
  const bool has_event = slot.event < events.size() && events[slot.event].stretch == slot.stretch;
  slot.begin = slot.end;
  if (!has_event) ++slot.stretch;
  if (slot.stretch < slot.interval->last_stretch) {
    load(lane);
    return;
  }
  for (int i = 0; i < 2 * program_.joint_count(); ++i) {
    for (int d = 0; d < lanes_.direction_count(); ++d) {
      slot.result->end(i, d) = lanes_.slope(i, d)[lane];
    }
  }
  slot.interval = nullptr;
}

void IntervalSlopes::read_samples(int lane) {
  Slot& slot = slots_[static_cast<std::size_t>(lane)];
  const MotionInterval& interval = *slot.interval;
  const int n = program_.joint_count(), directions = lanes_.direction_count();
  const double length = slot.end - slot.begin;
  for (; is_within(interval, slot.sample, slot.stretch, slot.end); ++slot.sample) {
    const HermiteWeights w = hermite_weights(slot.sample * interval.period - slot.begin, length);
    const Eigen::Index at = slot.sample - interval.first_sample;
    for (std::size_t sensor = 0; sensor < joints_.size(); ++sensor) {
      const int j = joints_[sensor];
      double* const row = slot.result->readings[sensor].row(at).data();
      for (int d = 0; d < directions; ++d) {
        row[d] = w.angle_begin * lanes_.slope(j, d)[lane] +
                 w.angle_end * lanes_.end_slope(j, d)[lane] +
                 w.rate_begin * lanes_.slope(n + j, d)[lane] +
                 w.rate_end * lanes_.end_slope(n + j, d)[lane];
      }
    }
  }
}

}  // namespace estimator
