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

/// Shows a unit's present state as lines of text. Reads its samples and answers each with "output
/// off", which also suits a unit that the host paces.
class UnitView {
 public:
  /// `unit` must outlive the view; its stream must be running.
  UnitView(const RigConfig& rig, firmware_iface::UnitLink& unit);

  /// Reads samples for this duration. Returns false if the unit is gone.
  bool watch(Nanoseconds duration);

  /// Returns the same number of lines each time.
  std::vector<std::string> lines() const;

 private:
  void take(const firmware_iface::UnitSample& sample);
  std::string joint_line(std::size_t channel) const;
  std::string inertial_line(std::size_t sensor) const;

  const RigConfig& rig_;
  firmware_iface::UnitLink& unit_;
  std::array<ChannelScale, kJointsMax> scales_;
  Nanoseconds period_;
  firmware_iface::UnitSample sample_;  // the last one
  std::array<double, kJointsMax> angle_rad_{};
  std::array<JointTracker, kJointsMax> trackers_{};
  std::array<int, INERTIAL_SENSORS_MAX> inertial_dividers_;
  std::array<firmware_iface::UnitInertial, INERTIAL_SENSORS_MAX>
      readings_{};  // last reading of each sensor
  TimingHistogram jitter_;
};

}  // namespace daq
