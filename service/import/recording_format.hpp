#pragma once

#include <string>
#include <vector>

#include "estimator/model/inertial_sensor.hpp"
#include "estimator/model/joint_kind.hpp"

namespace service {

/// CSV column with the angle of one measured hinge: angle = scale · value + offset [rad]; of a
/// joint that slides its position [m].
struct AngleColumn {
  std::string column;
  std::string hinge;
  estimator::JointKind kind = estimator::JointKind::kRevolute;
  double scale = 1.0;          ///< [rad or m per unit of the column], negative when inverted
  double offset = 0.0;         ///< [rad] or [m]
  bool in_radians = true;      ///< the rig file says RADIAN
  bool in_degrees = false;     ///< the rig file says DEGREE
  bool allow_missing = false;  ///< an empty cell or nan means "not observed"
  std::string place = {};      ///< where the rig file tells of it, "FILE:LINE:COLUMN"
};

/// CSV column with the control signal of one motorised hinge: control = scale · value.
struct ControlColumn {
  std::string column;
  std::string hinge;
  std::string unit;  ///< of the control signal
  double scale = 1.0;
  std::string place = {};  ///< as of an angle
};

/// CSV column with what an inertial sensor reads along one axis, or one of torque and force, or of
/// places: reading = scale · value, in rad/s or m/s², N·m or N, or m.
struct InertialColumn {
  std::string column;
  std::string sensor;
  const char* what = "";  ///< its sensor is, for people (SensorTraits)
  int index = 0;          ///< of the columns of estimator::Segment::inertial
  double scale = 1.0;     ///< [SI unit per unit of the column], negative when inverted
  double range = 0.0;     ///< most it can read either way [SI unit]; 0: not stated
  estimator::Reading reading = {};
  bool in_si = true;       ///< the rig file says that the column is in that unit
  std::string place = {};  ///< as of an angle
};

/// How a rig's CSV recordings look. Columns are in hinge order, as in estimator::Segment.
struct RecordingFormat {
  std::string time_column;         ///< empty: no time stamps, see rate
  double time_scale = 1.0;         ///< seconds per unit of the time column
  double rate = 0.0;               ///< samples per second where there are no time stamps [Hz]
  double jitter_tolerance = 0.05;  ///< largest distance from the uniform grid [periods]
  double speed_max = 60.0;         ///< faster than any hinge turns [rad/s]
  double slide_speed_max = 20.0;   ///< faster than anything slides [m/s]
  std::string segment_column;      ///< a change of value starts a new segment; empty: none
  std::vector<AngleColumn> angles;
  std::vector<ControlColumn> controls;
  std::vector<std::string> inertial_sensors = {};  ///< of the rig, in order, and other such sensors
  std::vector<InertialColumn> inertial = {};
};

}  // namespace service
