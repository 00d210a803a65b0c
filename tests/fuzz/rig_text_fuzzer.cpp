// Feeds arbitrary text to the readers of a rig file: the DAQ and the service. Either refuses it in
// one sentence that names the file, or the result is usable: valid limits, parameters within their
// bounds, a mechanism without errors.

#include <cmath>
#include <cstdint>
#include <string>

#include "daq/config/rig_config.hpp"
#include "estimator/model/encoder.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/fuzz/refusal.hpp"
#include "tests/fuzz/silent_protobuf.hpp"

namespace {

using fuzz::require;

constexpr const char* kPath = "rig.textproto";

void require_finite(std::initializer_list<double> values) {
  for (const double value : values) require(std::isfinite(value));
}

void check_daq(const std::string& text) {
  const daq::RigConfig rig = daq::parse_rig_config(kPath, text);
  require(!rig.channel.empty() && rig.channel.size() <= daq::kJointsMax);
  require(rig.limits.joint.size() == rig.channel.size());
  require(rig.ttl_ms >= 1 && rig.ttl_ms <= 255 && rig.divider >= 1 && rig.divider <= 255);
  for (const daq::ChannelConfig& channel : rig.channel) {
    require_finite({channel.counts_per_turn, channel.offset_rad});
    require(channel.counts_per_turn > 0.0);
  }
  require_finite({rig.limits.staleness_s_max});
  for (const daq::MotorLimits& motor : rig.limits.motor) {
    require_finite({motor.command_max, motor.command_slew_per_s_max});
  }
  require(find_limit_errors(rig.limits).empty());
  for (const daq::JointLimits& joint : rig.limits.joint) {
    require_finite({joint.angle_rad_min, joint.angle_rad_max, joint.speed_rad_per_s_max,
                    joint.jump_rad_max, joint.missing_s_max});
  }
}

void check_service(const std::string& text) {
  const service::Rig rig = service::parse_rig(kPath, text);
  require(rig.joint_properties.size() == rig.mechanism.joints.size());
  require(estimator::find_mechanism_errors(rig.mechanism, estimator::InertiaCheck::kFixed).empty());
  for (const estimator::Parameter& parameter : rig.mechanism.parameters) {
    require_finite({parameter.value, parameter.prior_mean});
    require(parameter.value >= parameter.lower && parameter.value <= parameter.upper);
    require(parameter.prior_standard_deviation > 0.0);
  }
  for (const service::JointProperties& facts : rig.joint_properties)
    require_finite({facts.control_max});
  require(rig.encoders.size() == estimator::used_encoders(rig.mechanism).size());
  for (const service::EncoderProperties& facts : rig.encoders) {
    require_finite({facts.counts, facts.count});
  }
  if (!rig.format) return;
  require_finite({rig.format->time_scale, rig.format->rate, rig.format->jitter_tolerance,
                  rig.format->speed_max});
  for (const service::EncoderColumn& angle : rig.format->angles) {
    require_finite({angle.scale, angle.offset});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::silence_protobuf();
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::expect_value_or_refusal(kPath, [&] { check_daq(text); });
  fuzz::expect_value_or_refusal(kPath, [&] { check_service(text); });
  return 0;
}
