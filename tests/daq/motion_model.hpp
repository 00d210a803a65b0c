#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <vector>

#include "tests/daq/random_rig_run.hpp"

namespace daq {

/// Model of EncoderMotionMonitor that evaluates each check from the whole run, without its sums.
class MotionModel {
 public:
  explicit MotionModel(const RigRun& run) : run_(run), size_(run.samples.size()) {
    for (std::size_t k = 0; k < size_; ++k) {
      const bool begins = k == 0 || phase(k) != phase(k - 1);
      phase_start_.push_back(begins ? k : phase_start_.back());
    }
    find_command_changes();
    for (std::size_t j = 0; j < kRunJoints; ++j) find_motions(j);
  }

  /// Returns the first trip of the run and the number of samples before it at which a joint creeps.
  FirstTrip find_first_trip() {
    FirstTrip result;
    for (std::size_t k = 0; k < size_; ++k) {
      result.sample = static_cast<int>(k);
      for (std::size_t j = 0; j < kRunJoints; ++j) follow_push(j, k);
      for (std::size_t j = 0; j < kRunJoints && !trip_; ++j) check(j, k);
      result.creeping += may_creep(k);
      if (!trip_) continue;
      result.trip = *trip_;
      break;
    }
    return result;
  }

 private:
  struct Motion {
    std::size_t k;
    std::int64_t counts, before;  // of the encoder, and at the motion before
    double rested_s;
  };
  struct Interval {
    std::size_t end;
    double since_s, speed;
    std::size_t forgotten = SIZE_MAX;  // sample from which on it does not count
  };
  struct Joint {
    std::size_t seen = SIZE_MAX;  // first reading
    std::vector<Motion> motions;
    std::vector<Interval> intervals;
    // First motion of a phase.
    bool waits = false, moves = false, drifts = false;
    double direction = 0.0, drift = 0.0, start_s = 0.0;
    std::int64_t start_counts = 0;
    // Push of the motor, and response of passive joints.
    double last_push_s = 0.0, idle_s = 0.0;
    bool is_response_due = false, rested = false;
    std::size_t push = 0;  // sample at which a motor last started to push
  };

  // ----- The run -----

  double t(std::size_t k) const { return run_.samples[k].now.time_s; }
  double dt(std::size_t k) const { return k == 0 ? 0.0 : t(k) - t(k - 1); }
  MotionPhase phase(std::size_t k) const { return run_.samples[k].phase; }
  const JointState& state(std::size_t j, std::size_t k) const {
    return run_.samples[k].now.joint[j];
  }
  std::int64_t counts(std::size_t j, std::size_t k) const { return run_.samples[k].counts[j]; }
  const JointDrive& drive(std::size_t j) const { return run_.limits.motion[j]; }
  double q(std::size_t j) const { return std::abs(drive(j).rad_per_count); }
  double scale(std::size_t j) const { return run_.limits.joint[j].slides ? 0.1 : 1.0; }
  /// Command of the joint's motor that was in effect before sample k.
  double u(std::size_t j, std::size_t k) const {
    if (k == 0 || drive(j).motor < 0) return 0.0;
    return run_.samples[k - 1].command[static_cast<std::size_t>(drive(j).motor)];
  }
  bool drives(std::size_t j, std::size_t k) const {
    return drive(j).motor >= 0 && std::abs(u(j, k)) >= drive(j).stall_command;
  }
  bool any_drives(std::size_t k) const { return drives(0, k) || drives(1, k) || drives(2, k); }
  bool is_passive(std::size_t j) const { return drive(j).motor < 0 && !drive(j).is_unaffected; }

  // ----- Motions -----
  void find_command_changes() {
    std::array<double, kRunJoints> steady{};
    std::array<double, kRunJoints> commanded_s;
    commanded_s.fill(-1.0);
    double last_s = 0.0;
    for (std::size_t k = 0; k < size_; ++k) {
      changed_s_.push_back(last_s);
      bool changes = false;
      for (std::size_t j = 0; j < kRunJoints; ++j) {
        if (drive(j).motor < 0) continue;
        const double now = run_.samples[k].command[static_cast<std::size_t>(drive(j).motor)];
        if (now != 0.0) commanded_s[j] = t(k);
        if (now == 0.0 && t(k) - commanded_s[j] < 0.02) continue;
        if (std::abs(now - steady[j]) < 0.05 * drive(j).stall_command) continue;
        steady[j] = now;
        changes = true;
      }
      changes_.push_back(changes);
      steps_.push_back(changes && t(k) - last_s >= 0.2);
      if (changes) last_s = t(k);
    }
  }

  void find_motions(std::size_t j) {
    Joint& joint = joints_[j];
    std::int64_t reference = 0, span_counts = 0;
    double span_s = 0.0, moved_s = 0.0;
    for (std::size_t k = 0; k < size_; ++k) {
      const std::int64_t now = counts(j, k);
      if (state(j, k).valid) {
        if (joint.seen == SIZE_MAX) {
          joint.seen = k;
          reference = span_counts = now;
          span_s = moved_s = t(k);
        }
        if (t(k) - span_s >= 0.0625) {
          const auto moved = static_cast<double>(std::abs(now - span_counts));
          if (moved >= 2.0) joint.intervals.push_back({k, span_s, moved * q(j) / (t(k) - span_s)});
          span_counts = now;
          span_s = t(k);
        }
        if (std::abs(now - reference) >= 2) {
          if (t(k) - moved_s >= 0.3125) {
            for (Interval& interval : joint.intervals) {
              interval.forgotten = std::min(interval.forgotten, k);
            }
          }
          joint.motions.push_back({k, now, reference, t(k) - moved_s});
          reference = now;
          moved_s = t(k);
        }
      }
      if (!steps_[k]) continue;
      span_counts = now;
      span_s = t(k);
    }
  }

  /// Number of motions up to sample k.
  std::size_t motion_count(std::size_t j, std::size_t k) const {
    const auto& motions = joints_[j].motions;
    return static_cast<std::size_t>(std::ranges::upper_bound(motions, k, {}, &Motion::k) -
                                    motions.begin());
  }
  double moved_s(std::size_t j, std::size_t k) const {
    const std::size_t count = motion_count(j, k);
    if (count > 0) return t(joints_[j].motions[count - 1].k);
    return joints_[j].seen <= k ? t(joints_[j].seen) : 0.0;
  }
  /// First sample of the phase since the joint's last motion, before sample k or at it.
  std::size_t rest_start(std::size_t j, std::size_t k) const {
    const std::size_t count = motion_count(j, k);
    const std::size_t after = count > 0 ? joints_[j].motions[count - 1].k + 1 : 0;
    return std::max(after, phase_start_[k]);
  }
  /// First sample of the phase since the joint was eight counts from its reference position.
  std::size_t near_start(std::size_t j, std::size_t k) const {
    std::size_t start = phase_start_[k];
    std::int64_t reference = counts(j, start);
    for (std::size_t i = start; i <= k; ++i) {
      if (!state(j, i).valid) continue;
      if (i == joints_[j].seen) reference = counts(j, i);
      if (std::abs(counts(j, i) - reference) < 8) continue;
      reference = counts(j, i);
      start = i + 1;
    }
    return start;
  }
  /// Mean speed over the last three motions of the phase.
  double last_speed(std::size_t j, std::size_t k) const {
    const auto& motions = joints_[j].motions;
    const std::size_t count = motion_count(j, k);
    if (count < 4 || motions[count - 4].k < phase_start_[k]) return 0.0;
    const Motion &to = motions[count - 1], &from = motions[count - 4];
    return static_cast<double>(std::abs(to.counts - from.counts)) * q(j) / (t(to.k) - t(from.k));
  }
  /// Largest speed of the last intervals that began at a time or later.
  double largest_speed(std::size_t j, std::size_t k, std::size_t count, double since_s) const {
    double largest = 0.0;
    const auto& all = joints_[j].intervals;
    for (std::size_t n = all.size(); n-- > 0;) {
      if (all[n].end > k) continue;
      if (count-- == 0) break;
      if (all[n].since_s >= since_s && all[n].forgotten > k)
        largest = std::max(largest, all[n].speed);
    }
    return largest;
  }
  bool is_at_stop(std::size_t j, std::size_t k) const {
    const double reach = 0.1 * scale(j) + 2e-3 * last_speed(j, k);
    const double angle = state(j, k).angle_rad;
    return angle < drive(j).stop_rad_min + reach || angle > drive(j).stop_rad_max - reach;
  }

  // ----- Pushes -----

  void follow_push(std::size_t j, std::size_t k) {
    Joint& joint = joints_[j];
    if (k == phase_start_[k]) {
      joint.is_response_due = joint.moves = false;
      joint.waits = phase(k) == MotionPhase::kDriven && drive(j).motor >= 0;
      joint.last_push_s = t(k) - 0.2;
    }
    if (std::abs(u(j, k)) < 0.5 * drive(j).stall_command) joint.idle_s = t(k);
    const std::size_t before = k == 0 ? 0 : k - 1;
    if (drives(j, k)) {
      if (t(k) - joint.last_push_s >= 0.2 && phase(k) == MotionPhase::kDriven) {
        const bool is_first = std::ranges::none_of(joints_, &Joint::is_response_due);
        for (std::size_t p = 0; is_first && p < kRunJoints; ++p) {
          joints_[p].push = k;
          joints_[p].rested = t(k) - moved_s(p, p < j ? k : before) >= 0.2;
        }
        joint.is_response_due =
            t(k) - joint.idle_s <= 0.1 && std::abs(state(j, k).speed_rad_per_s) <= 0.3 * scale(j);
        pushed_[j] = k;
        const bool moved = t(k) - moved_s(j, before) < 0.2;
        if (joint.waits && moved) {
          start(j, k, u(j, k) > 0.0 ? 1.0 : -1.0, counts(j, k), state(j, k).speed_rad_per_s, true);
        }
      }
      joint.last_push_s = t(k);
    }
    const std::size_t count = motion_count(j, k);
    if (joint.waits && count > 0 && joint.motions[count - 1].k == k &&
        joint.motions[count - 1].rested_s >= 0.2) {
      start(j, k, first_direction(j, k), joint.motions[count - 1].before, 0.0, false);
    }
    if (j + 1 == kRunJoints && changes_[k]) pushed_after_.push_back(k);
  }

  /// Direction of the pushes before the first motion: of the reach, else of equal commands.
  double first_direction(std::size_t j, std::size_t k) const {
    const double reach = integrate(j, rest_start(j, k - 1), k).total_reach;
    if (reach != 0.0) return reach > 0.0 ? 1.0 : -1.0;
    double sign = 0.0;
    for (std::size_t i = phase_start_[k]; i <= k; ++i) {
      if (u(j, i) * sign < 0.0) return 0.0;
      if (u(j, i) != 0.0) sign = u(j, i) > 0.0 ? 1.0 : -1.0;
    }
    return sign;
  }

  void start(std::size_t j, std::size_t k, double pushed, std::int64_t from, double drift,
             bool drifts) {
    Joint& joint = joints_[j];
    if (pushed == 0.0) return;
    joint.waits = false;
    joint.direction = pushed * drive(j).gain_sign;
    joint.start_counts = from;
    joint.drift = drift / drive(j).rad_per_count;
    joint.drifts = drifts;
    joint.start_s = t(k);
    joint.moves = std::abs(drift) <= 0.3 * scale(j) && t(k) - t(joint.seen) >= 0.2;
    for (std::size_t p = 0; p < kRunJoints; ++p) {
      const std::size_t known = p < j || k == 0 ? k : k - 1;
      const bool rests = !drives(p, k) && largest_speed(p, known, 5, 0.0) <= 0.1 * scale(p);
      joint.moves = joint.moves && (p == j || rests);
    }
  }

  struct Reach {
    double total_impulse = 0.0, total_reach = 0.0, impulse = 0.0, push = 0.0, earlier = 0.0;
    double pushed_s = 0.0;
  };
  double stall_reach(std::size_t j) const {
    return 0.5 * drive(j).stall_command * std::pow(drive(j).stall_time_s, 2);
  }
  Reach integrate(std::size_t j, std::size_t from, std::size_t to) const {
    Reach sum;
    for (std::size_t i = from; i <= to; ++i) {
      const double push = u(j, i) * dt(i), brake = drive(j).stall_command * dt(i);
      const auto braked = [&](double v) {
        return std::copysign(std::max(std::abs(v) - brake, 0.0), v);
      };
      if (drives(j, i) && push * sum.push < 0.0) {
        sum.earlier += std::max(std::abs(sum.push) - 0.5 * stall_reach(j), 0.0);
        sum.impulse = sum.push = 0.0;
      }
      sum.pushed_s += drives(j, i) ? dt(i) : 0.0;
      sum.impulse = drives(j, i) ? sum.impulse + push : braked(sum.impulse);
      sum.total_impulse = drives(j, i) ? sum.total_impulse + push : braked(sum.total_impulse);
      sum.push += sum.impulse * dt(i);
      sum.total_reach += sum.total_impulse * dt(i);
    }
    return sum;
  }
  /// Whether the rig moved at the motor's first command, or another motor was commanded since.
  std::optional<bool> did_rig_move(std::size_t j, std::size_t k) const {
    std::optional<bool> moved;
    for (std::size_t i = rest_start(j, k); i <= k; ++i) {
      if (u(j, i) == 0.0) continue;
      bool moves = moved.value_or(false);
      for (std::size_t p = 0; p < kRunJoints; ++p) {
        const std::size_t known = p < j || i == 0 ? i : i - 1;
        if (p != j && u(p, i) != 0.0) moves = true;
        if (!moved && joints_[p].seen <= known && t(i) - moved_s(p, known) < 0.2) moves = true;
      }
      moved = moves;
    }
    return moved;
  }

  // ----- Checks -----

  void fail(TripCause cause, std::size_t j, std::size_t k, double value, double limit) {
    if (!trip_) trip_ = Trip{cause, static_cast<std::uint8_t>(j), t(k), value, limit};
  }

  void check(std::size_t j, std::size_t k) {
    check_swings(j, k);
    if (!state(j, k).valid) return;
    if (phase(k) == MotionPhase::kWatched) check_creep(j, k);
    if (phase(k) != MotionPhase::kDriven) return;
    check_direction(j, k);
    if (drive(j).motor >= 0) {
      check_late_start(j, k);
      check_stall(j, k);
      check_response(j, k);
    }
    if (is_at_stop(j, k)) return;
    check_sudden_stop(j, k);
    if (is_passive(j)) check_silence(j, k);
  }

  void check_swings(std::size_t j, std::size_t k) {
    const bool is_free = phase(k) == MotionPhase::kReleased || phase(k) == MotionPhase::kDriven;
    const bool is_driven = u(0, k) != 0.0 || u(1, k) != 0.0 || u(2, k) != 0.0;
    if (!is_free || is_driven || k == phase_start_[k]) swings_[j] = {};
    if (!is_free || is_driven || !state(j, k).valid) return;
    const bool slides = run_.limits.joint[j].slides;
    const double turn = slides ? 0.0 : std::round(2.0 * std::numbers::pi / q(j));
    const double growth = swings_[j].add(counts(j, k), t(k), turn);
    if (growth > 0.0) fail(TripCause::kGrowingSwings, j, k, growth, 1.1);
  }

  void check_creep(std::size_t j, std::size_t k) {
    const Creep creep = find_creep(j, k);
    if (creep.updated && creep.steady_s > 1.85) fail(TripCause::kCreep, j, k, creep.speed, 0.0);
  }

  void check_direction(std::size_t j, std::size_t k) {
    Joint& joint = joints_[j];
    if (!joint.moves) return;
    const double since_s = t(k) - joint.start_s;
    const double sign = drive(j).rad_per_count < 0.0 ? -1.0 : 1.0;
    const double ahead =
        sign * joint.direction *
        (static_cast<double>(counts(j, k) - joint.start_counts) - joint.drift * since_s);
    const double limit = 4.0 + (joint.drifts ? since_s / (16.0 * dt(k)) : 0.0);
    if (ahead <= -limit) fail(TripCause::kWrongDirection, j, k, -ahead * q(j), limit * q(j));
    bool others_drive = false;
    for (std::size_t p = 0; p < kRunJoints; ++p)
      others_drive = others_drive || (p != j && drives(p, k));
    const bool turned = u(j, k) * drive(j).gain_sign * joint.direction < 0.0;
    if (turned || others_drive || (joint.drifts && !drives(j, k)) ||
        (since_s > 0.05 && ahead >= limit) || since_s > 0.5) {
      joint.moves = false;
    }
  }

  void check_late_start(std::size_t j, std::size_t k) {
    if (did_rig_move(j, k).value_or(true)) return;
    const double pushed_s = integrate(j, rest_start(j, k), k).pushed_s;
    for (std::size_t p = 0; p < kRunJoints; ++p) {
      const auto& motions = joints_[p].motions;
      const std::size_t count = motion_count(p, k);
      std::size_t first = count;
      while (first > 0 && motions[first - 1].rested_s < 0.2) --first;
      if (!is_passive(p) || first == 0) continue;
      const Motion& left = motions[first - 1];
      const double limit = std::max(12.0, 20.0 * q(j) / scale(j) * scale(p) / q(p));
      const auto moved = static_cast<double>(std::abs(motions[count - 1].counts - left.before));
      const bool is_recent = t(k) - t(left.k) <= std::min(0.2, pushed_s);
      if (is_recent && moved >= limit) fail(TripCause::kLateEncoder, j, k, moved, limit);
    }
  }

  void check_stall(std::size_t j, std::size_t k) {
    const Reach sum = integrate(j, rest_start(j, k), k);
    const double phase_s = t(phase_start_[k]);
    const double coasted = sum.pushed_s * largest_speed(j, k, 2, phase_s) / scale(j);
    if (coasted > 0.45) {
      fail(TripCause::kFrozenEncoder, j, k, sum.pushed_s, sum.pushed_s * 0.45 / coasted);
    }
    bool others_move = false;
    for (std::size_t p = 0; p < kRunJoints; ++p) {
      others_move = others_move || (moved_s(p, k) > moved_s(j, k) + 0.1 &&
                                    largest_speed(p, k, 5, 0.0) >= 1.5 * scale(p));
    }
    double share = 1.0;
    if (others_move && did_rig_move(j, k).value_or(false)) {
      share = std::max(1.0, 1.85 - 6.0 * std::pow(sum.pushed_s * last_speed(j, k) / scale(j), 2));
    }
    compare_reach(j, k, sum, share);
    compare_reach(j, k, integrate(j, near_start(j, k), k), 4.0);
  }
  void compare_reach(std::size_t j, std::size_t k, const Reach& sum, double share) {
    const double limit = share * stall_reach(j);
    const double reach =
        std::max(sum.earlier + std::abs(sum.push), std::abs(sum.total_reach) / 1.35);
    const double per_command = 2.0 / drive(j).stall_command;
    if (reach > limit) {
      fail(TripCause::kStall, j, k, std::sqrt(per_command * reach), std::sqrt(per_command * limit));
    }
  }

  void check_response(std::size_t j, std::size_t k) {
    Joint& joint = joints_[j];
    if (!joint.is_response_due) return;
    std::size_t from = pushed_[j];
    for (const std::size_t change : pushed_after_) {
      if (change < k) from = std::max(from, change);
    }
    const double since_s = t(k) - t(from);
    const double pushed = std::abs(state(j, k).angle_rad - state(j, from).angle_rad -
                                   state(j, from).speed_rad_per_s * since_s);
    const double travel = 0.1 * scale(j) + since_s * q(j) / (16.0 * dt(k));
    if (since_s > 0.7 || pushed > travel) joint.is_response_due = false;
    if (pushed <= travel) return;
    for (std::size_t p = 0; p < kRunJoints; ++p) {
      if (!is_passive(p) || !state(p, k).valid || is_at_stop(p, k) || !joints_[p].rested) continue;
      std::int64_t excursion = 0;
      for (std::size_t i = joints_[p].push; i <= k; ++i) {
        const bool is_known = state(p, i).valid && (p >= j || i > joints_[p].push);
        if (is_known)
          excursion = std::max(excursion, std::abs(counts(p, i) - counts(p, joints_[p].push)));
      }
      if (excursion < 12) fail(TripCause::kNoResponse, p, k, pushed, travel);
    }
  }

  void check_sudden_stop(std::size_t j, std::size_t k) {
    const double a = 200.0 * scale(j), speed = last_speed(j, k);
    const double travel = std::max(0.1 * scale(j), 8.0 * q(j)), rest_s = t(k) - moved_s(j, k);
    if (speed > 3.0 * std::sqrt(q(j) * a) + 1.5 * a * dt(k) && speed * rest_s > travel) {
      fail(TripCause::kFrozenEncoder, j, k, rest_s, travel / speed);
    }
  }

  void check_silence(std::size_t j, std::size_t k) {
    double driven_s = 0.0, shaken_s = 0.0;
    for (std::size_t i = rest_start(j, k); i <= k; ++i) {
      if (any_drives(i)) driven_s += dt(i);
      if (any_drives(i) && t(i) - changed_s_[i] <= 0.1) shaken_s += dt(i);
    }
    const double phase_s = t(phase_start_[k]), changed_s = changed_s_[k];
    if (shaken_s > 0.9 && largest_speed(j, k, 5, phase_s) > 0.3 * scale(j)) {
      fail(TripCause::kFrozenEncoder, j, k, shaken_s, 0.9);
    }
    const double speed = largest_speed(j, k, 5, std::max(changed_s, phase_s));
    const double longest_s = std::sqrt(16.0 * 0.3125 * (6e-3 * scale(j) + q(j)) / speed);
    if (moved_s(j, k) >= changed_s && driven_s > 0.1 && speed > 0.2 * scale(j) &&
        driven_s > longest_s) {
      fail(TripCause::kFrozenEncoder, j, k, driven_s, longest_s);
    }
  }

  struct Creep {
    bool updated = false;  // at sample k
    double steady_s = 0.0, speed = 0.0;
    int moving = 0;  // number of intervals since the first motion
  };
  /// Equal steps in intervals of 0.15 s since the phase began, or since the first reading.
  Creep find_creep(std::size_t j, std::size_t k) const {
    Creep creep;
    if (phase(k) != MotionPhase::kWatched || joints_[j].seen > k) return creep;
    std::size_t from = std::max(phase_start_[k], joints_[j].seen), steady_from = from;
    std::int64_t first = 0;
    for (std::size_t i = from; i <= k; ++i) {
      creep.updated = state(j, i).valid && t(i) - t(from) >= 0.15;
      if (!creep.updated) continue;
      const std::int64_t step = counts(j, i) - counts(j, from);
      const auto difference = static_cast<double>(std::abs(step - first));
      const bool steady = std::abs(step) >= 2 && std::abs(first) >= 2 &&
                          difference <= 1.0 + 0.1 * static_cast<double>(std::abs(first));
      creep.steady_s = steady ? creep.steady_s + t(i) - t(from) : 0.0;
      if (!steady) first = step;
      if (!steady) steady_from = i;
      const auto moved = static_cast<double>(counts(j, i) - counts(j, steady_from));
      creep.speed = std::abs(moved) * q(j) / creep.steady_s;
      if (std::abs(step) >= 2 || creep.moving > 0) ++creep.moving;
      from = i;
    }
    return creep;
  }
  bool may_creep(std::size_t k) const {
    bool creeps = false;
    for (std::size_t j = 0; j < kRunJoints; ++j) {
      const Creep creep = find_creep(j, k);
      creeps = creeps || creep.steady_s > 0.29 || (creep.moving > 0 && creep.moving < 4);
    }
    return creeps;
  }

  const RigRun& run_;
  std::size_t size_;
  std::vector<std::size_t> phase_start_;
  std::vector<double> changed_s_;  // last change of a command before each sample
  std::vector<bool> changes_, steps_;
  std::array<Joint, kRunJoints> joints_;
  std::array<std::size_t, kRunJoints> pushed_{};
  std::vector<std::size_t> pushed_after_;
  std::array<SwingGrowthDetector, kRunJoints> swings_;
  std::optional<Trip> trip_;
};

}  // namespace daq
