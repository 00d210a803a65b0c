#include "service/server/live_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "service/server/http_access.hpp"
#include "service/server/http_routes.hpp"

namespace service {
namespace {

constexpr double kNoReading = std::numeric_limits<double>::quiet_NaN();
constexpr double kTimeMax_s = 1e12;  // of a sample; later ones are not displayed

template <typename Values>
std::string json_numbers(const Values& values) {
  std::string text = "[";
  for (const double value : values) text += (text.size() > 1 ? "," : "") + json_number(value);
  return text + "]";
}

template <typename Values>
void widen(const Values& values, std::size_t first, std::vector<double>& low,
           std::vector<double>& high) {
  for (const double value : values) {
    if (first >= low.size()) return;
    // fmin and fmax ignore a NaN operand.
    low[first] = std::fmin(low[first], value);
    high[first] = std::fmax(high[first], value);
    ++first;
  }
}

}  // namespace

std::string make_server_sent_event(const std::string& kind, const std::string& data) {
  return "event: " + kind + "\ndata: " + data + "\n\n";
}

void LiveSamples::add(const rigcal::v1::SampleBatch& batch) {
  for (const auto& sample : batch.samples()) add_sample(sample);
  for (const auto& gap : batch.gaps()) missing_ += gap.sample_count();
  for (const auto& event : batch.events()) {
    rigcal::v1::Event shown = event;
    shown.clear_last_frames();
    add_event("event", shown);
  }
  if (batch.loop_stats_size() > 0) add_event("loop", *batch.loop_stats().rbegin());
}

void LiveSamples::set_estimate(const rigcal::v1::LiveEstimate& estimate) {
  estimate_ = make_server_sent_event("estimate", to_json(estimate));
}

void LiveSamples::add_event(const char* kind, const google::protobuf::Message& message) {
  events_.push_back(make_server_sent_event(kind, to_json(message)));
  if (events_.size() > kEventsMax) events_.pop_front();
}

void LiveSamples::add_sample(const rigcal::v1::Sample& sample) {
  if (!(std::abs(sample.timestamp()) < kTimeMax_s)) return;
  ++samples_;
  latest_ = sample;
  const auto number = static_cast<std::int64_t>(std::floor(sample.timestamp() / kInterval_s));
  if (intervals_.empty() || intervals_.back().number != number) {
    const auto count = static_cast<std::size_t>(sample.angle_rad_size() + sample.command_size());
    intervals_.push_back({number, std::vector(count, kNoReading), std::vector(count, kNoReading)});
    if (intervals_.size() > kIntervalsMax) {
      intervals_.pop_front();
      ++dropped_;
    }
  }
  Interval& interval = intervals_.back();
  std::vector<double> angles(sample.angle_rad().begin(), sample.angle_rad().end());
  for (std::size_t k = 0; k < angles.size(); ++k) {
    const int channel = static_cast<int>(k);
    if (channel < sample.valid_size() && !sample.valid(channel)) angles[k] = kNoReading;
  }
  widen(angles, 0, interval.low, interval.high);
  widen(sample.command(), angles.size(), interval.low, interval.high);
}

std::string LiveSamples::take_events() {
  std::string text;
  if (!intervals_.empty()) {
    std::string times, low, high;
    for (const Interval& interval : intervals_) {
      const char* const comma = times.empty() ? "" : ",";
      times += comma + json_number(static_cast<double>(interval.number) * kInterval_s);
      low += comma + json_numbers(interval.low);
      high += comma + json_numbers(interval.high);
    }
    text = make_server_sent_event(
        "samples",
        fmt::format("{{\"times\":[{}],\"low\":[{}],\"high\":[{}],\"time\":{:.6f},\"angles\":{},"
                    "\"commands\":{},\"tripped\":{},\"driving\":{},\"faultFlags\":{},"
                    "\"errorCount\":{},\"samples\":{},\"missing\":{},\"dropped\":{}}}",
                    times, low, high, latest_.timestamp(), json_numbers(latest_.angle_rad()),
                    json_numbers(latest_.command()), latest_.tripped(), latest_.driving(),
                    latest_.fault_flags(), latest_.error_count(), samples_, missing_, dropped_));
  }
  for (const std::string& event : events_) text += event;
  text += estimate_;
  intervals_.clear();
  events_.clear();
  estimate_.clear();
  return text;
}

}  // namespace service
