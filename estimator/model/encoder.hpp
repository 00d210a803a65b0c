#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// An encoder between two bodies. It reads the signed sum of the coordinates of the joints between
/// them, minus its offset. Most encoders read one joint.
struct Encoder {
  /// A joint whose coordinate the encoder reads, with its sign in the sum.
  struct JointTerm {
    int joint;
    double sign;
  };

  std::string name;  ///< name of the joint, or of the encoder between two bodies
  JointKind kind = JointKind::kRevolute;
  std::vector<JointTerm> terms;
  int offset = 0;  ///< index into Mechanism::parameters [rad or m]
  int delay = 0;   ///< index of the delay: a reading at time t belongs to t − delay [s]
  int harmonics = 0;  ///< index of the first of kHarmonicAmplitudes amplitudes [rad or m]

  /// Amplitudes of periodic errors: sine and cosine of each harmonic.
  static constexpr int kHarmonicAmplitudes = 4;

  const JointTraits& kind_traits() const { return joint_traits(kind); }
  JointUnits units() const { return joint_units(kind); }
  /// Returns a difference of two readings, or of a reading and its prediction. Angles are wrapped.
  double reading_difference(double of_readings) const {
    return joint_coordinate_difference(kind, of_readings);
  }
  /// Returns the predicted reading before the offset is subtracted. `coordinate(joint)` must return
  /// the coordinate of a joint.
  template <typename Coordinate>
  double sum(const Coordinate& coordinate) const {
    double total = 0.0;
    for (const JointTerm& term : terms) total += term.sign * coordinate(term.joint);
    return total;
  }
};

/// Returns a reading with the periodic errors of the encoder.
/// @param values  values of all parameters
template <typename T>
T add_encoder_harmonics(const Encoder& encoder, const std::vector<T>& values, const T& exact) {
  using std::cos;
  using std::sin;
  T reading = exact;
  for (int i = 0; i < Encoder::kHarmonicAmplitudes; i += 2) {
    const T angle = T(0.5 * i + 1.0) * exact;
    reading +=
        values[encoder.harmonics + i] * sin(angle) + values[encoder.harmonics + i + 1] * cos(angle);
  }
  return reading;
}

/// Returns all encoders of a valid mechanism in the order of a recording's columns: encoders of
/// joints in joint order, then encoders between bodies.
std::vector<Encoder> all_encoders(const Mechanism& mechanism);

/// Returns whether the sensor with that name is held out.
bool is_held_out(const Mechanism& mechanism, const std::string& name);

/// Returns the encoders that are not held out, in the order of a recording's columns.
std::vector<Encoder> used_encoders(const Mechanism& mechanism);

/// Returns whether a parameter belongs to an encoder or another sensor.
bool is_sensor_parameter(const Mechanism& mechanism, int parameter);

/// Returns whether a parameter belongs to a held-out sensor, so that no used reading depends on it.
bool is_held_out_sensor_parameter(const Mechanism& mechanism, int parameter);

/// Returns whether a parameter affects the motion, directly or through dependent parameters.
/// Parameters that affect only readings do not.
bool affects_motion(const Mechanism& mechanism, int parameter);

/// Returns whether an encoder has a delay, or may have one after estimation.
bool has_delay(const Mechanism& mechanism, const Encoder& sensor);

/// Returns whether an encoder has periodic errors, or may have them after estimation.
bool has_harmonics(const Mechanism& mechanism, const Encoder& sensor);

/// Returns the joint kinds of the used encoders, in order.
std::vector<JointKind> encoder_joint_kinds(const Mechanism& mechanism);

/// Returns the reading of each used encoder that counts as one radian, in the encoder's unit
/// (JointUnits::scale).
Eigen::VectorXd readings_per_radian(const Mechanism& mechanism);

/// Returns the kind of the coordinate that an encoder between two bodies reads. The reading is a
/// length if all joints between the bodies are prismatic, else an angle.
JointKind encoder_joint_kind(const Mechanism& mechanism, const BodyEncoder& encoder);

/// Returns the joints that an encoder between two bodies reads, with the signs of their
/// coordinates. The first joint has a positive sign.
///
/// @param errors  receives an error if the axes of revolute joints between the bodies are not
/// parallel, or if no joint between them moves; the result is then empty
std::vector<Encoder::JointTerm> encoder_joint_terms(const Mechanism& mechanism,
                                                    const BodyEncoder& encoder,
                                                    std::vector<Message>* errors = nullptr);

/// Computes joint coordinates from encoder readings by least squares. Joints without observation
/// get the coordinate zero.
class EncoderToJointMap {
 public:
  explicit EncoderToJointMap(const Mechanism& mechanism);

  /// Returns the coordinates of all joints [rad or m].
  /// @param readings  one per encoder in order, with offsets added and angles unwrapped
  Eigen::VectorXd joint_coordinates(const Eigen::Ref<const Eigen::VectorXd>& readings) const {
    return inverse_ * readings;
  }

  /// Returns whether the encoders observe a joint, alone or in combination with other joints.
  bool is_observed(int joint) const { return observed_[joint]; }
  std::ptrdiff_t observed_joint_count() const { return std::ranges::count(observed_, true); }

  /// Returns the full turns to add to the readings of each encoder [rad], so that redundant
  /// encoders agree, such as an inclinometer and the encoders of the joints below it.
  Eigen::VectorXd full_turn_corrections(const Eigen::Ref<const Eigen::VectorXd>& readings) const;

 private:
  std::vector<Encoder> sensors_;
  Eigen::MatrixXd matrix_, inverse_;  ///< sensors × joints, and its pseudo-inverse
  std::vector<bool> observed_;
};

}  // namespace estimator
