#include "service/options/parameter_values.hpp"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <cmath>

#include "proto/calibration.pb.h"
#include "proto/notation/number_format.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/renamed_fields.hpp"
#include "service/options/option_message.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

/// Largest relative difference allowed between a value and its dependency, larger than rounding.
constexpr double kTieTolerance = 1e-6;

[[noreturn]] void fail(const std::string& file, const std::string& field, const std::string& what) {
  throw proto::InputError(file + ": " + field + ": " + what);
}

const Value* find(const Struct& object, const std::string& name) {
  const auto found = object.fields().find(name);
  return found == object.fields().end() ? nullptr : &found->second;
}

std::string text_of(const std::string& file, const std::string& field, const Struct& object,
                    const std::string& name) {
  const Value* value = find(object, name);
  if (value == nullptr || value->kind_case() != Value::kStringValue) {
    fail(file, field + "." + name,
         "missing or not text. Give the output of rigcal calibrate --json");
  }
  return value->string_value();
}

double number_of(const std::string& file, const std::string& field, const Struct& object,
                 const std::string& name) {
  const Value* value = find(object, name);
  if (value == nullptr || value->kind_case() != Value::kNumberValue ||
      !std::isfinite(value->number_value())) {
    fail(file, field + "." + name,
         "missing or not a finite number. Give the output of rigcal calibrate --json");
  }
  return value->number_value();
}

void add_list(const Struct& result, const std::string& list, ParameterValues& out) {
  const Value* entries = find(result, list);
  if (entries == nullptr) return;
  if (entries->kind_case() != Value::kListValue) fail(out.file, list, "not a list");
  for (int i = 0; i < entries->list_value().values_size(); ++i) {
    const std::string field = list + "[" + std::to_string(i) + "]";
    const Value& entry = entries->list_value().values(i);
    if (entry.kind_case() != Value::kStructValue) fail(out.file, field, "not a parameter");
    const Struct& parameter = entry.struct_value();
    out.entries.push_back({field, text_of(out.file, field, parameter, "name"),
                           text_of(out.file, field, parameter, "unit"),
                           number_of(out.file, field, parameter, "value")});
    const Value* deviation = find(parameter, "standardDeviation");  // infinity is a string
    if (deviation != nullptr && deviation->kind_case() == Value::kNumberValue) {
      out.entries.back().deviation = deviation->number_value();
    }
  }
}

/// Reads the covariance of the estimated parameters that have been read.
void read_covariance(const Struct& result, ParameterValues& out) {
  const Value* rows = find(result, "covariance");
  if (rows == nullptr) return;
  const auto count = std::ssize(out.entries);
  out.covariance.setZero(count, count);
  const auto check_size = [&](const Value* list, const std::string& field) {
    if (list != nullptr && list->kind_case() == Value::kListValue &&
        list->list_value().values_size() == count) {
      return;
    }
    fail(out.file, field,
         "must have one entry per parameter. Give the output of rigcal calibrate --json");
  };
  check_size(rows, "covariance");
  for (Eigen::Index i = 0; i < count; ++i) {
    const Value& row = rows->list_value().values(static_cast<int>(i));
    const std::string field = "covariance[" + std::to_string(i) + "].values";
    const Value* numbers =
        row.kind_case() == Value::kStructValue ? find(row.struct_value(), "values") : nullptr;
    check_size(numbers, field);
    for (Eigen::Index j = 0; j < count; ++j) {
      const Value& number = numbers->list_value().values(static_cast<int>(j));
      if (number.kind_case() == Value::kNumberValue) out.covariance(i, j) = number.number_value();
    }
  }
}

void read_choices(const Struct& result, ParameterValues& out) {
  const Value* options = find(result, "options");
  if (options == nullptr) return;
  const estimator::CalibrationOptions chosen =
      read_calibration_options(options->struct_value(), out.file + ": options", true);
  out.kind = chosen.kind;
  if (out.kind != estimator::EstimateKind::kShadow) return;
  out.step = chosen.step;
  out.state_error_weight = chosen.state_error_weight;
}

/// Checks whether an entry is an encoder slip, which belongs to a recording and not to the rig.
bool is_of_recording(const ParameterValues::ParameterValue& entry) {
  return entry.name.find(" slip at ") != std::string::npos;
}

void set_value(const ParameterValues& values, const ParameterValues::ParameterValue& entry,
               estimator::Parameter& parameter) {
  if (entry.value < parameter.lower || entry.value > parameter.upper) {
    fail(values.file, entry.field + ".value",
         entry.name + " = " + format_number(entry.value, 6) + " " + parameter.unit +
             " lies outside the bounds [" + format_number(parameter.lower, 6) + ", " +
             format_number(parameter.upper, 6) +
             "] of the rig file. Widen the bounds in the rig file");
  }
  parameter.value = entry.value;
}

}  // namespace

void reject_result_file(const std::string& path, const std::string& what, const std::string& why) {
  throw proto::InputError("{}: {}. Give the output of rigcal calibrate --json ({})", path, what,
                          why.substr(0, why.find('\n')));
}

ParameterValues read_parameter_values(const std::string& path) {
  ParameterValues values;
  if (path.empty()) return values;
  values.file = path;
  Struct result;
  const std::string text = proto::read_file(path, proto::kTableSizeMax);  // with trajectories
  values.mark = compute_text_digest(text);
  const auto status = google::protobuf::util::JsonStringToMessage(text, &result);
  if (!status.ok()) reject_result_file(path, "not JSON", std::string(status.message()));
  const std::string renamed =
      proto::find_renamed_json_field(path, result, *rigcal::v1::CalibrationResult::descriptor());
  if (!renamed.empty()) throw proto::InputError(renamed);
  add_list(result, "parameters", values);
  read_covariance(result, values);
  add_list(result, "dependent", values);
  if (values.entries.empty()) {
    fail(path, "parameters", "empty. Give the output of rigcal calibrate --json");
  }
  add_list(result, "fixed", values);
  read_choices(result, values);
  return values;
}

estimator::UncertainParameters parameter_value_covariance(const ParameterValues& values,
                                                          const estimator::Mechanism& mechanism,
                                                          std::vector<std::string>& unknown) {
  estimator::UncertainParameters spread;
  std::vector<Eigen::Index> known;
  for (Eigen::Index i = 0; i < values.covariance.rows(); ++i) {
    const ParameterValues::ParameterValue& entry = values.entries[static_cast<std::size_t>(i)];
    const int index = mechanism.find_parameter(entry.name);
    if (index < 0 || estimator::find_dependency(mechanism, index) != nullptr) continue;
    if (mechanism.parameters[static_cast<std::size_t>(index)].value != entry.value) continue;
    if (!std::isfinite(entry.deviation)) {
      unknown.push_back(entry.name);
      continue;
    }
    spread.parameters.push_back(index);
    known.push_back(i);
  }
  spread.covariance = values.covariance(known, known);
  return spread;
}

void apply_parameter_values(const ParameterValues& values, estimator::Mechanism& mechanism) {
  for (const ParameterValues::ParameterValue& entry : values.entries) {
    const int index = mechanism.find_parameter(entry.name);
    if (index < 0 && is_of_recording(entry)) continue;
    if (index < 0) {
      fail(values.file, entry.field + ".name",
           fmt::format("the rig has no parameter {:?}; give the rig file that was calibrated, or "
                       "remove the entry",
                       entry.name));
    }
    estimator::Parameter& parameter = mechanism.parameters[static_cast<std::size_t>(index)];
    if (parameter.unit != entry.unit) {
      fail(values.file, entry.field + ".unit",
           fmt::format("{} is in {} in the result but in {} in the rig file. "
                       "Give the rig file that was calibrated",
                       entry.name, entry.unit, parameter.unit));
    }
    if (estimator::find_dependency(mechanism, index) == nullptr)
      set_value(values, entry, parameter);
  }
  estimator::apply_dependencies(mechanism);
  for (const ParameterValues::ParameterValue& entry : values.entries) {
    const int index = mechanism.find_parameter(entry.name);
    if (index < 0) continue;
    const double now = mechanism.parameters[static_cast<std::size_t>(index)].value;
    if (std::abs(now - entry.value) <= kTieTolerance * std::abs(entry.value)) continue;
    fail(values.file, entry.field + ".value",
         fmt::format("{} is {} in the result, but a dependency of the rig file gives {}. "
                     "Give the rig file that was calibrated",
                     entry.name, notation::format_exact(entry.value), notation::format_exact(now)));
  }
}

std::vector<std::string> make_initial_value_edits(const ParameterValues& values,
                                                  const estimator::Mechanism& mechanism) {
  std::vector<std::string> texts;
  for (const ParameterValues::ParameterValue& entry : values.entries) {
    const int index = mechanism.find_parameter(entry.name);
    if (index < 0 && is_of_recording(entry)) continue;
    if (index >= 0 && estimator::find_dependency(mechanism, index) != nullptr) continue;
    texts.push_back(entry.name + "=" + notation::format_exact(entry.value));
  }
  return texts;
}

}  // namespace service
