#include "service/options/job_options.hpp"

#include <string>
#include <utility>
#include <vector>

#include "proto/text/input_error.hpp"
#include "service/options/option_names.hpp"

namespace service {
namespace {

template <typename Value>
Value choice(const std::string& field, const std::string& word,
             const std::vector<std::pair<std::string, Value>>& choices) {
  if (word.empty()) return choices.front().second;
  std::string names;
  for (const auto& [name, value] : choices) {
    if (name == word) return value;
    if (!names.empty()) names += " or ";
    names += name;
  }
  throw proto::InputError("options." + field + ": \"" + word + "\" is not " + names);
}

}  // namespace

estimator::CalibrationOptions calibration_options(const rigcal::v1::JobOptions& message) {
  estimator::CalibrationOptions options;
  if (message.has_step_s()) options.step = message.step_s();
  if (message.has_state_error_weight()) options.state_error_weight = message.state_error_weight();
  if (message.has_compliance()) options.compliance = message.compliance();
  if (message.has_damping_time_s()) options.damping_time = message.damping_time_s();
  if (message.has_filter_cutoff_hz()) options.filter_cutoff = message.filter_cutoff_hz();
  if (message.has_max_iterations()) options.max_iterations = message.max_iterations();
  if (message.has_refine_simulation()) options.refine_simulation = message.refine_simulation();
  if (message.has_start_from_physical())
    options.start_from_physical = message.start_from_physical();
  if (message.has_repair()) options.repair = message.repair();
  if (message.has_acceleration_noise()) options.acceleration_noise = message.acceleration_noise();
  if (!message.parameters().empty()) {
    options.kind =
        choice<estimator::EstimateKind>("parameters", message.parameters(),
                                        {{"physical", estimator::EstimateKind::kPhysical},
                                         {"shadow", estimator::EstimateKind::kShadow}});
  }
  options.inertia_parameterization =
      choice("inertias", message.inertias(), inertia_parameterizations());
  options.residual_form =
      choice<estimator::ResidualForm>("residual", message.residual(),
                                      {{"implicit", estimator::ResidualForm::kImplicit},
                                       {"explicit", estimator::ResidualForm::kExplicit}});
  options.state_form =
      choice<estimator::StateForm>("states", message.states(),
                                   {{"configurations", estimator::StateForm::kConfigurations},
                                    {"full", estimator::StateForm::kFull}});
  return options;
}

Selection selection_of(const rigcal::v1::JobRecording& recording) {
  Selection selection;
  if (recording.has_from_s()) selection.from = recording.from_s();
  if (recording.has_to_s()) selection.to = recording.to_s();
  selection.segments.assign(recording.segments().begin(), recording.segments().end());
  if (!(selection.from < selection.to)) {
    throw proto::InputError("session \"" + recording.session_id() +
                            "\": from_s must be less than to_s");
  }
  return selection;
}

}  // namespace service
