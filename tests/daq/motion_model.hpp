#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <vector>

#include "tests/daq/motion_history.hpp"

namespace daq {

/// Model of EncoderMotionMonitor that evaluates each check from the whole run, without its sums.
class MotionModel : private MotionHistory {
 public:
  using MotionHistory::MotionHistory;

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
  struct Push {
    // First motion of a phase.
    bool waits = false, moves = false, drifts = false;
    double direction = 0.0, drift = 0.0, start_s = 0.0;
    std::int64_t start_counts = 0;
    // Push of the motor, and response of passive joints.
    double last_push_s = 0.0, idle_s = 0.0;
    bool is_response_due = false, rested = false;
    std::size_t start = 0;  // sample at which a motor last started to push
  };

  // ----- Pushes -----

  void follow_push(std::size_t j, std::size_t k) {
    Push& push = pushes_[j];
    if (k == phase_start_[k]) {
      push.is_response_due = push.moves = false;
      push.waits = phase(k) == MotionPhase::kDriven && drive(j).motor >= 0;
      push.last_push_s = t(k) - 0.2;
    }
    if (std::abs(u(j, k)) < 0.5 * drive(j).stall_command) push.idle_s = t(k);
    const std::size_t before = k == 0 ? 0 : k - 1;
    if (drives(j, k)) {
      if (t(k) - push.last_push_s >= 0.2 && phase(k) == MotionPhase::kDriven) {
        const bool is_first = std::ranges::none_of(pushes_, &Push::is_response_due);
        for (std::size_t p = 0; is_first && p < kRunJoints; ++p) {
          pushes_[p].start = k;
          pushes_[p].rested = t(k) - moved_s(p, p < j ? k : before) >= 0.2;
        }
        push.is_response_due =
            t(k) - push.idle_s <= 0.1 && std::abs(state(j, k).speed_rad_per_s) <= 0.3 * scale(j);
        pushed_[j] = k;
        const bool moved = t(k) - moved_s(j, before) < 0.2;
        if (push.waits && moved) {
          start(j, k, u(j, k) > 0.0 ? 1.0 : -1.0, counts(j, k), state(j, k).speed_rad_per_s, true);
        }
      }
      push.last_push_s = t(k);
    }
    const std::size_t count = motion_count(j, k);
    if (push.waits && count > 0 && joints_[j].motions[count - 1].k == k &&
        joints_[j].motions[count - 1].rested_s >= 0.2) {
      start(j, k, first_direction(j, k), joints_[j].motions[count - 1].before, 0.0, false);
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
    Push& push = pushes_[j];
    if (pushed == 0.0) return;
    push.waits = false;
    push.direction = pushed * drive(j).gain_sign;
    push.start_counts = from;
    push.drift = drift / drive(j).rad_per_count;
    push.drifts = drifts;
    push.start_s = t(k);
    push.moves = std::abs(drift) <= 0.3 * scale(j) && t(k) - t(joints_[j].seen) >= 0.2;
    for (std::size_t p = 0; p < kRunJoints; ++p) {
      const std::size_t known = p < j || k == 0 ? k : k - 1;
      const bool rests = !drives(p, k) && largest_speed(p, known, 5, 0.0) <= 0.1 * scale(p);
      push.moves = push.moves && (p == j || rests);
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
    Push& push = pushes_[j];
    if (!push.moves) return;
    const double since_s = t(k) - push.start_s;
    const double sign = drive(j).rad_per_count < 0.0 ? -1.0 : 1.0;
    const double ahead =
        sign * push.direction *
        (static_cast<double>(counts(j, k) - push.start_counts) - push.drift * since_s);
    const double limit = 4.0 + (push.drifts ? since_s / (16.0 * dt(k)) : 0.0);
    if (ahead <= -limit) fail(TripCause::kWrongDirection, j, k, -ahead * q(j), limit * q(j));
    bool others_drive = false;
    for (std::size_t p = 0; p < kRunJoints; ++p)
      others_drive = others_drive || (p != j && drives(p, k));
    const bool turned = u(j, k) * drive(j).gain_sign * push.direction < 0.0;
    if (turned || others_drive || (push.drifts && !drives(j, k)) ||
        (since_s > 0.05 && ahead >= limit) || since_s > 0.5) {
      push.moves = false;
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
                                    largest_speed(p, k, 5, 0.0) >= 1.0 * scale(p));
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
    Push& push = pushes_[j];
    if (!push.is_response_due) return;
    std::size_t from = pushed_[j];
    for (const std::size_t change : pushed_after_) {
      if (change < k) from = std::max(from, change);
    }
    const double since_s = t(k) - t(from);
    const double pushed = std::abs(state(j, k).angle_rad - state(j, from).angle_rad -
                                   state(j, from).speed_rad_per_s * since_s);
    const double travel = 0.1 * scale(j) + since_s * q(j) / (16.0 * dt(k));
    if (since_s > 0.7 || pushed > travel) push.is_response_due = false;
    if (pushed <= travel) return;
    for (std::size_t p = 0; p < kRunJoints; ++p) {
      if (!is_passive(p) || !state(p, k).valid || is_at_stop(p, k) || !pushes_[p].rested) continue;
      std::int64_t excursion = 0;
      for (std::size_t i = pushes_[p].start; i <= k; ++i) {
        const bool is_known = state(p, i).valid && (p >= j || i > pushes_[p].start);
        if (is_known)
          excursion = std::max(excursion, std::abs(counts(p, i) - counts(p, pushes_[p].start)));
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

  std::array<Push, kRunJoints> pushes_;
  std::array<std::size_t, kRunJoints> pushed_{};
  std::vector<std::size_t> pushed_after_;
  std::array<SwingGrowthDetector, kRunJoints> swings_;
  std::optional<Trip> trip_;
};

}  // namespace daq
