#include "estimator/simulation/interval/interval_lanes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "estimator/simulation/interval/interval_contacts.hpp"
#include "estimator/simulation/interval/interval_smoothed_friction.hpp"
#include "estimator/simulation/interval/interval_stops.hpp"
#include "estimator/simulation/interval/motion_segment.hpp"

namespace estimator {
namespace {

/// Largest number of contact events within one substep, over all joints, that are resolved. More
/// events occur only if a joint chatters between sticking and slipping.
constexpr int kEventsMax = 24;
constexpr int kLocateRounds = 60;
constexpr double kProbeReach = 1e-2;  // of the bracket, in the first round
constexpr double kProbeReachMin = 1e-4;
constexpr int kHalvings = 10;               // by a factor of 16 each
constexpr double kLocateTolerance = 1e-14;  // [s]

}  // namespace

template <int kWidth>
IntervalLanes<kWidth>::IntervalLanes(const TreeProgram& program, const Mechanism& values,
                                     const SegmentLimits& limits)
    : program_(program),
      limits_(limits),
      stops_(joint_stops(values)),
      lanes_(program, values, false),
      single_(program, values, false),
      lane_states_(kWidth),
      torques_(static_cast<std::size_t>(program.joint_count()), std::vector<double>(kWidth)),
      spare_(kWidth) {
  if (!std::isfinite(limits.near_rest)) return;
  for (int j = 0; j < program.joint_count(); ++j) {
    const double creep = values.joints[static_cast<std::size_t>(j)].transition_speed;
    if (creep > 0.0) smoothed_joints_.push_back({j, creep});
  }
}

template <int kWidth>
void IntervalLanes<kWidth>::run(std::span<MotionInterval> intervals,
                                std::span<Eigen::MatrixXd> angles) {
  std::vector<std::size_t> order(intervals.size());  // longest first, so that lanes end together
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return intervals[i].substep_count(); });
  std::size_t next = 0;
  const auto fill = [&](int lane) {
    if (next < order.size()) {
      start(lane, intervals[order[next]], angles[order[next]]);
      ++next;
    } else {
      idle(lane);
    }
  };
  for (int lane = 0; lane < kWidth; ++lane) fill(lane);
  const auto is_busy = [](const Lane& slot) { return slot.interval != nullptr; };
  while (std::ranges::any_of(lane_states_, is_busy)) {
    lanes_.step();
    find_torques();
    for (int lane = 0; lane < kWidth; ++lane) {
      if (!is_busy(lane_states_[static_cast<std::size_t>(lane)])) continue;
      advance(lane);
      if (!is_busy(lane_states_[static_cast<std::size_t>(lane)])) fill(lane);
    }
  }
}

/// Computes the torques that hold sticking joints at the end of the step.
template <int kWidth>
void IntervalLanes<kWidth>::find_torques() {
  bool any_sticks = false;
  for (std::size_t lane = 0; lane < lane_states_.size(); ++lane) {
    const Lane& slot = lane_states_[lane];
    if (slot.interval == nullptr || std::ranges::none_of(slot.contacts, is_held)) continue;
    any_sticks = true;
    if (program_.has_loops()) {
      spare_[lane] = spare_torque(lanes_, static_cast<int>(lane), slot.contacts);
    }
  }
  if (!any_sticks || program_.has_loops()) return;
  lanes_.accelerate_at_end();
  for (std::size_t j = 0; j < torques_.size(); ++j) {
    lanes_.holding_torque(static_cast<int>(j), torques_[j].data());
  }
}

template <int kWidth>
void IntervalLanes<kWidth>::start(int lane, MotionInterval& interval, Eigen::MatrixXd& angles) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  const int n = program_.joint_count();
  slot = {.interval = &interval,
          .angles = &angles,
          .substep = interval.first_substep,
          .sample = interval.first_sample,
          .look = interval.first_instant,
          .contacts = Contacts(static_cast<std::size_t>(n), Contact::kForward)};
  interval.log = {};
  interval.checkpoints.clear();
  interval.instants.reset();
  if (const int instants = interval.last_instant - interval.first_instant; instants > 0) {
    const auto count = static_cast<std::size_t>(instants);
    interval.instants = std::make_shared<SampleInstantMotion>();
    *interval.instants = {.first = interval.first_instant,
                          .states = Eigen::MatrixXd(2 * program_.coordinate_count(), instants),
                          .guesses = Eigen::MatrixXd(program_.has_loops() ? n : 0, instants),
                          .substeps = std::vector<int>(count),
                          .contacts = std::vector<Contacts>(count)};
  }
  angles.resize(interval.last_sample - interval.first_sample, n);
  load_start(lanes_, lane, interval);
  slot.begin = interval.controls->begin(slot.substep);
  determine_initial_contacts(lane);
  interval.log.start = slot.contacts;
  determine_initial_stop_contacts(lane);
  enter_substep(lane);
}

/// Lets a lane without an interval repeat a step of zero length.
template <int kWidth>
void IntervalLanes<kWidth>::idle(int lane) {
  lane_states_[static_cast<std::size_t>(lane)].interval = nullptr;
  lanes_.length()[lane] = 0.0;
}

template <int kWidth>
void IntervalLanes<kWidth>::load(int lane) {
  const Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  load_segment(lanes_, lane, *slot.interval->controls, slot.substep, slot.begin, slot.end);
  load_contacts(lanes_, lane, slot.contacts);
}

/// Records the jumps of controls for the derivatives. Extends the segment to the end of the
/// substep.
template <int kWidth>
void IntervalLanes<kWidth>::enter_substep(int lane) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  const SegmentControls& controls = *slot.interval->controls;
  slot.begin = controls.begin(slot.substep);
  slot.end = full_segment(slot);
  slot.event_count = 0;
  slot.holds = false;
  slot.event_joint = slot.event_stop = -1;
  const std::vector<int>& jumps = controls.jumps(slot.substep);
  if (!jumps.empty() && slot.substep > 0) {
    fix_single(lane, slot.begin);
    const auto set_control = [&](int motor, double value) {
      std::fill_n(single_.control(motor), kSingle, value);
    };
    for (const int motor : jumps) {
      set_control(motor,
                  controls.value(slot.substep - 1, motor) + controls.rise(slot.substep - 1, motor));
    }
    JointVector<double> before = accelerate_single();
    for (const int motor : jumps) {
      set_control(motor, controls.value(slot.substep, motor));
      const JointVector<double> after = accelerate_single();
      slot.interval->log.events.push_back(
          {.time = slot.begin, .substep = slot.substep, .motor = motor, .drop = before - after});
      before = after;
    }
  }
  load(lane);
}

/// Accepts the end of the segment after a step, or shortens the segment.
template <int kWidth>
void IntervalLanes<kWidth>::advance(int lane) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  if (slot.event_joint < 0 && (shorten_for_smoothed_friction(lane) || find_event(lane))) return;
  read_samples(lane);
  record_instants(lane);
  slot.longest = longest_after(lane);
  const int rows = 2 * program_.coordinate_count();
  for (int row = 0; row < rows; ++row) *state(lane, row) = lanes_.end_state(row)[lane];
  if (program_.has_loops()) {
    for (int j = 0; j < program_.joint_count(); ++j) {
      lanes_.guess(j)[lane] = lanes_.end_angle(j)[lane];
    }
  }
  if (slot.event_joint >= 0) {
    handle_contact_event(lane, slot.end, slot.event_joint, slot.event_stop);
    return;
  }
  if (is_cut(slot)) {
    slot.interval->log.cuts.push_back(slot.end);
    begin_segment(lane, slot.end);
    return;
  }
  if (++slot.substep < slot.interval->last_substep) {
    if ((slot.substep - slot.interval->first_substep) % limits_.checkpoint_span == 0)
      keep_checkpoint(lane);
    enter_substep(lane);
    return;
  }
  slot.interval->end.resize(rows);
  for (int row = 0; row < rows; ++row) slot.interval->end[row] = *state(lane, row);
  slot.interval = nullptr;
}

template <int kWidth>
void IntervalLanes<kWidth>::keep_checkpoint(int lane) {
  const Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  MotionCheckpoint point{.substep = slot.substep,
                         .sample = slot.sample,
                         .look = slot.look,
                         .event = slot.interval->log.events.size(),
                         .cut = slot.interval->log.cuts.size(),
                         .contacts = slot.contacts,
                         .state = Eigen::VectorXd(2 * program_.coordinate_count())};
  for (int row = 0; row < point.state.size(); ++row) point.state[row] = *state(lane, row);
  if (program_.has_loops()) {
    point.guess.resize(program_.joint_count());
    for (int j = 0; j < point.guess.size(); ++j) point.guess[j] = lanes_.guess(j)[lane];
  }
  slot.interval->checkpoints.push_back(std::move(point));
}

/// Finds the first contact change in the segment and ends the segment there. Returns whether there
/// is one.
template <int kWidth>
bool IntervalLanes<kWidth>::find_event(int lane) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  Ending first;
  bool asked = false;  // sticking joints of loops are tested together
  for (int j = 0; j < program_.joint_count(); ++j) {
    const Contact contact = slot.contacts[static_cast<std::size_t>(j)];
    if (!program_.is_dry(j) || is_at_stop(contact)) continue;
    if (contact == Contact::kStick && (slot.holds || asked)) continue;
    double left;
    if (contact != Contact::kStick) {
      left = static_cast<double>(contact) * lanes_.end_rate(j)[lane];
    } else if (program_.has_loops()) {
      left = spare_[static_cast<std::size_t>(lane)];
      asked = true;
    } else {
      left = lanes_.holding_bound(j)[lane] -
             std::abs(torques_[static_cast<std::size_t>(j)][static_cast<std::size_t>(lane)]);
    }
    if (!(left < 0.0)) continue;
    const double time = locate(lane, j, -1, slot.end - slot.begin, left);
    if (time < first.time) first = {time, j, -1};
  }
  find_stop_event(lane, first);
  if (first.joint < 0) return false;
  if (++slot.event_count == kEventsMax) {
    ++slot.interval->log.unresolved;
    slot.holds = true;
  }
  if (first.time <= 0.0) {
    handle_contact_event(lane, slot.begin, first.joint, first.stop);
  } else {
    slot.end = slot.begin + first.time;
    slot.event_joint = first.joint;
    slot.event_stop = first.stop;
    load(lane);
  }
  return true;
}

/// Changes the contact of a joint at an event of dry friction or of an end stop.
template <int kWidth>
void IntervalLanes<kWidth>::handle_contact_event(int lane, double time, int joint, int stop) {
  if (stop < 0) {
    handle_event(lane, time, joint);
  } else {
    handle_stop_event(lane, time, stop, true);
  }
  begin_segment(lane, time);
}

template <int kWidth>
void IntervalLanes<kWidth>::begin_segment(int lane, double time) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  slot.begin = time;
  slot.end = full_segment(slot);
  slot.event_joint = slot.event_stop = -1;
  load(lane);
}

/// Changes the contact of a joint at an event of dry friction, at the lane's current state.
template <int kWidth>
void IntervalLanes<kWidth>::handle_event(int lane, double time, int joint) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  Contact& contact = slot.contacts[static_cast<std::size_t>(joint)];
  MotionEvent event{.time = time, .substep = slot.substep, .joint = joint};
  fix_single(lane, time);
  JointVector<double> before = accelerate_single();
  const double held = holding_torque_single(joint);
  const bool stops = contact != Contact::kStick;
  if (stops) {
    event.acceleration_before = single_.joint_acceleration(joint)[0];
    stop_joint(lane, joint);
    event.rates.resize(program_.coordinate_count());
    for (int p = 0; p < event.rates.size(); ++p) {
      event.rates[p] = *state(lane, static_cast<int>(event.rates.size()) + p);
    }
  }
  if (program_.has_loops()) {
    determine_loop_contacts(lane, joint, time, stops);
  } else if (stops) {
    determine_contact(lane, joint, time);
  } else {
    contact = contact_of(-held);  // without another test, whose result round-off might reverse
  }
  fix_single(lane, time);
  event.drop = before - accelerate_single();
  event.contacts = slot.contacts;
  slot.interval->log.events.push_back(event);
}

/// Copies a lane's state, contacts, and controls at a given time to the narrow integrator.
template <int kWidth>
void IntervalLanes<kWidth>::fix_single(int lane, double time) {
  const Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  for (int i = 0; i < kSingle; ++i) {
    for (int row = 0; row < 2 * program_.coordinate_count(); ++row) {
      single_.state(row)[i] = *state(lane, row);
    }
    for (int j = 0; program_.has_loops() && j < program_.joint_count(); ++j) {
      single_.guess(j)[i] = lanes_.guess(j)[lane];
    }
    load_segment(single_, i, *slot.interval->controls, slot.substep, time, time);
    load_contacts(single_, i, slot.contacts);
  }
}

template <int kWidth>
JointVector<double> IntervalLanes<kWidth>::accelerate_single() {
  single_.accelerate_at_start();
  JointVector<double> result(program_.coordinate_count());
  for (int p = 0; p < result.size(); ++p) result[p] = single_.acceleration(p)[0];
  return result;
}

/// Returns the torque that holds a sticking joint, after `accelerate_single` [N·m].
template <int kWidth>
double IntervalLanes<kWidth>::holding_torque_single(int joint) const {
  double torque[kSingle];
  single_.holding_torque(joint, torque);
  return torque[0];
}

/// Returns the margin of a contact in each lane of the narrow integrator: the speed in the slip
/// direction, or the remaining friction torque. The integrator must have stepped or be at the
/// start.
template <int kWidth>
std::array<double, IntervalLanes<kWidth>::kSingle> IntervalLanes<kWidth>::margin(const Lane& slot,
                                                                                 int joint,
                                                                                 int stop,
                                                                                 bool at_end) {
  if (stop >= 0) return stop_margin(slot, stop, at_end);
  const Contact contact = slot.contacts[static_cast<std::size_t>(joint)];
  std::array<double, kSingle> left;
  if (contact != Contact::kStick) {
    if (!at_end && program_.has_loops()) single_.accelerate_at_start();
    const double* rate = at_end                 ? single_.end_rate(joint)
                         : program_.has_loops() ? single_.joint_rate(joint)
                                                : single_.state(program_.joint_count() + joint);
    for (std::size_t i = 0; i < left.size(); ++i) {
      const bool rests = program_.has_loops() && !at_end && std::abs(rate[i]) < kRestRate;
      left[i] = rests ? 0.0 : static_cast<double>(contact) * rate[i];
    }
    return left;
  }
  at_end ? single_.accelerate_at_end() : single_.accelerate_at_start();
  if (program_.has_loops()) {
    for (std::size_t i = 0; i < left.size(); ++i) {
      left[i] = spare_torque(single_, static_cast<int>(i), slot.contacts);
    }
    return left;
  }
  single_.holding_torque(joint, left.data());
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] = single_.holding_bound(joint)[i] - std::abs(left[i]);
  }
  return left;
}

/// Finds the time within the segment at which the margin of a joint vanishes. `left` is its
/// negative value at the later time `time`. Regula falsi uses four probes per round around the root
/// of the secant, closer in later rounds as the secant becomes more accurate.
template <int kWidth>
double IntervalLanes<kWidth>::locate(int lane, int joint, int stop, double time, double left) {
  const Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  fix_single(lane, slot.begin);
  Bracket bracket{0.0, time, margin(slot, joint, stop, false)[0], left};
  const bool slips = !is_held(slot.contacts[static_cast<std::size_t>(joint)]);
  const bool leaves = stop < 0 ? bracket.at_low == 0.0
                               : !(bracket.at_low > 0.0) &&
                                     stops_[static_cast<std::size_t>(stop)].side *
                                             *single_.state(program_.joint_count() + joint) >=
                                         0.0;
  if (slips && leaves) leave_rest(lane, joint, stop, bracket);
  if (!(bracket.at_low > 0.0)) return 0.0;
  double reach = kProbeReach;
  for (int round = 0; round < kLocateRounds && bracket.width() > kLocateTolerance; ++round) {
    const double root = bracket.root(), width = bracket.width();
    const bool is_early = root - bracket.low < 0.5 * width;
    probe(lane, joint, stop,
          {root - reach * width, root, root + reach * width,
           0.5 * (root + (is_early ? bracket.high : bracket.low))},
          bracket);
    reach = std::max(reach * reach, kProbeReachMin);
  }
  return bracket.high;
}

/// Moves the low end of a bracket to a time with a positive margin, by halving the high end. It
/// serves a joint that was just released, moves away and returns.
template <int kWidth>
void IntervalLanes<kWidth>::leave_rest(int lane, int joint, int stop, Bracket& bracket) {
  for (int round = 0; round < kHalvings && !(bracket.at_low > 0.0); ++round) {
    const double high = bracket.high;
    probe(lane, joint, stop, {high / 2.0, high / 4.0, high / 8.0, high / 16.0}, bracket);
  }
}

/// Narrows a bracket by the margins at four times within it.
template <int kWidth>
void IntervalLanes<kWidth>::probe(int lane, int joint, int stop,
                                  const std::array<double, kSingle>& times, Bracket& bracket) {
  const Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  for (int i = 0; i < kSingle; ++i) {
    const double time = std::clamp(times[static_cast<std::size_t>(i)], bracket.low, bracket.high);
    load_segment(single_, i, *slot.interval->controls, slot.substep, slot.begin, slot.begin + time);
  }
  single_.step();
  const std::array<double, kSingle> left = margin(slot, joint, stop, true);
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (left[i] > 0.0 && times[i] > bracket.low && times[i] < bracket.high) {
      bracket.low = times[i];
      bracket.at_low = left[i];
    }
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!(left[i] > 0.0) && times[i] > bracket.low && times[i] < bracket.high) {
      bracket.high = times[i];
      bracket.at_high = left[i];
    }
  }
}

template <int kWidth>
void IntervalLanes<kWidth>::read_samples(int lane) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  const MotionInterval& interval = *slot.interval;
  const double length = slot.end - slot.begin;
  for (; is_within(interval, slot.sample, slot.substep, slot.end); ++slot.sample) {
    const HermiteWeights w = hermite_weights(interval.time(slot.sample) - slot.begin, length);
    const Eigen::Index at = slot.sample - interval.first_sample;
    for (int j = 0; j < program_.joint_count(); ++j) {
      (*slot.angles)(at, j) =
          w.angle_begin * lanes_.begin_angle(j)[lane] + w.angle_end * lanes_.end_angle(j)[lane] +
          w.rate_begin * lanes_.begin_rate(j)[lane] + w.rate_end * lanes_.end_rate(j)[lane];
    }
  }
}

template <int kWidth>
void IntervalLanes<kWidth>::record_instants(int lane) {
  Lane& slot = lane_states_[static_cast<std::size_t>(lane)];
  const MotionInterval& interval = *slot.interval;
  const int c = program_.coordinate_count();
  for (; slot.look < interval.last_instant; ++slot.look) {
    const double time = interval.sample_instants[slot.look];
    if (!is_before_end(interval, time, slot.substep, slot.end)) break;
    SampleInstantMotion& log = *interval.instants;
    const int at = slot.look - log.first;
    const HermiteWeights angle = hermite_weights(time - slot.begin, slot.end - slot.begin);
    const HermiteWeights rate = hermite_rate_weights(time - slot.begin, slot.end - slot.begin);
    const auto place = [&](int j, const HermiteWeights& w) {
      return w.angle_begin * lanes_.begin_angle(j)[lane] + w.angle_end * lanes_.end_angle(j)[lane] +
             w.rate_begin * lanes_.begin_rate(j)[lane] + w.rate_end * lanes_.end_rate(j)[lane];
    };
    for (int p = 0; p < c; ++p) {
      const int joint = program_.independent()[static_cast<std::size_t>(p)];
      log.states(p, at) = place(joint, angle);
      log.states(c + p, at) = place(joint, rate);
    }
    for (int j = 0; j < log.guesses.rows(); ++j) log.guesses(j, at) = place(j, angle);
    log.substeps[static_cast<std::size_t>(at)] = slot.substep;
    log.contacts[static_cast<std::size_t>(at)] = slot.contacts;
  }
}

template class IntervalLanes<4>;
template class IntervalLanes<8>;
template class IntervalLanes<16>;

}  // namespace estimator
