#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "proto/recording/recording_reader.hpp"
#include "proto/recording/series.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// What the inertial sensors of a recording read, on its way into segments: those that the rig file
/// knows, by name. Readings at the end of a sensor's range are not observed.
class InertialSamples {
 public:
  InertialSamples(const proto::Recording& recording, const Rig& rig);

  /// Segment::inertial of a segment that holds these rows.
  void fill(const proto::SeriesSegment& source, estimator::Segment& segment);

  /// What is missing or not used.
  void add_notes(std::vector<std::string>& notes) const;

 private:
  struct Column {
    std::string name;
    int sensor = -1;  ///< of the rig; −1: unknown there
    std::size_t read = 0;
    std::size_t saturated = 0;
  };

  const proto::Recording& recording_;
  const Rig& rig_;
  std::vector<Column> columns_;  // by the recording's sensors
};

}  // namespace service
