#pragma once

#include <string>
#include <vector>

#include "estimator/model/joint_kind.hpp"
#include "estimator/model/sensor.hpp"

namespace service {

/// CSV column with the coordinate of one measured joint: scale · value + offset, [rad], or [m] for
/// a prismatic joint.
struct EncoderColumn {
  std::string column;
  std::string joint;
  estimator::JointKind kind = estimator::JointKind::kRevolute;
  double scale = 1.0;          ///< [rad or m per unit of the column], negative if inverted
  double offset = 0.0;         ///< [rad] or [m]
  bool in_radians = true;      ///< unit RADIAN in the rig file
  bool in_degrees = false;     ///< unit DEGREE in the rig file
  bool allow_missing = false;  ///< an empty cell or nan means "not observed"
  std::string place = {};      ///< location in the rig file, "FILE:LINE:COLUMN"
};

/// CSV column with the control signal of one motorised joint: control = scale · value.
struct ControlColumn {
  std::string column;
  std::string joint;
  std::string unit;  ///< unit of the control signal
  double scale = 1.0;
  std::string place = {};  ///< as in EncoderColumn
};

/// CSV column with the reading of an inertial, torque, force or position sensor along one axis:
/// reading = scale · value, in rad/s, m/s², N·m, N or m.
struct SensorColumn {
  std::string column;
  std::string sensor;
  const char* what = "";  ///< sensor type for messages (SensorTraits)
  int index = 0;          ///< column of estimator::Segment::inertial
  double scale = 1.0;     ///< [SI unit per unit of the column], negative if inverted
  double range = 0.0;     ///< largest magnitude [SI unit]; 0: unknown
  estimator::Reading reading = {};
  bool in_si = true;       ///< the column is in that unit
  std::string place = {};  ///< as in EncoderColumn
};

/// Format of a rig's CSV recordings. Columns are in joint order, as in estimator::Segment.
struct RecordingFormat {
  std::string time_column;            ///< empty: no time stamps, see rate
  double time_scale = 1.0;            ///< seconds per unit of the time column
  double rate = 0.0;                  ///< sampling rate if there are no time stamps [Hz]
  double jitter_tolerance = 0.05;     ///< largest deviation from the uniform grid [periods]
  double speed_max = 60.0;            ///< limit for plausible joint speeds [rad/s]
  double prismatic_speed_max = 20.0;  ///< the same for prismatic joints [m/s]
  std::string segment_column;         ///< a change of value starts a new segment; empty: none
  std::vector<EncoderColumn> angles;
  std::vector<ControlColumn> controls;
  std::vector<std::string> sensors = {};  ///< names of all other sensors, in order
  std::vector<SensorColumn> inertial = {};
};

}  // namespace service
