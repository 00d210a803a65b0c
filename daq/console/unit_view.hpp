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

/// Shows the present state of a unit as lines of text. Reads the unit's samples and answers each
/// with a command that keeps the output off. A host-paced unit sends samples only in reply to
/// commands.
class UnitView {
 public:
  /// `unit` must outlive the view; its stream must be running.
  UnitView(const RigConfig& rig, firmware_iface::UnitLink& unit);

  /// Reads samples for the given duration. Returns false if the connection was closed or the unit
  /// has restarted.
  bool watch(Nanoseconds duration);

  /// Returns the view as lines of text, whose number does not change.
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
