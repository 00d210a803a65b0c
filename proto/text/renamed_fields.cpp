#include "proto/text/renamed_fields.hpp"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <utility>

namespace proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Struct;
using google::protobuf::Value;

// scripts/convert_old_files.py reads these rows: one to a line, three quoted names.
constexpr RenamedField kRenamedFields[] = {
    // Rig files
    {"rigcal.v1.Rig", "hinge", "joint"},
    {"rigcal.v1.Rig", "tie", "dependency"},
    {"rigcal.v1.Body", "drawing_deviation_percent", "cad_uncertainty_percent"},
    {"rigcal.v1.Body", "only_in", "present_in_recordings"},
    {"rigcal.v1.Friction", "creep_speed", "transition_speed"},
    {"rigcal.v1.Friction", "smooth", "makkar"},
    {"rigcal.v1.BodyEncoder", "against", "reference_body"},
    {"rigcal.v1.Joint", "kind", "type"},
    {"rigcal.v1.Joint", "assembled_at", "assembly_guess"},
    {"rigcal.v1.Joint", "follows", "mimic"},
    {"rigcal.v1.Joint", "prescribed", "motion"},
    {"rigcal.v1.Mimic", "hinge", "joint"},
    {"rigcal.v1.UnitChannel", "hinge", "joint"},
    {"rigcal.v1.UnitMotor", "hinge", "joint"},
    {"rigcal.v1.JointSafety", "hinge", "joint"},
    {"rigcal.v1.JointSafety", "unaffected_by_motors", "may_stand_still"},
    {"rigcal.v1.MotorSafety", "hinge", "joint"},
    {"rigcal.v1.Safety", "hinge", "joint"},
    {"rigcal.v1.FreeQuantity", "is", "parameter"},
    {"rigcal.v1.TorqueSensor", "hinge", "joint"},
    {"rigcal.v1.TorqueSensor", "of", "measured_torque"},
    {"rigcal.v1.ForceTorqueSensor", "hinge", "joint"},
    {"rigcal.v1.AngleColumn", "hinge", "joint"},
    {"rigcal.v1.PositionColumn", "hinge", "joint"},
    {"rigcal.v1.ControlColumn", "hinge", "joint"},
    {"rigcal.v1.RecordingFormat", "load", "force_torque"},
    {"rigcal.v1.RecordingFormat", "place", "position_sensor"},
    // Scenario files
    {"rigcal.v1.InitialState", "hinge", "joint"},
    {"rigcal.v1.Release", "hinge", "joint"},
    {"rigcal.v1.JointLimit", "hinge", "joint"},
    {"rigcal.v1.Limits", "hinge", "joint"},
    {"rigcal.v1.SensorNoise", "quantise", "quantize"},
    // Results
    {"rigcal.v1.PrincipalInertiaResult", "at_border", "at_feasibility_boundary"},
    {"rigcal.v1.ContradictionResult", "moved", "most_affected_parameter"},
    {"rigcal.v1.SimulationResult", "hinge", "joint"},
    {"rigcal.v1.HeldOutResult", "hinge", "joint"},
    {"rigcal.v1.HeldOutResult", "narrowing", "deviation_ratio"},
    {"rigcal.v1.HeldOutResult", "narrowed", "improved_parameter"},
    {"rigcal.v1.NoiseResult", "hinge", "joint"},
    {"rigcal.v1.RecordingResult", "held_rows", "rows_before_release"},
    {"rigcal.v1.ProvenanceResult", "withhold", "hold_out"},
    {"rigcal.v1.CalibrationResult", "tied", "dependent"},
    {"rigcal.v1.CalibrationResult", "withheld", "held_out"},
    {"rigcal.v1.CalibrationResult", "pieces", "parts"},
    {"rigcal.v1.CalibrationResult", "agreement", "consistency"},
    {"rigcal.v1.CalibrationResult", "kept", "fixed"},
    {"rigcal.v1.SimulationMatrix", "hinge", "joint"},
    {"rigcal.v1.CrossValidationResult", "pieces", "parts"},
    {"rigcal.v1.ValidationResult", "still_windows", "motionless_windows"},
    {"rigcal.v1.LawComparisonResult", "pieces", "parts"},
    {"rigcal.v1.LawComparisonResult", "alike", "indistinguishable_laws"},
    {"rigcal.v1.CommissionedJoint", "counted_share", "count_ratio"},
    // Study files
    {"rigcal.v1.StudyChain", "draws", "repetitions"},
    {"rigcal.v1.StudyMethod", "approach", "start_from_physical"},
    {"rigcal.v1.StudyRobot", "withheld", "joints_without_encoder"},
    {"rigcal.v1.StudyRobot", "slowest_Hz", "frequency_min_Hz"},
    {"rigcal.v1.StudyRobot", "fastest_Hz", "frequency_max_Hz"},
    {"rigcal.v1.StudyRobot", "outside_force_N", "external_force_deviation_N"},
    {"rigcal.v1.StudyRobot", "outside_moment_Nm", "external_moment_deviation_Nm"},
    {"rigcal.v1.StudyLeg.Draw", "slowest_Hz", "frequency_min_Hz"},
    {"rigcal.v1.StudyLeg.Draw", "fastest_Hz", "frequency_max_Hz"},
    {"rigcal.v1.StudyArm", "draws", "repetitions"},
    {"rigcal.v1.StudyArm", "tied_draws", "tied_repetitions"},
    {"rigcal.v1.StudyArm", "slowest_Hz", "frequency_min_Hz"},
    {"rigcal.v1.StudyArm", "fastest_Hz", "frequency_max_Hz"},
    {"rigcal.v1.StudyRunRecord", "hinge", "joint"},
};

/// Returns the JSON spelling of a field's name: "held_rows" as "heldRows".
std::string json_spelling(std::string_view name) {
  std::string spelled;
  bool capital = false;
  for (const char c : name) {
    if (c != '_') {
      spelled += capital && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    capital = c == '_';
  }
  return spelled;
}

const Value* find_value(const Struct& object, const std::string& name) {
  const auto found = object.fields().find(name);
  return found == object.fields().end() ? nullptr : &found->second;
}

using Names = std::pair<std::string, std::string>;  // old and new, as spelled in the file

Names find_old_names(const Struct& object, const Descriptor& type);

/// Searches a JSON object, or all objects of a list, for old field names.
Names find_old_names_within(const Value& value, const Descriptor& type) {
  if (value.has_struct_value()) return find_old_names(value.struct_value(), type);
  for (const Value& element : value.list_value().values()) {
    if (!element.has_struct_value()) continue;
    if (Names names = find_old_names(element.struct_value(), type); !names.first.empty()) {
      return names;
    }
  }
  return {};
}

/// Returns the first old field name in table order, outer messages first; empty names if none.
Names find_old_names(const Struct& object, const Descriptor& type) {
  for (const RenamedField& field : kRenamedFields) {
    if (field.message != type.full_name()) continue;
    if (std::string old_name = json_spelling(field.old_name); find_value(object, old_name)) {
      return {std::move(old_name), json_spelling(field.new_name)};
    }
    if (find_value(object, std::string(field.old_name))) {
      return {std::string(field.old_name), std::string(field.new_name)};
    }
  }
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.message_type() == nullptr || field.is_map()) continue;
    const Value* value = find_value(object, field.json_name());
    if (value == nullptr) value = find_value(object, field.name());
    if (value == nullptr) continue;
    if (Names names = find_old_names_within(*value, *field.message_type()); !names.first.empty()) {
      return names;
    }
  }
  return {};
}

}  // namespace

std::span<const RenamedField> renamed_fields() { return kRenamedFields; }

const RenamedField* find_renamed_field(const Descriptor& message, std::string_view old_name) {
  const auto* found = std::ranges::find_if(kRenamedFields, [&](const RenamedField& field) {
    return field.message == message.full_name() && field.old_name == old_name;
  });
  return found == std::end(kRenamedFields) ? nullptr : found;
}

std::string describe_renamed_field(std::string_view old_name, std::string_view new_name,
                                   std::string_view path) {
  return std::string("field \"")
      .append(old_name)
      .append("\" is now called \"")
      .append(new_name)
      .append("\"; run scripts/convert_old_files.py --in-place ")
      .append(path)
      .append(" to convert the file");
}

std::string find_renamed_json_field(const std::string& path, const Struct& object,
                                    const Descriptor& type) {
  const auto [old_name, new_name] = find_old_names(object, type);
  return old_name.empty() ? "" : path + ": " + describe_renamed_field(old_name, new_name, path);
}

std::string find_renamed_json_field(const std::string& path, const std::string& json,
                                    const Descriptor& type) {
  Struct object;
  const bool parsed = google::protobuf::util::JsonStringToMessage(json, &object).ok();
  return parsed ? find_renamed_json_field(path, object, type) : "";
}

}  // namespace proto
