#include "service/report/charts/embedded_data.hpp"

#include <fmt/core.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "service/text/comma_list.hpp"

namespace service {
namespace {

/// Largest count of numbers that are written as text, which is shorter than Base64 for few numbers.
constexpr std::size_t kTextCountMax = 64;
constexpr double kEvenShare = 1e-6;  // of a step
constexpr int kStepDigits = 12;      // more digits of a step are rounding errors

template <typename Bits>
void append(std::string& bytes, Bits bits) {
  for (std::size_t k = 0; k < sizeof bits; ++k) {
    bytes += static_cast<char>(static_cast<unsigned char>(bits >> (8 * k)));
  }
}

std::string packed(const char* key, const std::string& bytes) {
  return std::string("{\"") + key + "\":\"" + base64(bytes) + "\"}";
}

std::string listed(const std::vector<double>& values) {
  return "{\"values\":[" + comma_list(values, json_number, ",") + "]}";
}

double step_of(const std::vector<double>& values) {
  const double step = (values.back() - values.front()) / static_cast<double>(values.size() - 1);
  const std::string text = fmt::format("{:.{}g}", step, kStepDigits);
  double rounded = step;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

}  // namespace

std::string json_string(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&') {
      json += fmt::format("\\u{:04x}", code);
    } else {
      json += c;
    }
  }
  return json + "\"";
}

std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  const std::to_chars_result end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

bool is_evenly_spaced(const std::vector<double>& values) {
  if (values.size() < 2) return false;
  const double step = step_of(values);
  if (!(step > 0.0)) return false;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double even = values.front() + static_cast<double>(k) * step;
    if (!(std::abs(values[k] - even) <= kEvenShare * step)) return false;
  }
  return true;
}

std::string json_spaced(const std::vector<double>& values) {
  if (values.size() <= kTextCountMax) return listed(values);
  if (is_evenly_spaced(values)) {
    return fmt::format(R"({{"from":{},"step":{},"count":{}}})", json_number(values.front()),
                       json_number(step_of(values)), values.size());
  }
  std::string bytes;
  for (const double value : values) append(bytes, std::bit_cast<std::uint64_t>(value));
  return packed("f64", bytes);
}

std::string json_numbers(const std::vector<double>& values) {
  if (values.size() <= kTextCountMax) return listed(values);
  std::string bytes;
  for (const double value : values) {
    append(bytes, std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  }
  return packed("f32", bytes);
}

std::string base64(const std::string& bytes) {
  static constexpr char kLetters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    const auto byte = [&](std::size_t at) {
      return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U;
    };
    const std::uint32_t three = byte(k) << 16U | byte(k + 1) << 8U | byte(k + 2);
    for (std::size_t letter = 0; letter < 4; ++letter) {
      const bool padding = k + letter > bytes.size();
      text += padding ? '=' : kLetters[three >> (18U - 6U * letter) & 0x3FU];
    }
  }
  return text;
}

}  // namespace service
