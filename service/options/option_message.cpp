#include "service/options/option_message.hpp"

#include <google/protobuf/util/json_util.h>

#include <algorithm>

#include "proto/notation/number_format.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/spelling_suggestions.hpp"
#include "service/options/option_texts.hpp"

namespace service {
namespace {

using estimator::kOptionRows;
using estimator::OptionRow;
using google::protobuf::Struct;

std::string text_of(const google::protobuf::Value& value) {
  if (value.has_number_value()) return notation::format_exact(value.number_value());
  if (value.has_bool_value()) return value.bool_value() ? "true" : "false";
  return value.string_value();
}

}  // namespace

Struct make_options_message(const estimator::CalibrationOptions& options, bool all) {
  Struct message;
  (void)google::protobuf::util::JsonStringToMessage(format_options_json(options, all), &message);
  return message;
}

estimator::CalibrationOptions read_calibration_options(const Struct& message,
                                                       const std::string& where,
                                                       bool ignore_unknown) {
  estimator::CalibrationOptions options;
  for (const auto& [key, value] : message.fields()) {
    const auto* const row = std::ranges::find(kOptionRows, key, &OptionRow::key);
    if (row == std::end(kOptionRows)) {
      if (ignore_unknown) continue;
      std::vector<std::string> keys;
      for (const OptionRow& each : kOptionRows) keys.emplace_back(each.key);
      throw proto::InputError("{}.{}: unknown option{}", where, key,
                              proto::suggest_spelling(key, keys));
    }
    const std::string text = text_of(value);
    if (text == format_option(*row, {}) || set_option(*row, text, options)) continue;
    throw proto::InputError("{}.{} is {:?}; give {}", where, key, text,
                            describe_option_values(*row));
  }
  return options;
}

estimator::CalibrationOptions read_job_options(const rigcal::v1::JobSpec& spec) {
  if (!spec.has_options())
    return read_calibration_options(spec.estimation_options(), "estimation_options", false);
  std::string json;
  Struct options;  // of a job that an older service stored
  (void)google::protobuf::util::MessageToJsonString(spec.options(), &json);
  (void)google::protobuf::util::JsonStringToMessage(json, &options);
  return read_calibration_options(options, "options", false);
}

}  // namespace service
