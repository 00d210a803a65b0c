#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "proto/recording/recording_reader.hpp"
#include "proto/recording/recording_types.hpp"
#include "proto/result.hpp"

namespace proto {

/// What a person wants to know about a recording before using it.
struct RecordingInfo {
  RecordingHeader header;
  RecordingScan scan;
  std::uint64_t size_bytes = 0;
  double first_s = 0.0;  ///< time of the first and of the last sample
  double last_s = 0.0;

  struct Motor {
    double command_min = 0.0;
    double command_max = 0.0;
  };
  std::vector<Motor> motors;  ///< by motor; one also where the recording names none
  struct Channel {
    std::uint64_t invalid_count = 0;  ///< samples without a reading of it
    double angle_rad_min = 0.0;       ///< over the valid ones, NaN if there are none
    double angle_rad_max = 0.0;
  };
  std::vector<Channel> channels;  ///< by hinge

  struct Inertial {
    std::uint64_t reading_count = 0;
    std::uint64_t saturated_count = 0;                            ///< readings of which an axis is
    double rate_max = std::numeric_limits<double>::quiet_NaN();   ///< magnitude [rad/s]
    double force_max = std::numeric_limits<double>::quiet_NaN();  ///< magnitude [m/s²]
  };
  std::vector<Inertial> inertial;  ///< by inertial sensor

  std::array<std::uint64_t, kGapCauseCount> missing_counts{};  ///< samples, by GapCause
  std::uint64_t gap_count = 0;
  std::vector<Event> events;  ///< the first 100, without their frames
  std::uint64_t event_count = 0;
  bool interrupted = false;              ///< nobody declared the end of the run
  std::optional<ClockFit> clock;         ///< the last one
  std::optional<LoopStats> loop;         ///< the last one, which covers the run
  std::vector<std::string> attachments;  ///< names

  std::uint64_t missing_count() const;
};

/// Reads a recording once, in memory that does not grow with it.
Result<RecordingInfo> inspect_recording(const std::string& path);

/// The same as text for a terminal, several lines.
std::string to_text(const RecordingInfo& info);

}  // namespace proto
