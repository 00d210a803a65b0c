#pragma once

#include <array>
#include <string>
#include <vector>

#include "daq/config/rig_config.hpp"
#include "daq/loop/control_loop.hpp"
#include "daq/realtime/timing_histogram.hpp"
#include "daq/safety/joint_tracker.hpp"
#include "firmware_iface/link/unit_link.hpp"

namespace daq {

/// What a unit says at this moment, as lines of text for a person. Reads its samples and answers
/// each with "output off", which also serves a unit that the host paces.
class UnitView {
 public:
  /// `unit` outlives the view; its stream has been started.
  UnitView(const RigConfig& rig, firmware_iface::UnitLink& unit);

  /// Reads for so long. False when the unit is gone.
  bool watch(Nanoseconds duration);

  /// The same number of lines each time.
  std::vector<std::string> lines() const;

 private:
  void take(const firmware_iface::UnitSample& sample);
  std::string hinge_line(std::size_t channel) const;
  std::string inertial_line(std::size_t sensor) const;

  const RigConfig& rig_;
  firmware_iface::UnitLink& unit_;
  std::array<ChannelScale, kJointsMax> scales_;
  Nanoseconds period_;
  firmware_iface::UnitSample sample_;  // the last one
  std::array<double, kJointsMax> angle_rad_{};
  std::array<JointTracker, kJointsMax> trackers_{};
  std::array<int, INERTIAL_SENSORS_MAX> inertial_dividers_;
  std::array<firmware_iface::UnitInertial, INERTIAL_SENSORS_MAX> readings_{};  // the last of each
  TimingHistogram jitter_;
};

}  // namespace daq
