#include "daq/console/motor_trial.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>

#include "daq/console/unit_connection.hpp"
#include "daq/realtime/rt_thread.hpp"

namespace daq {
namespace {

constexpr std::chrono::milliseconds kTakePeriod(5);
constexpr double kAfterTrip_s = 0.1;
constexpr double kNoStall_s = 1e3;

// Takes the records of the loop.
class TrialRecorder {
 public:
  TrialRecorder(std::size_t channel_count, std::size_t joint, std::size_t motor)
      : joint_(joint), motor_(motor) {
    trial_.motion_rad.resize(channel_count, 0.0);
  }

  void take(ControlLoop& loop) {
    LoopRecord record;
    while (loop.records().try_pop(record)) {
      if (!seen_) start_ = record.observation;
      seen_ = true;
      for (std::size_t j = 0; j < trial_.motion_rad.size(); ++j) {
        const double motion =
            std::abs(record.observation.joint[j].angle_rad - start_.joint[j].angle_rad);
        trial_.motion_rad[j] = std::max(trial_.motion_rad[j], motion);
      }
      trial_.samples.push_back({record.observation.time_s, record.sample.command[motor_],
                                record.observation.joint[joint_].angle_rad});
      if (record.sample.command_delay_ticks) {
        trial_.delays.push_back(*record.sample.command_delay_ticks);
      }
    }
  }

  MotorTrial& trial() { return trial_; }

 private:
  std::size_t joint_;
  std::size_t motor_;
  MotorTrial trial_;
  Observation start_;
  bool seen_ = false;
};

}  // namespace

MotorTrial run_test_push(const RigConfig& rig, firmware_iface::UnitLink& unit, BlackBox& black_box,
                         const TestPushSettings& nudge, std::size_t motor,
                         const std::atomic<bool>& stop, const std::function<void()>& alarm) {
  SafetyLimits limits = fill_in_reading_time_limits(rig.limits, rig, unit.facts());
  double& command_max = limits.motor[motor].command_max;
  command_max = std::min(command_max, std::abs(nudge.level));
  // No stall check: the push is short, and serves to find out whether the joint moves.
  limits.motion[nudge.joint].stall_time_s = kNoStall_s;
  LoopSettings settings = make_loop_settings(rig, unit.facts());
  settings.after_trip_s = kAfterTrip_s;
  const double duration_s = 2.0 * nudge.push_s_max + nudge.rest_s + 1.0;
  const auto loop = std::make_unique<ControlLoop>(
      unit, black_box, Scenario("nudge", {{TestPush(nudge), motor}}, duration_s), limits, settings);
  TrialRecorder recorder(rig.channel.size(), nudge.joint, motor);
  std::atomic<bool> has_ended(false);
  std::thread thread([&] {
    enter_real_time(rig.real_time);
    loop->run(stop);
    has_ended.store(true);
  });
  bool is_alarmed = false;
  while (!has_ended.load()) {
    std::this_thread::sleep_for(kTakePeriod);
    recorder.take(*loop);
    if (is_alarmed || loop->output_state() != OutputState::kStillDrives) continue;
    alarm();
    is_alarmed = true;
  }
  thread.join();
  recorder.take(*loop);
  if (loop->trip() != nullptr) recorder.trial().trip = *loop->trip();
  return std::move(recorder.trial());
}

}  // namespace daq
