#include "service/options/option_texts.hpp"

#include <algorithm>

namespace service {

std::string options_json(const estimator::CalibrationOptions& options, bool all) {
  std::string json;
  for (const estimator::OptionRow& row : estimator::kOptionRows) {
    if (!all && is_default(row, options)) continue;
    const std::string quote = row.is_word() ? "\"" : "";
    json.append(json.empty() ? "{\"" : ", \"").append(row.key).append("\": ");
    json += quote + option_text(row, options) + quote;
  }
  return json.empty() ? "{}" : json + "}";
}

std::string help_text(const estimator::OptionRow& row) {
  std::string text(row.help);
  if (row.unit.empty()) return text;
  return text.insert(std::min(text.find_first_of(".;"), text.size()),
                     " [" + std::string(row.unit) + "]");
}

std::string python_name(const estimator::OptionRow& row) {
  std::string name(row.name.starts_with("no-") ? row.name.substr(3) : row.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

std::string to_text(estimator::EstimateKind kind) {
  return std::string(estimator::kKindWords[static_cast<std::size_t>(kind)]);
}

std::optional<estimator::EstimateKind> parse_estimate_kind(const std::string& word) {
  estimator::CalibrationOptions options;
  set_option(estimator::kOptionRows[0], word, options);
  return options.kind;
}

}  // namespace service
