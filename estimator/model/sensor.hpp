#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// An encoder: it reads Σ sign·coordinate over the joints from one body to another, less its
/// offset. Mostly that is one joint; of a body against the ground it is all between.
struct Sensor {
  /// One joint that it reads, +1 or −1 as its coordinate counts.
  struct Term {
    int hinge;
    double sign;
  };

  std::string name;  ///< of the joint, or of the encoder between two bodies
  JointKind kind = JointKind::kRevolute;
  std::vector<Term> terms;
  int offset = 0;  ///< index into Mechanism::parameters [rad or m]
  int delay = 0;   ///< likewise: a reading is of so long before its sample [s]

  const JointTraits& traits() const { return joint_traits(kind); }
  JointUnits units() const { return joint_units(kind); }
  /// Of two readings, or of a reading and what it should be: an angle knows no whole revolutions.
  double difference(double of_readings) const { return joint_difference(kind, of_readings); }
  /// What it reads but for its offset, where `coordinate(hinge)` says where joints stand.
  template <typename Coordinate>
  double sum(const Coordinate& coordinate) const {
    double total = 0.0;
    for (const Term& term : terms) total += term.sign * coordinate(term.hinge);
    return total;
  }
};

/// The encoders of a mechanism without faults, in the order of a recording's columns: those of
/// joints, in their order, then those between bodies.
std::vector<Sensor> all_sensors_of(const Mechanism& mechanism);

/// Whether the readings of the sensor of that name are not to be used.
bool is_withheld(const Mechanism& mechanism, const std::string& name);

/// The same without those whose readings are withheld.
std::vector<Sensor> sensors_of(const Mechanism& mechanism);

/// Whether a parameter is of an encoder or an inertial sensor.
bool is_of_sensor(const Mechanism& mechanism, int parameter);

/// Whether a parameter is of a sensor that is withheld, and so of nothing that is read.
bool is_of_withheld(const Mechanism& mechanism, int parameter);

/// Whether a parameter acts on the motion, of itself or through a tie, and not on readings alone.
bool acts_on_motion(const Mechanism& mechanism, int parameter);

/// Whether readings of the encoder are of other instants than their samples, or may be.
bool is_late(const Mechanism& mechanism, const Sensor& sensor);

/// The first encoder that is late; none where all read what is.
std::optional<Sensor> first_late(const Mechanism& mechanism);

/// Kinds of the sensors, in order.
std::vector<JointKind> sensor_kinds(const Mechanism& mechanism);

/// Of each sensor, what counts as an error of one radian, in its unit (JointUnits::scale).
Eigen::VectorXd sensor_scales(const Mechanism& mechanism);

/// That of the first joint between the two bodies that turns, or else of the first: an angle,
/// unless everything between slides.
JointKind kind_between(const Mechanism& mechanism, const BodyEncoder& encoder);

/// What an encoder between two bodies reads, or why there is no such reading: joints between that
/// turn about axes that are not parallel, or nothing between that moves. Positive is what is
/// positive of the first joint on the way.
///
/// @param fault  one sentence; empty where there is none
std::vector<Sensor::Term> terms_between(const Mechanism& mechanism, const BodyEncoder& encoder,
                                        std::string& fault);

/// Where joints stand by what sensors read: least squares, joints that no sensor tells of at zero.
class JointReadings {
 public:
  explicit JointReadings(const Mechanism& mechanism);

  /// Coordinates of all joints [rad or m].
  /// @param readings  of the sensors in order, offsets added, continuous over turns
  Eigen::VectorXd coordinates(const Eigen::Ref<const Eigen::VectorXd>& readings) const {
    return inverse_ * readings;
  }

  /// Whether the sensors tell where a joint stands, by itself or with others.
  bool is_told(int hinge) const { return told_[static_cast<std::size_t>(hinge)]; }
  std::ptrdiff_t told_count() const { return std::ranges::count(told_, true); }

  /// Turns to add to each sensor's readings [rad], so that those that say the same (an inclination,
  /// and the joints it is the sum of) do so without a revolution between them.
  Eigen::VectorXd whole_turns(const Eigen::Ref<const Eigen::VectorXd>& readings) const;

 private:
  std::vector<Sensor> sensors_;
  Eigen::MatrixXd matrix_, inverse_;  ///< sensors × joints, and its pseudo-inverse
  std::vector<bool> told_;
};

}  // namespace estimator
