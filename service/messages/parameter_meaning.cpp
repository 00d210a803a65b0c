#include "service/messages/parameter_meaning.hpp"

#include <algorithm>
#include <string_view>

#include "estimator/model/parameter_dependencies.hpp"

namespace service {
namespace {

/// Meaning of a parameter by the end of its name. A part that ends in "*" stands for all axes.
struct ParameterMeaning {
  std::string_view end;
  std::string_view words;  ///< with {} for the name of the body, joint or sensor
};

constexpr ParameterMeaning kMeanings[] = {
    {"m", "mass of body {}"},
    {"J_xx", "moment of inertia of body {} about its x axis"},
    {"J_yy", "moment of inertia of body {} about its y axis"},
    {"J_zz", "moment of inertia of body {} about its z axis"},
    {"J_xy", "product of inertia of body {}, axes x and y"},
    {"J_xz", "product of inertia of body {}, axes x and z"},
    {"J_yz", "product of inertia of body {}, axes y and z"},
    {"c_air", "air drag coefficient of body {}"},
    {"air_*", "point of body {} on which air drag acts"},
    {"c_*", "centre of mass of body {}"},
    {"a_*", "position of joint {} on its parent body"},
    {"b_*", "position of joint {} on its child body"},
    {"b", "viscous friction of joint {}"},
    {"c", "quadratic drag of joint {}"},
    {"tau_c", "Coulomb friction of joint {}"},
    {"f_c", "Coulomb friction of joint {}"},
    {"tau_delta", "Stribeck excess of joint {}: static minus Coulomb friction"},
    {"f_delta", "Stribeck excess of joint {}: static minus Coulomb friction"},
    {"zeta", "decay rate of the Stribeck excess of joint {}"},
    {"r_mu", "dry friction of joint {} per bearing force"},
    {"mu", "dry friction of joint {} per bearing load"},
    {"mu_moment", "dry friction of joint {} per bearing moment"},
    {"gamma_1", "static minus Coulomb friction of joint {}"},
    {"gamma_2", "rate at which the excess of joint {} rises with speed"},
    {"gamma_3", "rate at which the excess of joint {} decays with speed"},
    {"gamma_4", "Coulomb friction of joint {}"},
    {"gamma_5", "slope of the Coulomb friction of joint {} at rest"},
    {"tau_0", "constant torque on joint {}"},
    {"f_0", "constant force on joint {}"},
    {"k_s", "spring stiffness of joint {}"},
    {"theta_rest", "rest position of the spring of joint {}"},
    {"x_rest", "rest position of the spring of joint {}"},
    {"K", "gain of the motor of joint {}, per unit of its command"},
    {"J_shaft", "rotor inertia of the motor of joint {}, reflected to the joint"},
    {"m_shaft", "rotor inertia of the motor of joint {}, as a mass that moves with the joint"},
    {"k_e", "back-EMF constant of the motor of joint {}"},
    {"offset", "joint position at which encoder {} reads zero"},
    {"encoder_delay", "delay of encoder {}"},
    {"stop_lower", "lower end stop of joint {}"},
    {"stop_upper", "upper end stop of joint {}"},
    {"restitution", "restitution of joint {} at its end stops"},
    {"encoder_sine_1", "error of encoder {} once per turn, sine"},
    {"encoder_cosine_1", "error of encoder {} once per turn, cosine"},
    {"encoder_sine_2", "error of encoder {} twice per turn, sine"},
    {"encoder_cosine_2", "error of encoder {} twice per turn, cosine"},
    {"cogging_sine", "cogging torque of the motor of joint {}, sine"},
    {"cogging_cosine", "cogging torque of the motor of joint {}, cosine"},
    {"K_drift", "relative change of the motor gain of joint {} per second"},
    {"K_sag", "relative decrease of the motor gain of joint {} per unit of its command"},
    {"play", "dead zone of the spring of joint {}"},
    {"frequency", "frequency of the ground's vibration"},
    {"x_sine", "vibration of the ground along x, sine"},
    {"x_cosine", "vibration of the ground along x, cosine"},
    {"y_sine", "vibration of the ground along y, sine"},
    {"y_cosine", "vibration of the ground along y, cosine"},
    {"z_sine", "vibration of the ground along z, sine"},
    {"z_cosine", "vibration of the ground along z, cosine"},
    {"friction_drift", "relative change of the friction of joint {} per second"},
    {"g", "acceleration of gravity"},
    {"tilt_x", "tilt of the rig about the x axis"},
    {"tilt_z", "tilt of the rig about the z axis"},
    {"p_*", "position of sensor {} on its body"},
    {"point_*", "point of contact {} with the ground, on its body"},
    {"mount_*", "rotation of sensor {} from its nominal axes"},
    {"anchor_*", "fixed end of the wire of sensor {}"},
};

/// Readings of a sensor, whose parameter names start with the name of an instrument.
constexpr ParameterMeaning kReadingMeanings[] = {
    {"bias", "bias of sensor {}"},
    {"scale", "scale factor of sensor {}"},
    {"cross_", "cross-axis sensitivity of sensor {}"},
};

bool matches(std::string_view end, std::string_view pattern) {
  return pattern.ends_with('*') ? end.starts_with(pattern.substr(0, pattern.size() - 1))
                                : end == pattern;
}

std::string_view find_words(const estimator::Mechanism& mechanism, const std::string& name,
                            const std::string& owner, std::string_view end) {
  if (name.find(" slip at ") != std::string::npos) {
    return "shift of the encoder's readings from this time on";
  }
  const bool is_sensor = std::ranges::find(mechanism.sensors, owner, &estimator::Sensor::name) !=
                         mechanism.sensors.end();
  if (end == "delay") return is_sensor ? "delay of sensor {}" : "delay of the command of joint {}";
  const auto row = std::ranges::find_if(
      kMeanings, [&](const ParameterMeaning& each) { return matches(end, each.end); });
  if (row != std::end(kMeanings)) return row->words;
  for (const ParameterMeaning& each : kReadingMeanings) {
    if (is_sensor && end.find(each.end) != std::string_view::npos) return each.words;
  }
  return "";
}

/// Returns whether the viscous friction of a joint contains gain times back-EMF constant of its
/// motor: the control is a voltage or duty, and the model has no back EMF.
bool has_back_emf_in_friction(const estimator::Mechanism& mechanism, const std::string& name) {
  using estimator::JointParameter;
  const int index = mechanism.find_parameter(name);
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (mechanism.joint_parameter_index(j, JointParameter::kViscous) != index) continue;
    const std::string& unit = mechanism.joint_parameter(j, JointParameter::kMotorGain).unit;
    const std::string control = unit.substr(unit.rfind('/') + 1);
    const bool is_current_or_torque = control.ends_with('A') || control.starts_with('N');
    const int back_emf = mechanism.joint_parameter_index(j, JointParameter::kBackEmf);
    return mechanism.joints[static_cast<std::size_t>(j)].motor.present && !is_current_or_torque &&
           estimator::is_fixed_parameter(mechanism, back_emf) &&
           mechanism.at(back_emf).value == 0.0;
  }
  return false;
}

}  // namespace

std::string describe_parameter(const estimator::Mechanism& mechanism, const std::string& name) {
  if (mechanism.find_parameter(name) < 0) return "";
  const std::size_t dot = name.rfind('.');
  const std::string owner = dot == std::string::npos ? "" : name.substr(0, dot);
  const std::string_view end =
      dot == std::string::npos ? std::string_view() : std::string_view(name).substr(dot + 1);
  std::string text(find_words(mechanism, name, owner, end));
  if (const std::size_t place = text.find("{}"); place != std::string::npos) {
    text.replace(place, 2, owner);
  }
  if (has_back_emf_in_friction(mechanism, name)) {
    text += ", with the back EMF of its motor (gain times back_emf, which the rig file omits)";
  }
  return text;
}

}  // namespace service
