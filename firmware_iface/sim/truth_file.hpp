#pragma once

#include <fstream>
#include <string>

#include "firmware_iface/sim/simulated_unit.hpp"

namespace firmware_iface::sim {

/// The truth behind the samples, as CSV, one row each tick of the unit:
///
///   time_s            true time since the start
///   unit_time_us      the unit's clock
///   sample_sequence   of the SAMPLE sent at this tick, empty when none was
///   theta1_rad …      exact angles, then exact speeds omega1_rad_s …
///   count1 …          what the encoders read
///   command_V         in force from this tick on
///   tripped, held     0 or 1
class TruthFile {
 public:
  /// Creates the file, and beside it "<path>.textproto" with the parameters.
  /// @throws std::runtime_error naming the file when it exists or cannot be written
  TruthFile(const std::string& path, const std::string& parameters, int joint_count,
            Nanoseconds start);

  void write(const Truth& truth);

  /// Writes what is buffered. @throws std::runtime_error when anything could not be written.
  void close();

 private:
  std::string path_;
  std::ofstream out_;
  int joint_count_;
  Nanoseconds start_;
};

}  // namespace firmware_iface::sim
