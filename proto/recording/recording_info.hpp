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

/// Summary of a recording, for users.
struct RecordingInfo {
  RecordingHeader header;
  RecordingScan scan;
  std::uint64_t size_bytes = 0;
  double first_s = 0.0;  ///< time of the first sample; last_s of the last
  double last_s = 0.0;

  struct MotorSummary {
    double command_min = 0.0;
    double command_max = 0.0;
  };
  std::vector<MotorSummary> motors;  ///< one per motor; also one if motors are unnamed
  struct ChannelSummary {
    std::uint64_t invalid_count = 0;  ///< samples without a valid reading of the channel
    double angle_rad_min = 0.0;       ///< smallest valid reading; NaN if there is none
    double angle_rad_max = 0.0;
  };
  std::vector<ChannelSummary> channels;  ///< one per channel

  struct InertialSummary {
    std::uint64_t reading_count = 0;
    std::uint64_t saturated_count = 0;                           ///< readings with a saturated axis
    double rate_max = std::numeric_limits<double>::quiet_NaN();  ///< magnitude [rad/s]
    double force_max = std::numeric_limits<double>::quiet_NaN();  ///< magnitude [m/s²]
  };
  std::vector<InertialSummary> inertial;  ///< one per inertial sensor

  std::array<std::uint64_t, kGapCauseCount> missing_counts{};  ///< missing samples, by GapCause
  std::uint64_t gap_count = 0;
  std::vector<Event> events;  ///< the first 100 events, without their frames
  std::uint64_t event_count = 0;
  bool interrupted = false;              ///< the end of the run was not recorded
  std::optional<ClockFit> clock;         ///< last fit
  std::optional<LoopStats> loop;         ///< last statistics, which cover the whole run
  std::vector<std::string> attachments;  ///< names

  std::uint64_t missing_sample_count() const;
};

/// Reads a recording once and summarizes it. Memory use does not depend on its length.
Result<RecordingInfo> inspect_recording(const std::string& path);

/// Returns the summary as text for a terminal, several lines.
std::string to_text(const RecordingInfo& info);

}  // namespace proto
