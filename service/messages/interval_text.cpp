#include "service/messages/interval_text.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "service/messages/message_table.hpp"

namespace service {
namespace {

using estimator::Argument;
using estimator::Message;

// Templates with the placeholders of the message table.
constexpr const char* kTooFewDraws =
    "there are too few draws to judge the reported 95 % intervals; "
    "use --draws {count} or more, with the method \"noise\" or \"blocks\"";
constexpr const char* kIntervalsConfirmed =
    "the bootstrap confirms the reported 95 % intervals for this rig: {reasons}";
constexpr const char* kIntervalsTooNarrow =
    "the bootstrap contradicts the reported 95 % intervals for this rig: {reasons:, }";
constexpr const char* kIntervalTooNarrow =
    "the interval of \"{parameter}\" is too narrow ({reasons})";
constexpr const char* kMissedByNoise =
    "it contains the true value in only {percent:3} % of draws with simulated sensor errors";
constexpr const char* kExceededByBlocks =
    "blocks of time scatter {ratio:3} times as much as sensor noise explains";
constexpr const char* kCoveredByNoise =
    "each interval contains the true value in at least {percent:3} % of the draws "
    "with simulated sensor errors";
constexpr const char* kMatchedByBlocks =
    "blocks of time scatter at most {ratio:3} times as much as sensor noise explains";

Message fill_interval_text(const char* text, std::vector<Argument> arguments) {
  return fill_template(text, {estimator::MessageCode::kText, std::move(arguments)});
}

/// Returns the reasons for which the interval of a parameter is too narrow.
std::vector<Message> find_narrow_reasons(const estimator::BootstrapParameter& parameter) {
  std::vector<Message> reasons;
  if (parameter.missed_by_noise) {
    reasons.push_back(
        fill_interval_text(kMissedByNoise, {{"percent", 100.0 * parameter.coverage}}));
  }
  if (parameter.exceeded_by_blocks) {
    reasons.push_back(fill_interval_text(kExceededByBlocks, {{"ratio", parameter.block_ratio}}));
  }
  return reasons;
}

Message describe_intervals(const estimator::Bootstrap& bootstrap) {
  if (bootstrap.verdict == estimator::IntervalVerdict::kUndecided) {
    return fill_interval_text(kTooFewDraws, {{"count", estimator::kDecisiveDrawsMin}});
  }
  std::vector<Message> narrow, holding;
  double coverage = 2.0, ratio = 0.0;  // the least and the greatest of all parameters
  for (const estimator::BootstrapParameter& parameter : bootstrap.parameters) {
    if (std::vector<Message> reasons = find_narrow_reasons(parameter); !reasons.empty()) {
      narrow.push_back(fill_interval_text(
          kIntervalTooNarrow,
          {{"parameter", parameter.reported.name}, {"reasons", std::move(reasons)}}));
    }
    coverage = std::fmin(coverage, parameter.coverage);
    ratio = std::fmax(ratio, parameter.block_ratio);
  }
  if (!narrow.empty()) return fill_interval_text(kIntervalsTooNarrow, {{"reasons", narrow}});
  if (coverage <= 1.0) {
    holding.push_back(fill_interval_text(kCoveredByNoise, {{"percent", 100.0 * coverage}}));
  }
  if (ratio > 0.0) holding.push_back(fill_interval_text(kMatchedByBlocks, {{"ratio", ratio}}));
  return fill_interval_text(kIntervalsConfirmed, {{"reasons", holding}});
}

}  // namespace

std::string describe_interval_verdict(const estimator::Bootstrap& bootstrap) {
  return fill_template("{text}", describe_intervals(bootstrap));
}

}  // namespace service
