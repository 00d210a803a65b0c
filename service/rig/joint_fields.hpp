#pragma once

#include <string_view>
#include <utility>

#include "estimator/model/joint.hpp"

namespace service {

/// Paths of the fields of a joint's points, with their parameters.
inline constexpr std::pair<const char*, estimator::JointParameter> kPointFields[] = {
    {"parent.point.x", estimator::JointParameter::kPointAx},
    {"parent.point.y", estimator::JointParameter::kPointAy},
    {"parent.point.z", estimator::JointParameter::kPointAz},
    {"child.point.x", estimator::JointParameter::kPointBx},
    {"child.point.y", estimator::JointParameter::kPointBy},
    {"child.point.z", estimator::JointParameter::kPointBz}};

/// Paths of other fields of a joint whose names do not depend on its type.
inline constexpr std::pair<const char*, estimator::JointParameter> kJointFields[] = {
    {"spring.stiffness", estimator::JointParameter::kStiffness},
    {"spring.play", estimator::JointParameter::kSpringPlay},
    {"motor.gain", estimator::JointParameter::kMotorGain},
    {"motor.back_emf", estimator::JointParameter::kBackEmf},
    {"motor.input_delay", estimator::JointParameter::kInputDelay},
    {"motor.gain_drift", estimator::JointParameter::kGainDrift},
    {"motor.gain_sag", estimator::JointParameter::kGainSag},
    {"motor.cogging.sine", estimator::JointParameter::kCoggingSine},
    {"motor.cogging.cosine", estimator::JointParameter::kCoggingCosine},
    {"friction.drift", estimator::JointParameter::kFrictionDrift},
    {"encoder.offset", estimator::JointParameter::kEncoderOffset},
    {"encoder.delay", estimator::JointParameter::kEncoderDelay},
    {"encoder.first_harmonic.sine", estimator::JointParameter::kEncoderSine1},
    {"encoder.first_harmonic.cosine", estimator::JointParameter::kEncoderCosine1},
    {"encoder.second_harmonic.sine", estimator::JointParameter::kEncoderSine2},
    {"encoder.second_harmonic.cosine", estimator::JointParameter::kEncoderCosine2},
    {"stops.lower", estimator::JointParameter::kStopLower},
    {"stops.upper", estimator::JointParameter::kStopUpper},
    {"stops.restitution", estimator::JointParameter::kRestitution}};

/// Begin of the paths of a joint's encoder. An encoder between bodies has the same fields.
inline constexpr std::string_view kOfEncoder = "encoder.";

}  // namespace service
