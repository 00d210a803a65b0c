#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// An encoder: it reads Σ sign·coordinate over the joints from one body to another, minus its
/// offset. Usually this is one joint; for a body against the ground it is all joints between them.
struct Encoder {
  /// One joint in the sum, with the sign of its coordinate.
  struct Term {
    int joint;
    double sign;
  };

  std::string name;  ///< name of the joint, or of the encoder between two bodies
  JointKind kind = JointKind::kRevolute;
  std::vector<Term> terms;
  int offset = 0;  ///< index into Mechanism::parameters [rad or m]
  int delay = 0;   ///< likewise: a reading taken at t belongs to t − delay [s]

  const JointTraits& traits() const { return joint_traits(kind); }
  JointUnits units() const { return joint_units(kind); }
  /// Difference of two readings, or of a reading and its prediction; angles are wrapped.
  double difference(double of_readings) const { return joint_difference(kind, of_readings); }
  /// Predicted reading without its offset, given the joints' coordinates by `coordinate(joint)`.
  template <typename Coordinate>
  double sum(const Coordinate& coordinate) const {
    double total = 0.0;
    for (const Term& term : terms) total += term.sign * coordinate(term.joint);
    return total;
  }
};

/// The encoders of a valid mechanism, in the order of a recording's columns: joint encoders in
/// joint order, then encoders between bodies.
std::vector<Encoder> all_encoders(const Mechanism& mechanism);

/// Whether the sensor with that name is held out.
bool is_held_out(const Mechanism& mechanism, const std::string& name);

/// The same without held-out encoders.
std::vector<Encoder> used_encoders(const Mechanism& mechanism);

/// Whether a parameter belongs to an encoder or an inertial sensor.
bool belongs_to_sensor(const Mechanism& mechanism, int parameter);

/// Whether a parameter belongs to a held-out sensor, so that no used reading depends on it.
bool belongs_to_held_out(const Mechanism& mechanism, int parameter);

/// Whether a parameter affects the motion, directly or through a dependency, and not readings
/// alone.
bool acts_on_motion(const Mechanism& mechanism, int parameter);

/// Whether readings of the encoder are delayed, or may be after estimation.
bool has_delay(const Mechanism& mechanism, const Encoder& sensor);

/// The first encoder with a delay; nothing if no encoder has one.
std::optional<Encoder> first_delayed(const Mechanism& mechanism);

/// Joint kinds of the sensors, in order.
std::vector<JointKind> encoder_kinds(const Mechanism& mechanism);

/// Equivalent of one radian for each sensor, in its unit (JointUnits::scale).
Eigen::VectorXd encoder_scales(const Mechanism& mechanism);

/// Kind of the first revolute joint between the two bodies, or else of the first joint: the reading
/// is an angle unless all joints between are prismatic.
JointKind kind_between(const Mechanism& mechanism, const BodyEncoder& encoder);

/// Joints that an encoder between two bodies reads. Its positive direction is the first joint's.
///
/// @param fault  receives one sentence if no reading is defined: axes of revolute joints between
/// the bodies are not parallel, or no joint between them moves; empty otherwise
std::vector<Encoder::Term> terms_between(const Mechanism& mechanism, const BodyEncoder& encoder,
                                         std::string& fault);

/// Joint coordinates from sensor readings by least squares; unobserved joints are set to zero.
class EncoderJoints {
 public:
  explicit EncoderJoints(const Mechanism& mechanism);

  /// Coordinates of all joints [rad or m].
  /// @param readings  of the sensors in order, with offsets added and angles unwrapped
  Eigen::VectorXd coordinates(const Eigen::Ref<const Eigen::VectorXd>& readings) const {
    return inverse_ * readings;
  }

  /// Whether the sensors observe a joint, alone or in combination with others.
  bool is_observed(int joint) const { return observed_[static_cast<std::size_t>(joint)]; }
  std::ptrdiff_t observed_count() const { return std::ranges::count(observed_, true); }

  /// Full turns to add to each sensor's readings [rad], so that redundant readings (an inclination
  /// and the joints that it sums) agree without an offset of full revolutions.
  Eigen::VectorXd whole_turns(const Eigen::Ref<const Eigen::VectorXd>& readings) const;

 private:
  std::vector<Encoder> sensors_;
  Eigen::MatrixXd matrix_, inverse_;  ///< sensors × joints, and its pseudo-inverse
  std::vector<bool> observed_;
};

}  // namespace estimator
