#pragma once

#include <string>
#include <vector>

#include "estimator/model/joint_kind.hpp"
#include "estimator/model/sensor.hpp"

namespace service {

/// CSV column with the readings of an encoder. The joint coordinate [rad or m] is scale · value +
/// offset.
struct EncoderColumn {
  std::string column;
  std::string joint;
  estimator::JointKind kind = estimator::JointKind::kRevolute;
  double scale = 1.0;          ///< [rad or m per unit of the column]; negative if inverted
  double offset = 0.0;         ///< joint coordinate at value 0 [rad or m]
  bool in_radians = true;      ///< the rig file gives the unit RADIAN
  bool in_degrees = false;     ///< the rig file gives the unit DEGREE
  bool allow_missing = false;  ///< an empty cell or nan means a missing reading
  double count_size = 0.0;     ///< size of an encoder count [rad or m]; 0 if unknown
  double counts_modulo = 0.0;  ///< number of counts after which the counter restarts at 0; 0: never
  std::string place = {};      ///< location in the rig file, "FILE:LINE:COLUMN"
};

/// CSV column with the control signal of a motor, which is scale · value. For a joint with a
/// prescribed motion, it contains the coordinate, whose acceleration is the control.
struct ControlColumn {
  std::string column;
  std::string joint;
  std::string unit;  ///< unit of the control signal
  double scale = 1.0;
  bool has_scale = false;      ///< the rig file gives the scale
  double largest = 0.0;        ///< largest magnitude that the motor accepts [unit]; 0 if unknown
  bool is_prescribed = false;  ///< whether the recorded coordinate prescribes the motion
  std::string place = {};      ///< location in the rig file, "FILE:LINE:COLUMN"
};

/// CSV column with the readings of an inertial, torque, force or position sensor along one axis. A
/// reading is scale · value [rad/s, m/s², N·m, N or m].
struct SensorColumn {
  std::string column;
  std::string sensor;
  const char* what = "";  ///< sensor type for messages (SensorTraits)
  int index = 0;          ///< column index in estimator::Segment::inertial
  double scale = 1.0;     ///< [SI unit per unit of the column]; negative if inverted
  double range = 0.0;     ///< largest magnitude of a reading [SI unit]; 0 if unknown
  estimator::MeasuredQuantity reading = {};
  bool in_si = true;       ///< the column's values are in the SI unit
  std::string place = {};  ///< location in the rig file, "FILE:LINE:COLUMN"
};

/// Phases of a contact with the ground, from a CSV column of ones and zeros or from a table.
struct ContactColumn {
  /// Interval of time stamps in which a contact is active [s].
  struct Phase {
    double start, end;
  };
  std::string contact;
  std::string column = {};         ///< empty: `phases` apply
  std::vector<Phase> phases = {};  ///< in order of time; empty: the whole recording
  std::string place = {};          ///< location in the rig file, "FILE:LINE:COLUMN"

  /// Returns 1 if the table has the contact active at a time stamp, else 0.
  double activity(double time) const;
};

/// Format of a rig's CSV recordings. Columns are ordered as in estimator::Segment.
struct RecordingFormat {
  std::string time_column;            ///< empty if files have no time stamps; `rate` then applies
  double time_scale = 1.0;            ///< seconds per unit of the time column
  double rate = 0.0;                  ///< sampling rate of files without time stamps [Hz]
  double jitter_tolerance = 0.05;     ///< largest deviation from uniform sampling [periods]
  double speed_max = 60.0;            ///< largest plausible speed of a revolute joint [rad/s]
  double prismatic_speed_max = 20.0;  ///< largest plausible speed of a prismatic joint [m/s]
  std::string segment_column;         ///< column whose changes start a new segment; may be empty
  std::string topic = {};             ///< topic of the joint states in a bag; empty: all topics
  std::vector<EncoderColumn> angles;
  /// Indices in `angles` of the components w of quaternions; x, y, z follow each.
  std::vector<int> quaternions = {};
  std::vector<ControlColumn> controls;
  std::vector<std::string> sensors = {};  ///< names of all sensors other than encoders
  std::vector<SensorColumn> inertial = {};
  std::vector<ContactColumn> contacts = {};    ///< in the order of the mechanism's contacts
  std::vector<std::string> column_names = {};  ///< of all columns of files without a header line
};

}  // namespace service
