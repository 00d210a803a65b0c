#pragma once

#include <Eigen/Core>
#include <array>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <numbers>
#include <string>

namespace estimator {

/// Quantities of one inertial sensor. Its axes are those of InertialSensor::frame turned on by the
/// rotation vector `mount`, in sensor axes. The first instrument of a sensor is called by its rate,
/// the second by its force, whatever they read.
enum class InertialQuantity : int {
  kPointX,  ///< where the accelerometer sits on the body, from its centre of mass [m]
  kPointY,
  kPointZ,
  kMountX,  ///< [rad]
  kMountY,
  kMountZ,
  kRateBiasX,  ///< what the gyroscope reads at rest [rad/s]
  kRateBiasY,
  kRateBiasZ,
  kRateScaleX,  ///< what it reads a unit of the rate [-]
  kRateScaleY,
  kRateScaleZ,
  kForceBiasX,  ///< what the accelerometer reads in free fall [m/s²]
  kForceBiasY,
  kForceBiasZ,
  kForceScaleX,  ///< what it reads a unit of the specific force [-]
  kForceScaleY,
  kForceScaleZ,
  kRateCrossXY,  ///< what axis x of the gyroscope reads of a unit along y, per its scale [-]
  kRateCrossXZ,
  kRateCrossYX,
  kRateCrossYZ,
  kRateCrossZX,
  kRateCrossZY,
  kForceCrossXY,  ///< the same of the accelerometer [-]
  kForceCrossXZ,
  kForceCrossYX,
  kForceCrossYZ,
  kForceCrossZX,
  kForceCrossZY,
  kDelay,  ///< a reading is of so long before [s]
  kCount
};

/// What an axis of an instrument reads.
enum class Reading { kRate, kSpecificForce, kMoment, kForce, kPlace, kCount };

/// A unit that a column of a recording may be in.
struct ReadingUnit {
  const char* word = nullptr;   ///< in rig files, an enumerator of the column's Unit
  const char* short_name = "";  ///< for people, as in "it reads in …"
  double size = 1.0;            ///< [SI unit]
};

struct ReadingTraits {
  Reading reading;
  /// The SI unit, then the customary one where there is one.
  std::array<ReadingUnit, 2> units;
  /// Which derivative of the motion it is, of a place the zeroth; kLoad: none.
  int order;
  double bias_spread;  ///< how far a bias may be from where it starts, generously [SI unit]
  Reading of_slide;    ///< what the same is along a joint that slides
  static constexpr int kLoad = -1;

  const char* unit() const { return units[0].short_name; }
};

inline constexpr double kStandardGravity = 9.80665;  // [m/s²]

inline constexpr ReadingTraits kReadingKinds[] = {
    {.reading = Reading::kRate,
     .units = {{{"RADIAN_PER_SECOND", "rad/s"},
                {"DEGREE_PER_SECOND", "degrees per second", std::numbers::pi / 180.0}}},
     .order = 1,
     .bias_spread = 0.3,
     .of_slide = Reading::kRate},
    {.reading = Reading::kSpecificForce,
     .units = {{{"METER_PER_SECOND_SQUARED", "m/s²"}, {"STANDARD_GRAVITY", "g", kStandardGravity}}},
     .order = 2,
     .bias_spread = 2.0,
     .of_slide = Reading::kSpecificForce},
    {.reading = Reading::kMoment,
     .units = {{{"NEWTON_METER", "N·m"}}},
     .order = ReadingTraits::kLoad,
     .bias_spread = 1.0,
     .of_slide = Reading::kForce},
    {.reading = Reading::kForce,
     .units = {{{"NEWTON", "N"}}},
     .order = ReadingTraits::kLoad,
     .bias_spread = 1.0,
     .of_slide = Reading::kForce},
    {.reading = Reading::kPlace,
     .units = {{{"METER", "m"}, {"MILLIMETER", "mm", 1e-3}}},
     .order = 0,
     .bias_spread = 1.0,
     .of_slide = Reading::kPlace},
};

inline constexpr const ReadingTraits& reading_traits(Reading reading) {
  const ReadingTraits& traits = kReadingKinds[static_cast<std::size_t>(reading)];
  assert(traits.reading == reading);  // rows are in the order of the enumerators
  return traits;
}

/// What reads one quantity along up to three axes.
struct Instrument {
  const char* name = "";    ///< its message in the sensor's: "gyroscope"; "": it is the sensor
  const char* prefix = "";  ///< of the names of its parameters
  Reading reads = {};
  int axis_count = 0;
  const char* axes[3] = {};  ///< names, in capitals those of the column's Axis in rig files
};

struct SensorTraits;

/// A sensor with up to two instruments in one case, that reads, axis by axis,
///
///   scale · C Rᵀ v + bias
///
/// with R the rotation from sensor axes to the body's, and v what the instrument reads in the
/// body's frame. C is 1 on its diagonal, and beside that what axes that are not square to one
/// another read of the others. What v is of each kind `nominal_readings` of TreeInverseDynamics
/// states.
struct InertialSensor {
  static constexpr int kAxes = 6;  ///< three of the first instrument, then three of the second

  enum class Kind {
    /// Gyroscope and accelerometer fixed to a body: ω, and a − g of the sensor's point, the
    /// specific force, +g upward at rest.
    kInertial,
    /// Moment and force that a joint passes on to its body b. `point` is where the moment is taken,
    /// from the joint's point on that body.
    kForceTorque,
    kPosition,     ///< of a point of the body; `frame` turns the sensor's axes to the ground's
    kJointTorque,  ///< what a joint passes on to its body b along its axis
    kMotorTorque,  ///< what a joint's motor makes, K (u − k_e ω)
    kDistance,     ///< of a point of the body from one on the ground, whose place is `mount` [m]
  };

  std::string name;
  int body = 0;  ///< index into bodies; of a joint its body b
  Eigen::Matrix3d frame = Eigen::Matrix3d::Identity();  ///< rotation: sensor axes → body
  Kind kind = Kind::kInertial;
  int hinge = -1;  ///< the joint that it is at

  constexpr const SensorTraits& traits() const;
  int axis_count() const;
  /// Whether it reads along axes of its own.
  bool has_axes() const;
  /// Whether it reads what a joint carries.
  bool is_load() const;
  bool reads(Reading reading) const;
};

inline constexpr double kDelayMax = 0.05;       // [s]
inline constexpr double kCameraDelayMax = 0.2;  // exposure, transfer, image processing [s]

/// All that follows from the kind of a sensor, but for what it reads of a motion
/// (TreeInverseDynamics::nominal_readings) and how rig files give it (AllSources of the service).
struct SensorTraits {
  /// What its axes are fixed to: a body, the ground, or a joint's body b, and then its point counts
  /// from the joint's.
  enum class Of { kBody, kJoint, kGround };
  /// What InertialQuantity::kMountX and the next two are.
  enum class Mount { kNone, kTurn, kAnchor };

  InertialSensor::Kind kind;
  const char* what;   ///< "inertial sensor", for people
  const char* reads;  ///< the same of what it reads; {body} and {joint} stand for their names
  Of of;
  Mount mount;
  bool has_cross = false;        ///< whether its axes may be described as not square
  bool needs_tree = false;       ///< the motion of closed loops leaves open what it reads
  double delay_max = kDelayMax;  ///< [s]
  Instrument instruments[2];     ///< the second also where there is none: its noise is drawn

  constexpr const Instrument& instrument(int axis) const { return instruments[axis / 3]; }
};

/// In the order of InertialSensor::Kind.
inline constexpr SensorTraits kSensorKinds[] = {
    {.kind = InertialSensor::Kind::kInertial,
     .what = "inertial sensor",
     .reads = "gyroscope and accelerometer on {body}",
     .of = SensorTraits::Of::kBody,
     .mount = SensorTraits::Mount::kTurn,
     .has_cross = true,
     .instruments = {{"gyroscope", "gyro_", Reading::kRate, 3, {"gyro_x", "gyro_y", "gyro_z"}},
                     {"accelerometer",
                      "accel_",
                      Reading::kSpecificForce,
                      3,
                      {"accel_x", "accel_y", "accel_z"}}}},
    {.kind = InertialSensor::Kind::kForceTorque,
     .what = "sensor",
     .reads = "moment and force that {joint} passes on to {body}",
     .of = SensorTraits::Of::kJoint,
     .mount = SensorTraits::Mount::kTurn,
     .has_cross = true,
     .needs_tree = true,
     .instruments =
         {{"moment", "moment_", Reading::kMoment, 3, {"moment_x", "moment_y", "moment_z"}},
          {"force", "force_", Reading::kForce, 3, {"force_x", "force_y", "force_z"}}}},
    {.kind = InertialSensor::Kind::kPosition,
     .what = "sensor",
     .reads = "place of a point of {body}",
     .of = SensorTraits::Of::kGround,
     .mount = SensorTraits::Mount::kTurn,
     .delay_max = kCameraDelayMax,
     .instruments = {{"", "", Reading::kPlace, 3, {"x", "y", "z"}}, {.reads = Reading::kPlace}}},
    {.kind = InertialSensor::Kind::kJointTorque,
     .what = "sensor",
     .reads = "torque of {joint}",
     .of = SensorTraits::Of::kJoint,
     .mount = SensorTraits::Mount::kNone,
     .needs_tree = true,
     .instruments = {{"", "", Reading::kMoment, 1, {"torque"}}, {.reads = Reading::kForce}}},
    {.kind = InertialSensor::Kind::kMotorTorque,
     .what = "sensor",
     .reads = "torque of the motor of {joint}",
     .of = SensorTraits::Of::kJoint,
     .mount = SensorTraits::Mount::kNone,
     .instruments = {{"", "", Reading::kMoment, 1, {"torque"}}, {.reads = Reading::kForce}}},
    {.kind = InertialSensor::Kind::kDistance,
     .what = "sensor",
     .reads = "distance of a point of {body}",
     .of = SensorTraits::Of::kGround,
     .mount = SensorTraits::Mount::kAnchor,
     .delay_max = kCameraDelayMax,
     .instruments = {{"", "", Reading::kPlace, 1, {"distance"}}, {.reads = Reading::kPlace}}},
};

inline constexpr const SensorTraits& sensor_traits(InertialSensor::Kind kind) {
  const SensorTraits& traits = kSensorKinds[static_cast<std::size_t>(kind)];
  assert(traits.kind == kind);  // rows are in the order of the enumerators
  return traits;
}

inline constexpr const SensorTraits& InertialSensor::traits() const { return sensor_traits(kind); }
inline int InertialSensor::axis_count() const {
  return traits().instruments[0].axis_count + traits().instruments[1].axis_count;
}
inline bool InertialSensor::has_axes() const {
  return traits().mount == SensorTraits::Mount::kTurn;
}
inline bool InertialSensor::is_load() const {
  return reading_traits(traits().instruments[0].reads).order == ReadingTraits::kLoad;
}
inline bool InertialSensor::reads(Reading reading) const {
  for (const Instrument& each : traits().instruments) {
    if (each.axis_count > 0 && each.reads == reading) return true;
  }
  return false;
}

}  // namespace estimator
