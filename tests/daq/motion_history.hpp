#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/daq/random_rig_run.hpp"

namespace daq {

/// Commands and motions of a run of which all samples are available, for models of monitors.
class MotionHistory {
 public:
  explicit MotionHistory(const RigRun& run) : run_(run), size_(run.samples.size()) {
    for (std::size_t k = 0; k < size_; ++k) {
      const bool begins = k == 0 || phase(k) != phase(k - 1);
      phase_start_.push_back(begins ? k : phase_start_.back());
    }
    find_command_changes();
    for (std::size_t j = 0; j < kRunJoints; ++j) find_motions(j);
  }

 protected:
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

  const RigRun& run_;
  std::size_t size_;
  std::vector<std::size_t> phase_start_;
  std::vector<double> changed_s_;  // last change of a command before each sample
  std::vector<bool> changes_, steps_;
  std::array<Joint, kRunJoints> joints_;
};

}  // namespace daq
