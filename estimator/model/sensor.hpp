#pragma once

#include <Eigen/Core>
#include <array>
#include <cassert>
#include <numbers>
#include <string>

namespace estimator {

/// Parameters of one sensor. The sensor's axes are those of Sensor::frame, rotated by the rotation
/// vector `mount`. Parameters named Rate belong to the first instrument (the gyroscope of an
/// inertial sensor), and parameters named Force to the second (the accelerometer).
enum class SensorParameter : int {
  kPointX,  ///< position of the sensor on the body, from the centre of mass [m]
  kPointY,
  kPointZ,
  kMountX,  ///< rotation vector `mount` of the sensor axes [rad]
  kMountY,
  kMountZ,
  kRateBiasX,  ///< bias of the first instrument, e.g. gyroscope reading at rest [rad/s]
  kRateBiasY,
  kRateBiasZ,
  kRateScaleX,  ///< scale factor of the first instrument [-]
  kRateScaleY,
  kRateScaleZ,
  kForceBiasX,  ///< bias of the second instrument, e.g. accelerometer in free fall [m/s²]
  kForceBiasY,
  kForceBiasZ,
  kForceScaleX,  ///< scale factor of the second instrument [-]
  kForceScaleY,
  kForceScaleZ,
  kRateCrossXY,  ///< sensitivity of the first instrument's axis x to y, relative to its scale [-]
  kRateCrossXZ,
  kRateCrossYX,
  kRateCrossYZ,
  kRateCrossZX,
  kRateCrossZY,
  kForceCrossXY,  ///< sensitivity of the second instrument's axis x to y [-]
  kForceCrossXZ,
  kForceCrossYX,
  kForceCrossYZ,
  kForceCrossZX,
  kForceCrossZY,
  kDelay,  ///< delay: a reading at time t is the quantity at t − delay [s]
  kCount
};

/// Physical quantity that an instrument's axis measures.
enum class MeasuredQuantity { kRate, kSpecificForce, kMoment, kForce, kPosition, kCount };

/// A unit in which a column of a recording may be given.
struct MeasurementUnit {
  const char* word = nullptr;   ///< name in rig files: an enumerator of the column's Unit
  const char* short_name = "";  ///< for messages: "it reads in …"
  double size = 1.0;            ///< [SI unit]
};

struct MeasuredQuantityTraits {
  MeasuredQuantity reading;
  /// The SI unit, and the customary unit if it differs.
  std::array<MeasurementUnit, 2> units;
  /// Order of the measured time derivative of the motion, such as 0 for a position; kLoad for a
  /// load.
  int order;
  double bias_prior_deviation;  ///< prior standard deviation of a bias, chosen generously [SI unit]
  MeasuredQuantity prismatic_reading;  ///< the corresponding quantity along a prismatic joint
  static constexpr int kLoad = -1;

  const char* unit() const { return units[0].short_name; }
};

inline constexpr double kStandardGravity = 9.80665;  // [m/s²]

inline constexpr MeasuredQuantityTraits kReadingKinds[] = {
    {.reading = MeasuredQuantity::kRate,
     .units = {{{"RADIAN_PER_SECOND", "rad/s"},
                {"DEGREE_PER_SECOND", "degrees per second", std::numbers::pi / 180.0}}},
     .order = 1,
     .bias_prior_deviation = 0.3,
     .prismatic_reading = MeasuredQuantity::kRate},
    {.reading = MeasuredQuantity::kSpecificForce,
     .units = {{{"METER_PER_SECOND_SQUARED", "m/s²"}, {"STANDARD_GRAVITY", "g", kStandardGravity}}},
     .order = 2,
     .bias_prior_deviation = 2.0,
     .prismatic_reading = MeasuredQuantity::kSpecificForce},
    {.reading = MeasuredQuantity::kMoment,
     .units = {{{"NEWTON_METER", "N·m"}}},
     .order = MeasuredQuantityTraits::kLoad,
     .bias_prior_deviation = 1.0,
     .prismatic_reading = MeasuredQuantity::kForce},
    {.reading = MeasuredQuantity::kForce,
     .units = {{{"NEWTON", "N"}}},
     .order = MeasuredQuantityTraits::kLoad,
     .bias_prior_deviation = 1.0,
     .prismatic_reading = MeasuredQuantity::kForce},
    {.reading = MeasuredQuantity::kPosition,
     .units = {{{"METER", "m"}, {"MILLIMETER", "mm", 1e-3}}},
     .order = 0,
     .bias_prior_deviation = 1.0,
     .prismatic_reading = MeasuredQuantity::kPosition},
};

inline constexpr const MeasuredQuantityTraits& measured_quantity_traits(MeasuredQuantity reading) {
  const MeasuredQuantityTraits& traits = kReadingKinds[static_cast<int>(reading)];
  assert(traits.reading == reading);  // rows are in the order of the enumerators
  return traits;
}

/// An instrument that measures one quantity along up to three axes.
struct Instrument {
  const char* name = "";  ///< its submessage in the sensor's rig-file entry: "gyroscope"; "": none
  const char* prefix = "";  ///< prefix of its parameters' names
  MeasuredQuantity reads = {};
  int axis_count = 0;
  const char* axes[3] = {};  ///< names of the axes; in rig files in capitals
};

struct SensorTraits;

/// A sensor with up to two instruments in one case. The reading of an axis is an element of
///
///   scale · C Rᵀ v + bias.
///
/// R is the rotation from sensor axes to the body frame. v is the ideal reading in the body frame
/// (TreeInverseDynamics::ideal_readings). C has ones on its diagonal; other elements are
/// cross-axis sensitivities of axes that are not orthogonal.
struct Sensor {
  static constexpr int kAxes = 6;  ///< three of the first instrument, then three of the second

  enum class Kind {
    /// Gyroscope and accelerometer fixed to a body: angular velocity ω, and specific force a − g at
    /// the sensor's point, which is +g upward at rest.
    kInertial,
    /// Moment and force that a joint transmits to its body b. The moment is taken about `point`,
    /// whose origin is the joint's point on body b.
    kForceTorque,
    kPosition,     ///< position of a body point; `frame` rotates sensor axes to ground axes
    kJointTorque,  ///< torque that a joint transmits to its body b along its axis
    kMotorTorque,  ///< torque of a joint's motor, K (u − k_e ω)
    kDistance,     ///< distance of a body point from the ground point `mount` [m]
  };

  std::string name;
  int body = 0;  ///< index into bodies; for a sensor at a joint, body b
  Eigen::Matrix3d frame = Eigen::Matrix3d::Identity();  ///< rotation: sensor axes → body
  Kind kind = Kind::kInertial;
  int joint = -1;  ///< the joint at which the sensor is mounted; −1: none

  constexpr const SensorTraits& kind_traits() const;
  int axis_count() const;
  /// Returns whether the readings depend on the orientation of the sensor's own axes.
  bool has_orientation() const;
  /// Returns whether the sensor measures a force or torque.
  bool measures_load() const;
  bool reads(MeasuredQuantity reading) const;
};

inline constexpr double kDelayMax = 0.05;       // [s]
inline constexpr double kCameraDelayMax = 0.2;  // exposure, transfer, image processing [s]

/// Properties that follow from the kind of a sensor. Other code defines the ideal readings
/// (TreeInverseDynamics::ideal_readings) and the rig-file fields (service/rig/rig_sensors.cpp).
struct SensorTraits {
  /// Element to which the sensor's axes are fixed: a body, the ground, or a joint's body b. At a
  /// joint, `point` is relative to the joint's point.
  enum class MountingElement { kBody, kJoint, kGround };
  /// Meaning of the parameters kMountX to kMountZ: none, the rotation vector of the mounting, or
  /// the point on the ground from which a distance is measured.
  enum class MountMeaning { kNone, kTurn, kAnchor };

  Sensor::Kind kind;
  const char* what;  ///< for messages: "inertial sensor"
  MountingElement of;
  MountMeaning mount;
  bool has_cross = false;        ///< whether its axes may be non-orthogonal (cross-axis parameters)
  bool needs_tree = false;       ///< whether it needs a mechanism without loops to be predicted
  double delay_max = kDelayMax;  ///< [s]
  Instrument instruments[2];     ///< the second is given even if unused: its noise is drawn

  constexpr const Instrument& instrument_of_axis(int axis) const { return instruments[axis / 3]; }
};

/// Properties of all kinds of sensors, in the order of Sensor::Kind.
inline constexpr SensorTraits kSensorKinds[] = {
    {.kind = Sensor::Kind::kInertial,
     .what = "inertial sensor",
     .of = SensorTraits::MountingElement::kBody,
     .mount = SensorTraits::MountMeaning::kTurn,
     .has_cross = true,
     .instruments =
         {{"gyroscope", "gyro_", MeasuredQuantity::kRate, 3, {"gyro_x", "gyro_y", "gyro_z"}},
          {"accelerometer",
           "accel_",
           MeasuredQuantity::kSpecificForce,
           3,
           {"accel_x", "accel_y", "accel_z"}}}},
    {.kind = Sensor::Kind::kForceTorque,
     .what = "sensor",
     .of = SensorTraits::MountingElement::kJoint,
     .mount = SensorTraits::MountMeaning::kTurn,
     .has_cross = true,
     .needs_tree = true,
     .instruments =
         {{"moment", "moment_", MeasuredQuantity::kMoment, 3, {"moment_x", "moment_y", "moment_z"}},
          {"force", "force_", MeasuredQuantity::kForce, 3, {"force_x", "force_y", "force_z"}}}},
    {.kind = Sensor::Kind::kPosition,
     .what = "sensor",
     .of = SensorTraits::MountingElement::kGround,
     .mount = SensorTraits::MountMeaning::kTurn,
     .delay_max = kCameraDelayMax,
     .instruments = {{"", "", MeasuredQuantity::kPosition, 3, {"x", "y", "z"}},
                     {.reads = MeasuredQuantity::kPosition}}},
    {.kind = Sensor::Kind::kJointTorque,
     .what = "sensor",
     .of = SensorTraits::MountingElement::kJoint,
     .mount = SensorTraits::MountMeaning::kNone,
     .needs_tree = true,
     .instruments = {{"", "", MeasuredQuantity::kMoment, 1, {"torque"}},
                     {.reads = MeasuredQuantity::kForce}}},
    {.kind = Sensor::Kind::kMotorTorque,
     .what = "sensor",
     .of = SensorTraits::MountingElement::kJoint,
     .mount = SensorTraits::MountMeaning::kNone,
     .instruments = {{"", "", MeasuredQuantity::kMoment, 1, {"torque"}},
                     {.reads = MeasuredQuantity::kForce}}},
    {.kind = Sensor::Kind::kDistance,
     .what = "sensor",
     .of = SensorTraits::MountingElement::kGround,
     .mount = SensorTraits::MountMeaning::kAnchor,
     .delay_max = kCameraDelayMax,
     .instruments = {{"", "", MeasuredQuantity::kPosition, 1, {"distance"}},
                     {.reads = MeasuredQuantity::kPosition}}},
};

inline constexpr const SensorTraits& sensor_traits(Sensor::Kind kind) {
  const SensorTraits& traits = kSensorKinds[static_cast<int>(kind)];
  assert(traits.kind == kind);  // rows are in the order of the enumerators
  return traits;
}

inline constexpr const SensorTraits& Sensor::kind_traits() const { return sensor_traits(kind); }
inline int Sensor::axis_count() const {
  return kind_traits().instruments[0].axis_count + kind_traits().instruments[1].axis_count;
}
inline bool Sensor::has_orientation() const {
  return kind_traits().mount == SensorTraits::MountMeaning::kTurn;
}
inline bool Sensor::measures_load() const {
  return measured_quantity_traits(kind_traits().instruments[0].reads).order ==
         MeasuredQuantityTraits::kLoad;
}
inline bool Sensor::reads(MeasuredQuantity reading) const {
  for (const Instrument& each : kind_traits().instruments) {
    if (each.axis_count > 0 && each.reads == reading) return true;
  }
  return false;
}

}  // namespace estimator
