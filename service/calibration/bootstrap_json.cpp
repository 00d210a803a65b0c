#include "proto/validation.pb.h"
#include "service/calibration/bootstrap_run.hpp"
#include "service/messages/interval_text.hpp"
#include "service/result/result_message.hpp"

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

}  // namespace

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
