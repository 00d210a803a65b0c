#include <cmath>
#include <functional>
#include <vector>

#include "proto/validation.pb.h"
#include "service/calibration/bootstrap_run.hpp"
#include "service/result/result_message.hpp"
#include "service/text/number_format.hpp"
#include "service/text/table_notation.hpp"

namespace service {
namespace {

void add_distribution(const estimator::BootstrapDistribution& distribution,
                      rigcal::v1::BootstrapDistributionResult* out) {
  out->set_draws(distribution.draws);
  out->set_mean(distribution.mean);
  out->set_standard_deviation(distribution.standard_deviation);
  out->set_lower(distribution.lower);
  out->set_upper(distribution.upper);
  out->set_bca_lower(distribution.bca_lower);
  out->set_bca_upper(distribution.bca_upper);
}

/// Describes the causes for which the interval of a parameter is too narrow; empty without causes.
std::string describe_narrow_interval(const estimator::BootstrapParameter& parameter) {
  std::string causes;
  if (parameter.missed_by_noise) {
    causes = "it contains the true value in only " + format_percent(100.0 * parameter.coverage, 3) +
             " of draws with simulated sensor errors";
  }
  if (parameter.exceeded_by_blocks) {
    causes += (causes.empty() ? "" : "; ") + std::string("blocks of time scatter ") +
              format_significant_digits(parameter.block_ratio, 3) +
              " times as much as sensor noise explains";
  }
  return causes.empty()
             ? ""
             : "the interval of \"" + parameter.reported.name + "\" is too narrow (" + causes + ")";
}

}  // namespace

std::string describe_interval_verdict(const estimator::Bootstrap& bootstrap) {
  if (bootstrap.verdict == estimator::IntervalVerdict::kUndecided) {
    return "there are too few draws to judge the reported 95 % intervals; use --draws " +
           std::to_string(estimator::kDecisiveDrawsMin) +
           " or more, with the method \"noise\" or \"blocks\"";
  }
  std::vector<std::string> narrow, holding;
  double coverage = 2.0, ratio = 0.0;
  for (const estimator::BootstrapParameter& parameter : bootstrap.parameters) {
    std::string causes = describe_narrow_interval(parameter);
    if (!causes.empty()) narrow.push_back(std::move(causes));
    coverage = std::fmin(coverage, parameter.coverage);
    ratio = std::fmax(ratio, parameter.block_ratio);
  }
  if (!narrow.empty()) {
    return "the reported 95 % intervals do not hold on this rig: " + join_items(narrow);
  }
  if (coverage <= 1.0) {
    holding.push_back("each contains the true value in " + format_percent(100.0 * coverage, 3) +
                      " or more of the draws with simulated sensor errors");
  }
  if (ratio > 0.0) {
    holding.push_back("blocks of time scatter at most " + format_significant_digits(ratio, 3) +
                      " times as much as sensor noise explains");
  }
  return "the reported 95 % intervals hold on this rig: " +
         join_items(holding, std::identity{}, "; ");
}

std::string bootstrap_json(const BootstrapResult& result, const CalibrationMetadata& context) {
  rigcal::v1::BootstrapResult message;
  static constexpr const char* kVerdicts[] = {"hold", "too-narrow", "undecided"};
  message.set_verdict(describe_interval_verdict(result.bootstrap));
  message.set_intervals(kVerdicts[static_cast<int>(result.bootstrap.verdict)]);
  for (const estimator::BootstrapParameter& parameter : result.bootstrap.parameters) {
    google::protobuf::RepeatedPtrField<rigcal::v1::ParameterResult> reported;
    add_parameter_results({parameter.reported}, result.calibration.mechanism, &reported);
    rigcal::v1::BootstrapParameterResult* const out = message.add_parameters();
    *out->mutable_reported() = reported.at(0);
    add_distribution(parameter.noise, out->mutable_noise());
    add_distribution(parameter.blocks, out->mutable_blocks());
    out->set_jackknife_standard_deviation(parameter.jackknife_deviation);
    out->set_blocks_value(parameter.blocks_value);
    out->set_blocks_half_interval(parameter.blocks_half_interval);
    out->set_coverage(parameter.coverage);
    out->set_block_ratio(parameter.block_ratio);
    out->set_missed_by_noise(parameter.missed_by_noise);
    out->set_exceeded_by_blocks(parameter.exceeded_by_blocks);
  }
  for (const BootstrapMethodCount& count : result.counts) {
    rigcal::v1::BootstrapMethodResult* const out = message.add_methods();
    out->set_method(bootstrap_method_name(count.method));
    out->set_draws(count.draws);
    out->set_failed(count.failed);
    out->set_failure(count.failure);
  }
  message.set_seed(result.settings.seed);
  message.set_blocks(result.blocks);
  message.set_left_out(result.left_out);
  message.set_disc_error_rad(result.settings.disc_error);
  for (const std::string& note : result.notes) message.add_notes(note);
  return finish_result_json(message, context);
}

}  // namespace service
