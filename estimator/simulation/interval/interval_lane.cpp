#include "estimator/simulation/interval/interval_lane.hpp"

#include <cmath>
#include <utility>

namespace estimator {
namespace {

constexpr double kSlopeDecay = 0.4;  // of du/dx

double level_of(double x) {
  return std::copysign(-std::expm1(-kSlopeDecay * std::abs(x)) / kSlopeDecay, x);
}

/// Returns the time after which u has changed by `way`, if x starts at its value and grows at
/// `rate`.
double time_for(double way, double x, double rate) {
  if (rate == 0.0) return std::numeric_limits<double>::infinity();
  const double along = std::copysign(1.0, rate) * x;
  const double share = kSlopeDecay * (level_of(along) + way);  // of the range of u on one side
  if (share >= 1.0) return std::numeric_limits<double>::infinity();
  return (std::copysign(-std::log1p(-std::abs(share)) / kSlopeDecay, share) - along) /
         std::abs(rate);
}

/// Largest number of contact events within one substep, over all joints, that are resolved. More
/// events occur only if a joint chatters between sticking and slipping.
constexpr int kEventsMax = 24;
constexpr int kRefinementsMax = 100;
constexpr int kBisectionEvery = 4;          // refinements
constexpr int kHalvings = 10;               // by a factor of 16 each
constexpr double kLocateTolerance = 1e-14;  // [s]

/// Wanted length of an integration segment along the variable u of ScaledSpeedParabola.
constexpr double kCreepWay = 0.15;
constexpr double kLeeway = 1.5;     // factor by which a segment may exceed its wanted length
constexpr double kShortened = 0.7;  // largest fraction of its length to which a segment is cut
/// Two lengths relative to the longest segment at rest. kBriefest is the shortest allowed segment.
/// In segments below kBrief the mean speed cannot be computed from angles.
constexpr double kBriefest = 1e-4, kBrief = 1e-3;

}  // namespace

ScaledSpeedParabola::ScaledSpeedParabola(double begin, double mean, double end)
    : begin_(begin),
      end_(end),
      rise_(6.0 * mean - 4.0 * begin - 2.0 * end),
      bend_(3.0 * (begin + end - 2.0 * mean)) {}

double ScaledSpeedParabola::transformed_length() const {
  const double first = level_of(begin_), last = level_of(end_);
  const double turn = -0.5 * rise_ / bend_;
  if (!(turn > 0.0 && turn < 1.0)) return std::abs(last - first);
  const double between = level_of(begin_ + 0.5 * rise_ * turn);
  return std::abs(between - first) + std::abs(last - between);
}

double ScaledSpeedParabola::step_fraction_at_initial_slope(double way) const {
  return std::min(time_for(way, begin_, rise_), time_for(way, begin_, end_ - begin_));
}

double ScaledSpeedParabola::step_fraction_at_final_slope(double way) const {
  return time_for(way, end_, rise_ + 2.0 * bend_);
}

SharedLaneData::SharedLaneData(const TreeProgram& equations, const Mechanism& values,
                               const IntegrationSegmentLimits& segment, int width)
    : program(equations),
      limits(segment),
      stops(joint_end_stops(values)),
      lanes(SimdMotionIntegrator::make(width, program, values, false)),
      single(SimdMotionIntegrator::make(kSingle, program, values, false)),
      ground(make_ground_contact_points(program, values)),
      torques(static_cast<std::size_t>(program.joint_count()),
              std::vector<double>(static_cast<std::size_t>(width))) {
  if (!std::isfinite(limits.near_rest)) return;
  for (int j = 0; j < program.joint_count(); ++j) {
    const double creep = values.joints[j].transition_speed;
    if (creep > 0.0) smoothed_joints.push_back({j, creep});
  }
}

void SegmentIntegrator::start(MotionInterval& interval, Eigen::MatrixXd& angles) {
  const int n = program_.joint_count();
  interval_ = &interval;
  angles_ = &angles;
  substep_ = interval.first_substep;
  sample_ = interval.first_sample;
  look_ = interval.first_instant;
  begin_ = interval.controls->begin(substep_);
  holds_ = false;
  longest_ = std::numeric_limits<double>::infinity();
  contacts_.assign(static_cast<std::size_t>(n), Contact::kForward);
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
  set_start_state(lanes_, lane_, interval);
  determine_initial_contacts();
  interval.log.start = contacts_;
  determine_initial_stop_contacts();
  begin_substep();
}

void SegmentIntegrator::load() {
  set_segment_controls(lanes_, lane_, *interval_->controls, substep_, begin_, end_);
  set_contact_states(lanes_, lane_, contacts_);
}

void SegmentIntegrator::begin_segment(double time) {
  begin_ = time;
  end_ = full_segment_end();
  event_ = {};
  refinements_ = 0;
  load();
}

/// Extends the segment to the end of the substep.
void SegmentIntegrator::begin_substep() {
  event_count_ = 0;
  holds_ = false;
  begin_ = interval_->controls->begin(substep_);
  if (ground_ != nullptr) apply_touch_down();
  record_control_jumps();
  begin_segment(begin_);
}

/// Records the jumps of controls at the begin of a substep for the derivatives.
void SegmentIntegrator::record_control_jumps() {
  const SegmentControls& controls = *interval_->controls;
  const std::vector<int>& jumps = controls.jumps(substep_);
  if (jumps.empty() || substep_ == 0) return;
  load_narrow_integrator(begin_);
  const auto set_control = [&](int motor, double value) {
    std::fill_n(single_.control(motor), kSingle, value);
  };
  for (const int motor : jumps) {
    set_control(motor, controls.value(substep_ - 1, motor) + controls.rise(substep_ - 1, motor));
  }
  JointVector<double> before = narrow_accelerations();
  for (const int motor : jumps) {
    set_control(motor, controls.value(substep_, motor));
    const JointVector<double> after = narrow_accelerations();
    interval_->log.events.push_back(
        {.time = begin_, .substep = substep_, .motor = motor, .drop = before - after});
    before = after;
  }
}

void SegmentIntegrator::accept_or_shorten_segment() {
  if (event_.joint < 0 ? shorten_for_smoothed_friction() || find_contact_change()
                       : refine_contact_change()) {
    return;
  }
  interpolate_samples();
  record_sample_instants();
  longest_ = longest_next_segment();
  const int rows = 2 * program_.coordinate_count();
  for (int row = 0; row < rows; ++row) state(row) = lanes_.end_state(row)[lane_];
  for (int j = 0; program_.has_loops() && j < program_.joint_count(); ++j) {
    lanes_.guess(j)[lane_] = lanes_.end_angle(j)[lane_];
  }
  if (event_.joint >= 0) {
    handle_contact_event(event_, end_);
    return;
  }
  if (is_segment_shortened()) {
    interval_->log.cuts.push_back(end_);
    begin_segment(end_);
    return;
  }
  if (++substep_ < interval_->last_substep) {
    if ((substep_ - interval_->first_substep) % limits_.checkpoint_span == 0) store_checkpoint();
    begin_substep();
    return;
  }
  interval_->end.resize(rows);
  for (int row = 0; row < rows; ++row) interval_->end[row] = state(row);
  interval_ = nullptr;
}

void SegmentIntegrator::store_checkpoint() {
  MotionCheckpoint point{.substep = substep_,
                         .sample = sample_,
                         .look = look_,
                         .event = interval_->log.events.size(),
                         .cut = interval_->log.cuts.size(),
                         .contacts = contacts_,
                         .state = Eigen::VectorXd(2 * program_.coordinate_count())};
  for (int row = 0; row < point.state.size(); ++row) point.state[row] = state(row);
  if (program_.has_loops()) {
    point.guess.resize(program_.joint_count());
    for (int j = 0; j < point.guess.size(); ++j) point.guess[j] = lanes_.guess(j)[lane_];
  }
  interval_->checkpoints.push_back(std::move(point));
}

/// Replaces the end of the bracket whose margin has the same sign.
void SegmentIntegrator::RootBracket::narrow(double time, double margin) {
  double &end = margin > 0.0 ? low : high, &at_end = margin > 0.0 ? at_low : at_high;
  past = std::exchange(end, time);
  at_past = std::exchange(at_end, margin);
}

/// Returns the root by inverse quadratic interpolation of three margins, or by the secant if only
/// two are known.
double SegmentIntegrator::RootBracket::estimate_root() const {
  const double a = at_low, b = at_high, c = at_past;
  const double root = low * (b * c / ((a - b) * (a - c))) + high * (a * c / ((b - a) * (b - c))) +
                      past * (a * b / ((c - a) * (c - b)));
  return root > low && root < high ? root : low + a / (a - b) * (high - low);
}

/// Ends the segment at the estimated time of its first contact change, if there is one before
/// `latest`. Returns whether there is one.
bool SegmentIntegrator::find_contact_change(double latest) {
  const ContactChange first = find_first_contact_change();
  if (first.joint < 0 || !(first.time < latest)) return false;
  event_ = first;
  if (first.time > 0.0) {
    end_ = begin_ + first.time;
    load();
  } else {
    handle_contact_event(first, begin_);
  }
  return true;
}

/// Moves the end of the segment closer to the contact change, so that the wide integrator repeats
/// the step. Returns false if the end is close enough.
bool SegmentIntegrator::refine_contact_change() {
  if (++refinements_ >= kRefinementsMax) return false;
  const double time = end_ - begin_;
  RootBracket& bracket = event_.bracket;
  bracket.narrow(time, margin_at_end(event_.joint, event_.stop));
  double root = bracket.estimate_root();
  const double tolerance =
      std::max(kLocateTolerance, std::numeric_limits<double>::epsilon() * std::abs(end_));
  if (std::abs(root - time) <= tolerance) return find_contact_change(time - 2.0 * tolerance);
  if (refinements_ % kBisectionEvery == 0) root = 0.5 * (bracket.low + bracket.high);
  end_ = begin_ + root;
  load();
  return true;
}

/// Returns the first contact change in the segment, at its estimated time.
SegmentIntegrator::ContactChange SegmentIntegrator::find_first_contact_change() const {
  ContactChange first;
  bool asked = false;  // sticking joints of loops are tested together
  for (int j = 0; j < program_.joint_count(); ++j) {
    if (!program_.has_holding_friction(j) || is_at_end_stop(contact_state(j))) continue;
    if (contact_state(j) == Contact::kStick) {
      if (holds_ || (program_.has_loops() && std::exchange(asked, true))) continue;
    }
    const double left = margin_at_end(j, nullptr);
    if (!(left < 0.0)) continue;
    const ContactChange change = bracket_contact_change(j, nullptr, end_ - begin_, left);
    if (change.time < first.time) first = change;
  }
  find_stop_event(first);
  return first;
}

/// Changes the contact of a joint at an event of dry friction or of an end stop.
void SegmentIntegrator::handle_contact_event(const ContactChange& event, double time) {
  if (++event_count_ == kEventsMax) {
    ++interval_->log.unresolved;
    holds_ = true;
  }
  if (event.stop == nullptr) {
    handle_friction_event(time, event.joint);
  } else {
    handle_stop_event(time, *event.stop, true);
  }
  begin_segment(time);
}

/// Changes the contact of a joint at an event of dry friction, at the lane's current state.
void SegmentIntegrator::handle_friction_event(double time, int joint) {
  MotionEvent event{.time = time, .substep = substep_, .joint = joint};
  load_narrow_integrator(time);
  JointVector<double> before = narrow_accelerations();
  const double held = narrow_holding_torque(joint);
  const bool stops = contact_state(joint) != Contact::kStick;
  if (stops) {
    event.acceleration_before = single_.joint_acceleration(joint)[0];
    set_joint_rate_to_zero(joint);
    const int c = program_.coordinate_count();
    event.rates.resize(c);
    for (int p = 0; p < c; ++p) event.rates[p] = state(c + p);
  }
  if (program_.has_loops()) {
    determine_loop_contacts(joint, time, stops);
  } else if (stops) {
    determine_contact(joint, time);
  } else {
    contact_state(joint) = contact_for_slip_direction(
        -held);  // without another test, whose result round-off may reverse
  }
  load_narrow_integrator(time);
  event.drop = before - narrow_accelerations();
  event.contacts = contacts_;
  interval_->log.events.push_back(event);
}

/// Copies the lane's state, contacts, and controls at a given time to the narrow integrator.
void SegmentIntegrator::load_narrow_integrator(double time) const {
  for (int i = 0; i < kSingle; ++i) {
    for (int row = 0; row < 2 * program_.coordinate_count(); ++row) {
      single_.state(row)[i] = state(row);
    }
    for (int j = 0; program_.has_loops() && j < program_.joint_count(); ++j) {
      single_.guess(j)[i] = lanes_.guess(j)[lane_];
    }
    set_segment_controls(single_, i, *interval_->controls, substep_, time, time);
    set_contact_states(single_, i, contacts_);
  }
}

JointVector<double> SegmentIntegrator::narrow_accelerations() const {
  single_.compute_start_accelerations();
  JointVector<double> result(program_.coordinate_count());
  for (int p = 0; p < result.size(); ++p) result[p] = single_.coordinate_acceleration(p)[0];
  return result;
}

/// Returns the torque that holds a sticking joint, after `narrow_accelerations` [N·m].
double SegmentIntegrator::narrow_holding_torque(int joint) const {
  double torque[kSingle];
  single_.holding_torque(joint, torque);
  return torque[0];
}

/// Returns the torque that is left until a resting joint moves. `lanes` must have computed
/// accelerations, and `torque` [N·m] holds the joint.
double SegmentIntegrator::holding_margin(const SimdMotionIntegrator& lanes, int lane, int joint,
                                         const JointStop* stop, double torque) const {
  if (program_.has_loops()) return spare_holding_torque(lanes, lane);
  const double bound =
      program_.has_holding_friction(joint) ? lanes.holding_torque_bound(joint)[lane] : 0.0;
  return stop == nullptr ? bound - std::abs(torque) : bound + stop->side * torque;
}

/// Return the margin of a contact at the begin and at the end of the segment.
double SegmentIntegrator::margin_at_begin(int joint, const JointStop* stop) const {
  if (stop != nullptr && !is_resting_at_stop(*stop))
    return stop->distance_from_stop(lanes_.begin_angle(joint)[lane_]);
  if (is_at_rest(contact_state(joint))) {
    load_narrow_integrator(begin_);
    single_.compute_start_accelerations();
    return holding_margin(single_, 0, joint, stop, narrow_holding_torque(joint));
  }
  const double rate = lanes_.begin_rate(joint)[lane_];
  const bool rests = program_.has_loops() && std::abs(rate) < kRestRate;
  return rests ? 0.0 : static_cast<double>(contact_state(joint)) * rate;
}

double SegmentIntegrator::margin_at_end(int joint, const JointStop* stop) const {
  if (stop != nullptr && !is_resting_at_stop(*stop))
    return stop->distance_from_stop(lanes_.end_angle(joint)[lane_]);
  if (is_at_rest(contact_state(joint)))
    return holding_margin(lanes_, lane_, joint, stop, torques_[joint][lane_]);
  return static_cast<double>(contact_state(joint)) * lanes_.end_rate(joint)[lane_];
}

/// Returns the contact change of a joint whose margin is `left` < 0 at a time in the segment.
SegmentIntegrator::ContactChange SegmentIntegrator::bracket_contact_change(int joint,
                                                                           const JointStop* stop,
                                                                           double time,
                                                                           double left) const {
  RootBracket bracket{0.0, time, margin_at_begin(joint, stop), left};
  const bool leaves = stop == nullptr ? bracket.at_low == 0.0
                                      : !(bracket.at_low > 0.0) &&
                                            stop->side * lanes_.begin_rate(joint)[lane_] >= 0.0;
  if (!is_at_rest(contact_state(joint)) && leaves) bracket_return_to_contact(joint, stop, bracket);
  return {bracket.at_low > 0.0 ? bracket.estimate_root() : 0.0, joint, stop, bracket};
}

/// Moves the low end of a bracket to a time with a positive margin, by halving the high end. It
/// serves a joint that was just released, moves away and returns.
void SegmentIntegrator::bracket_return_to_contact(int joint, const JointStop* stop,
                                                  RootBracket& bracket) const {
  load_narrow_integrator(begin_);
  for (int round = 0; round < kHalvings && !(bracket.at_low > 0.0); ++round) {
    for (int i = 0; i < kSingle; ++i) {
      set_segment_controls(single_, i, *interval_->controls, substep_, begin_,
                           begin_ + std::ldexp(bracket.high, -1 - i));
    }
    single_.step();
    const double high = bracket.high;
    for (int i = 0; i < kSingle && !(bracket.at_low > 0.0); ++i) {
      bracket.narrow(std::ldexp(high, -1 - i),
                     stop != nullptr
                         ? stop->distance_from_stop(single_.end_angle(joint)[i])
                         : static_cast<double>(contact_state(joint)) * single_.end_rate(joint)[i]);
    }
  }
  bracket.at_past = std::numeric_limits<double>::quiet_NaN();
}

void SegmentIntegrator::interpolate_samples() {
  for (; is_sample_in_segment(*interval_, sample_, substep_, end_); ++sample_) {
    const HermiteWeights w = hermite_weights(interval_->time(sample_) - begin_, end_ - begin_);
    for (int j = 0; j < program_.joint_count(); ++j) {
      (*angles_)(sample_ - interval_->first_sample, j) =
          interpolate_joint_motion(lanes_, lane_, j, w);
    }
  }
}

void SegmentIntegrator::record_sample_instants() {
  const int c = program_.coordinate_count();
  for (; look_ < interval_->last_instant; ++look_) {
    const double time = interval_->sample_instants[look_];
    if (!is_instant_in_segment(*interval_, time, substep_, end_)) break;
    SampleInstantMotion& log = *interval_->instants;
    const int at = look_ - log.first;
    const HermiteWeights angle = hermite_weights(time - begin_, end_ - begin_);
    const HermiteWeights rate = hermite_rate_weights(time - begin_, end_ - begin_);
    for (int p = 0; p < c; ++p) {
      log.states(p, at) =
          interpolate_joint_motion(lanes_, lane_, program_.independent_joints(p), angle);
      log.states(c + p, at) =
          interpolate_joint_motion(lanes_, lane_, program_.independent_joints(p), rate);
    }
    for (int j = 0; j < log.guesses.rows(); ++j) {
      log.guesses(j, at) = interpolate_joint_motion(lanes_, lane_, j, angle);
    }
    log.substeps[at] = substep_;
    log.contacts[at] = contacts_;
  }
}

// --- shorter segments near rest, where smoothed Coulomb friction is steep ------------------------

/// Returns a joint's speed over the last step, in units of its transition velocity.
ScaledSpeedParabola SegmentIntegrator::scaled_speed(
    const SharedLaneData::SmoothedFrictionJoint& each) const {
  const double length = end_ - begin_;
  const double begin = lanes_.begin_rate(each.joint)[lane_] / each.speed;
  const double end = lanes_.end_rate(each.joint)[lane_] / each.speed;
  if (!(length > kBrief * limits_.near_rest)) return {begin, end};
  const double way = lanes_.end_angle(each.joint)[lane_] - lanes_.begin_angle(each.joint)[lane_];
  return {begin, way / (length * each.speed), end};
}

/// Returns the longest stable segment at the speed x in transition velocities. The slope of
/// smoothed friction at x is 1/cosh²(x) of its slope at rest.
double SegmentIntegrator::longest_stable_segment(double x) const {
  const double rise = std::cosh(x);
  return limits_.near_rest * rise * rise;
}

/// Shortens a segment that is too long for joints with smoothed friction. Returns whether it did.
bool SegmentIntegrator::shorten_for_smoothed_friction() {
  if (smoothed_joints_.empty()) return false;
  const double length = end_ - begin_;
  double wanted = length;
  for (const SharedLaneData::SmoothedFrictionJoint& each : smoothed_joints_) {
    const ScaledSpeedParabola x = scaled_speed(each);
    if (length > kLeeway * longest_stable_segment(x.begin()))
      wanted = std::min(wanted, longest_stable_segment(x.begin()));
    if (!(x.transformed_length() > kLeeway * kCreepWay)) continue;
    wanted = std::min(wanted,
                      std::min(kShortened, x.step_fraction_at_initial_slope(kCreepWay)) * length);
  }
  wanted = std::max(wanted, kBriefest * limits_.near_rest);
  if (!(wanted <= kShortened * length)) return false;  // at its shortest
  end_ = begin_ + wanted;
  load();
  return true;
}

/// Returns the longest segment that joints with smoothed friction allow after the last step.
double SegmentIntegrator::longest_next_segment() const {
  double longest = std::numeric_limits<double>::infinity();
  for (const SharedLaneData::SmoothedFrictionJoint& each : smoothed_joints_) {
    const ScaledSpeedParabola x = scaled_speed(each);
    longest = std::min({longest, longest_stable_segment(x.end()),
                        x.step_fraction_at_final_slope(kCreepWay) * (end_ - begin_)});
  }
  return std::max(longest, kBriefest * limits_.near_rest);
}

/// Returns the end time of the next segment if no event shortens it.
double SegmentIntegrator::full_segment_end() const {
  const double end = interval_->controls->end(substep_), rest = end - begin_;
  return rest > longest_ ? begin_ + rest / std::ceil(rest / longest_) : end;
}

}  // namespace estimator
