#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "proto/recording/recording_reader.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Reader that copies the readings of inertial sensors from a recording to segments. Sensors of the
/// recording are matched by name to sensors of the rig file. Saturated readings count as missing.
class InertialSampleReader {
 public:
  InertialSampleReader(const proto::Recording& recording, const Rig& rig);

  /// Fills `segment.inertial` with the readings that belong to the rows of `source`.
  void fill(const proto::SeriesSegment& source, estimator::Segment& segment);

  /// Appends messages on missing, saturated and unused sensor readings to `notes`.
  void add_notes(std::vector<std::string>& notes) const;

 private:
  struct Column {
    std::string name;
    int sensor = -1;       ///< sensor index in the mechanism; −1 if the rig file lacks the sensor
    std::size_t read = 0;  ///< number of readings
    std::size_t saturated = 0;  ///< number of readings with a saturated axis
  };

  const proto::Recording& recording_;
  const Rig& rig_;
  std::vector<Column> columns_;  // one per sensor of the recording
};

}  // namespace service
