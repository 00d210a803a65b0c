#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "proto/recording/recording_reader.hpp"
#include "proto/recording/series.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Readings of a recording's inertial sensors, converted to segments. Sensors are matched to the
/// rig file by name. Saturated readings count as not observed.
class InertialSampleReader {
 public:
  InertialSampleReader(const proto::Recording& recording, const Rig& rig);

  /// Fills Segment::inertial of a segment with these rows.
  void fill(const proto::SeriesSegment& source, estimator::Segment& segment);

  /// Adds messages on missing and unused readings.
  void add_notes(std::vector<std::string>& notes) const;

 private:
  struct Column {
    std::string name;
    int sensor = -1;  ///< index in the rig; −1: unknown
    std::size_t read = 0;
    std::size_t saturated = 0;
  };

  const proto::Recording& recording_;
  const Rig& rig_;
  std::vector<Column> columns_;  // one per sensor of the recording
};

}  // namespace service
