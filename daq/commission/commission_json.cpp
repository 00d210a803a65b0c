#include "daq/commission/commission_json.hpp"

#include <google/protobuf/util/json_util.h>

#include "proto/commission.pb.h"
#include "proto/stream/content_hash.hpp"

namespace daq {

std::string commissioning_record_json(const RigConfig& rig, const Commissioning& found,
                                      const std::string& time, const Findings& notes) {
  rigcal::v1::CommissionRecord record;
  record.set_date(time);
  record.set_version(RIGCAL_VERSION);
  record.set_rig(rig.name);
  record.set_rig_file(rig.path);
  proto::ContentHash content;
  content.add(rig.text);
  record.set_rig_file_sha256(content.sha256());
  if (rig.commissioned) {
    record.set_unit_id(rig.commissioned->unit_id);
    record.set_configuration_hash(rig.commissioned->configuration_hash);
    record.set_hash(rig.commissioned->hash);
  }
  for (const CheckedJoint& joint : found.joints()) {
    auto& out = *record.add_joint();
    out.set_joint(joint.name);
    out.set_encoder(static_cast<int>(joint.encoder));
    out.set_count_ratio(joint.count_ratio);
    out.set_inverted(joint.inverted);
    out.set_offset(joint.offset);
  }
  for (const CheckedMotor& motor : found.motors()) {
    auto& out = *record.add_motor();
    out.set_joint(motor.joint);
    out.set_command_unit(motor.command_unit);
    out.set_level(motor.figures.level);
    out.set_dead_band(motor.figures.dead_band);
    out.set_acceleration(motor.figures.acceleration);
    if (motor.figures.delay_ticks) out.set_delay_ticks(*motor.figures.delay_ticks);
  }
  for (const Finding& finding : notes) record.add_note(finding.text);
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  std::string json;
  static_cast<void>(google::protobuf::util::MessageToJsonString(record, &json, options));
  return json;
}

}  // namespace daq
