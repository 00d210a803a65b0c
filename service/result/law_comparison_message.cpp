#include "service/result/law_comparison_message.hpp"

#include <cmath>

#include "proto/validation.pb.h"
#include "service/result/result_message.hpp"
#include "service/text/comma_list.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using estimator::LawComparison;
using estimator::LawScore;

const LawScore& at(const LawComparison& comparison, int index) {
  return comparison.laws[static_cast<std::size_t>(index)];
}

void add_law(const LawScore& score, v1::LawResult* out) {
  out->set_law(score.law.name);
  out->set_parameters(score.parameters);
  out->set_failure(score.failure);
  if (!score.has_result()) return;
  for (const double error : score.errors) out->add_errors_rad(error);
  out->set_error_rad(std::exp(score.log_error.value));
  out->set_error_relative_deviation(score.log_error.deviation);
  out->set_log_ratio(score.log_ratio.value);
  out->set_log_ratio_deviation(score.log_ratio.deviation);
  out->set_fit_error_rad(score.fit_error);
  out->set_converged(score.converged);
  for (const std::string& name : score.at_zero) out->add_at_zero(name);
  out->set_reduces_to(score.reduces_to);
  add_parameters(score.estimates, {}, out->mutable_estimates());
}

}  // namespace

std::string describe_recommendation(const LawComparison& comparison) {
  if (comparison.recommended < 0) return "no friction law could be fitted";
  const LawScore& recommended = at(comparison, comparison.recommended);
  std::vector<int> indices = comparison.indistinguishable;
  std::erase(indices, comparison.recommended);
  const std::string others =
      comma_list(indices, [&](int index) { return at(comparison, index).law.name; });
  if (others.empty()) return "use " + recommended.law.name + ": no other law predicts as well";
  return "use " + recommended.law.name + "; the data cannot distinguish it from " + others;
}

std::string law_comparison_json(const LawComparison& comparison,
                                const CalibrationContext& context) {
  v1::LawComparisonResult result;
  for (const std::string& joint : comparison.joints) result.add_joints(joint);
  for (const std::string& piece : comparison.pieces) result.add_parts(piece);
  result.set_folds(comparison.folds);
  for (const LawScore& score : comparison.laws) add_law(score, result.add_laws());
  if (comparison.recommended >= 0) {
    result.set_recommended(at(comparison, comparison.recommended).law.name);
  }
  for (const int index : comparison.indistinguishable)
    result.add_indistinguishable_laws(at(comparison, index).law.name);
  result.set_verdict(describe_recommendation(comparison));
  return finished_json(result, context);
}

}  // namespace service
