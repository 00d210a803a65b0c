#include "firmware_iface/link/baud_budget.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "firmware_iface/wire/inertial.h"
#include "firmware_iface/wire/limits.h"
#include "firmware_iface/wire/message_type.h"
#include "firmware_iface/wire/sample.h"
#include "proto/notation/number_format.hpp"

namespace firmware_iface {
namespace {

constexpr std::array kUsualBaudRates = {115'200, 230'400, 460'800, 921'600};

int sample_frame_size_bytes(const LinkTraffic& traffic) {
  const std::uint8_t type = traffic.compact ? MESSAGE_SAMPLE_COMPACT : MESSAGE_SAMPLE;
  const sample_shape shape{static_cast<std::uint8_t>(traffic.encoder_count),
                           static_cast<std::uint8_t>(traffic.motor_count), traffic.marks};
  const int message = traffic.compact
                          ? SAMPLE_COMPACT_HEAD_SIZE_BYTES +
                                SAMPLE_COMPACT_ENCODER_SIZE_BYTES * traffic.encoder_count
                          : static_cast<int>(sample_size_bytes(shape));
  return message + static_cast<int>(message_crc_size_bytes(type)) + FRAME_OVERHEAD_BYTES;
}

int inertial_frame_size_bytes(const LinkTraffic& traffic) {
  if (traffic.inertial_count == 0) return 0;
  return INERTIAL_HEAD_SIZE_BYTES + INERTIAL_SENSOR_SIZE_BYTES * traffic.inertial_count +
         static_cast<int>(message_crc_size_bytes(MESSAGE_INERTIAL)) + FRAME_OVERHEAD_BYTES;
}

// Traffic that does not fit has these remedies.
std::string remedies(int baud_rate, const LinkTraffic& traffic, const BaudBudget& budget) {
  std::string text;
  for (const int faster : kUsualBaudRates) {
    if (faster > baud_rate && compute_baud_budget(faster, traffic).fits) {
      text = "raise the baud rate to " + std::to_string(faster);
      break;
    }
  }
  LinkTraffic compact = traffic;
  compact.compact = true;
  const bool can_compact =
      traffic.motor_count == 1 && traffic.encoder_count <= COMPACT_ENCODERS_MAX && !traffic.marks;
  if (can_compact && compute_baud_budget(baud_rate, compact).fits) {
    text += std::string(text.empty() ? "" : ", ") + "use the compact format";
  }
  LinkTraffic fewer = traffic;
  while (fewer.inertial_count > 0 && !compute_baud_budget(baud_rate, fewer).fits)
    --fewer.inertial_count;
  if (compute_baud_budget(baud_rate, fewer).fits) {
    text += std::string(text.empty() ? "" : ", ") + "read at most " +
            std::to_string(fewer.inertial_count) + " inertial sensors";
  }
  const double rate_max_Hz = BaudBudget::kLineShareMax * budget.available_bytes_per_s /
                             static_cast<double>(budget.frame_size_bytes);
  const int divider = static_cast<int>(std::ceil(traffic.sample_rate_Hz / rate_max_Hz));
  return text + (text.empty() ? "" : ", or ") + "sample at " +
         notation::format_number(traffic.sample_rate_Hz / divider) + " Hz";
}

}  // namespace

BaudBudget compute_baud_budget(int baud_rate, const LinkTraffic& traffic) {
  BaudBudget budget;
  budget.frame_size_bytes = sample_frame_size_bytes(traffic) + inertial_frame_size_bytes(traffic);
  budget.available_bytes_per_s =
      static_cast<double>(baud_rate) / static_cast<double>(BITS_PER_BYTE_ON_THE_LINE);
  budget.needed_bytes_per_s = budget.frame_size_bytes * traffic.sample_rate_Hz;
  budget.fits =
      budget.needed_bytes_per_s <= BaudBudget::kLineShareMax * budget.available_bytes_per_s;
  return budget;
}

Result<BaudBudget> check_baud_budget(int baud_rate, const LinkTraffic& traffic) {
  const BaudBudget budget = compute_baud_budget(baud_rate, traffic);
  if (budget.fits) return budget;
  std::string what = traffic.compact ? "compact sample" : "sample";
  if (traffic.inertial_count > 0) {
    what += " with " + std::to_string(traffic.inertial_count) + " inertial sensor" +
            (traffic.inertial_count == 1 ? "" : "s");
  }
  std::array<char, 384> text{};
  std::snprintf(text.data(), text.size(),
                "the line is too slow: %d baud / %d bits = %.2f bytes per ms, but %d bytes per "
                "%s x %s Hz = %.2f bytes per ms (%.0f %%, at most %.0f %%): ",
                baud_rate, BITS_PER_BYTE_ON_THE_LINE, budget.available_bytes_per_s * 1e-3,
                budget.frame_size_bytes, what.c_str(),
                notation::format_number(traffic.sample_rate_Hz).c_str(),
                budget.needed_bytes_per_s * 1e-3,
                100.0 * budget.needed_bytes_per_s / budget.available_bytes_per_s,
                100.0 * BaudBudget::kLineShareMax);
  return Error{ErrorCode::kLineTooSlow, text.data() + remedies(baud_rate, traffic, budget)};
}

}  // namespace firmware_iface
