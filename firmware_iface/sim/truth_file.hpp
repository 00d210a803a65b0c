#pragma once

#include <fstream>
#include <string>

#include "firmware_iface/sim/simulated_unit.hpp"

namespace firmware_iface::sim {

/// Writes the true state behind the samples to a CSV file, with one row per tick of the unit:
///
///   time_s            true time since the start
///   unit_time_us      the unit's clock
///   sample_sequence   of the SAMPLE sent at this tick; empty: none
///   theta1_rad …      true angles, then true speeds omega1_rad_s …
///   count1 …          readings of the encoders
///   command_V         in effect from this tick on; of several motors: command1, command2, …
///   tripped, held     0 or 1
class TruthFile {
 public:
  /// Creates the CSV file, and a file "<path>.textproto" with the true parameters beside it.
  /// @param parameters  text of the file with the parameters
  /// @throws std::runtime_error naming the file if it exists or cannot be written
  TruthFile(const std::string& path, const std::string& parameters, int joint_count,
            Nanoseconds start, int motor_count = 1);

  void write(const TrueState& truth);

  /// Writes the buffered rows. @throws std::runtime_error if data could not be written.
  void close();

 private:
  std::string path_;
  std::ofstream out_;
  int joint_count_, motor_count_;
  Nanoseconds start_;
};

}  // namespace firmware_iface::sim
