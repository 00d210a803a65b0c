#include "proto/notation/axis_ticks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "proto/notation/number_format.hpp"

namespace notation {
namespace {

/// Returns the smallest distance between neighbours; 0 if all are equal.
double spacing_of(const std::vector<double>& ticks) {
  double spacing = std::numeric_limits<double>::infinity();
  for (std::size_t k = 1; k < ticks.size(); ++k) {
    const double distance = std::abs(ticks[k] - ticks[k - 1]);
    if (distance > 0.0) spacing = std::min(spacing, distance);
  }
  return std::isfinite(spacing) ? spacing : 0.0;
}

std::vector<std::string> write(const std::vector<double>& ticks, double spacing) {
  double largest = 0.0;
  for (const double tick : ticks) largest = std::max(largest, std::abs(tick));
  const auto decimals = [&](int exponent) {
    const double step = spacing / std::pow(10.0, exponent);
    return std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  };
  const int exponent = needs_no_exponent(largest, decimals(0)) ? 0 : engineering_exponent(largest);
  std::vector<std::string> texts;
  for (const double tick : ticks) {
    const std::string text = fixed(tick / std::pow(10.0, exponent), decimals(exponent));
    texts.push_back(is_zero_text(text) ? "0" : text + exponent_text(exponent));
  }
  return texts;
}

std::size_t longest(const std::vector<std::string>& texts) {
  std::size_t length = 0;
  for (const std::string& text : texts) length = std::max(length, text.size());
  return length;
}

/// Returns the common part of all ticks: the digits above the power of ten that covers their range.
double common_part(const std::vector<double>& ticks) {
  const double range = std::abs(ticks.back() - ticks.front());
  const double power = std::ceil(std::log10(range) - 1e-9);
  const double nearest =
      std::abs(ticks.front()) < std::abs(ticks.back()) ? ticks.front() : ticks.back();
  return power < 0.0 ? std::trunc(nearest * std::pow(10.0, -power)) / std::pow(10.0, -power)
                     : std::trunc(nearest / std::pow(10.0, power)) * std::pow(10.0, power);
}

}  // namespace

std::vector<double> choose_axis_ticks(double low, double high, int count_max) {
  const double raw = (high - low) / count_max;
  if (!(raw > 0.0) || !std::isfinite(raw)) return {low};
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10.0 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  // Counting in whole steps keeps zero exactly zero.
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1.0) {
    ticks.push_back(k == 0.0 ? 0.0 : k * step);
  }
  return ticks;
}

TickLabels format_tick_labels(const std::vector<double>& ticks, std::size_t length_max) {
  const double spacing = spacing_of(ticks);
  if (spacing == 0.0) {
    TickLabels same;
    for (const double tick : ticks) same.texts.push_back(format_number(tick));
    return same;
  }
  TickLabels whole{write(ticks, spacing), ""};
  if (longest(whole.texts) <= length_max) return whole;
  const double offset = common_part(ticks);
  std::vector<double> above = ticks;
  for (double& tick : above) tick -= offset;
  TickLabels shifted{write(above, spacing), format_exact(offset)};
  return longest(shifted.texts) < longest(whole.texts) ? shifted : whole;
}

std::string label_with_offset(const std::string& label, const std::string& offset) {
  if (offset.empty()) return label;
  const bool negative = offset.front() == '-';
  const std::string text = (negative ? " + " : " − ") + offset.substr(negative ? 1 : 0);
  const std::size_t unit = std::min(label.rfind(" ["), label.size());
  return label.substr(0, unit) + text + label.substr(unit);
}

}  // namespace notation
