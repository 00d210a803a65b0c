#include "service/result/calibrated_rig_file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <regex>

#include "estimator/model/joint_friction.hpp"
#include "estimator/spook/step_residual.hpp"
#include "proto/rig.pb.h"
#include "proto/text/printable.hpp"
#include "proto/text/text_edit.hpp"
#include "proto/text/text_file.hpp"
#include "service/options/option_texts.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/rig/parameters/rig_parameters.hpp"
#include "service/rig/rig_chain.hpp"
#include "service/rig/rig_file.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using Steps = std::vector<proto::FieldStep>;

constexpr const char* kHeadline = "Calibrated by rigcal ";
constexpr const char* kAtBound = "at its bound";
constexpr const char* kUnseen = "not identifiable from the data";
constexpr const char* kUnseenEarlier = "not seen in the data";  // by earlier versions

Steps below(Steps steps, const char* field) {
  const auto* type = steps.back().field->message_type();
  steps.push_back({type->FindFieldByName(field), -1});
  return steps;
}

/// Returns a comment without the standard deviations that an earlier calibration wrote to it.
std::string without_deviations(const std::string& comment) {
  static const std::regex kDeviations(std::string("^((\\S+ )?(± \\S+|") + kAtBound + "|" + kUnseen +
                                      "|" + kUnseenEarlier + ")(, |; |$))+");
  return std::regex_replace(comment, kDeviations, "", std::regex_constants::format_first_only);
}

std::string deviation_text(const estimator::ParameterEstimate& estimate) {
  if (estimate.at_bound) return kAtBound;
  if (!std::isfinite(estimate.standard_deviation)) return kUnseen;
  return "± " + estimate_notation(estimate).deviation(estimate.standard_deviation);
}

class RigWriter {
 public:
  RigWriter(const std::string& name, const std::string& text)
      : edit_(name, text, v1::Rig::default_instance()) {
    if (expand_link_chain_text(name, edit_)) {
      notes_.push_back(
          "chain { } was replaced by bodies and joints, since its links now have different values");
    }
    placed_ = parse_rig_with_locations(name, edit_.text());
    proto::TextLocator::Tree tree;
    proto::parse_text(name, edit_.text(), rig_, tree);
  }

  /// Writes the value of a parameter to the rig file, adding the field if necessary.
  bool set_value(const std::string& parameter, double value, const QuantityFormat& notation) {
    const Steps* const steps = place_of(parameter);
    if (steps == nullptr) return false;
    const estimator::Parameter& was =
        placed_.rig.mechanism
            .parameters[static_cast<std::size_t>(placed_.rig.mechanism.find_parameter(parameter))];
    const Steps value_at = below(*steps, "value");
    // A prior without a mean is centred on the value; keep it where it was.
    if (value != was.value && edit_.has(below(*steps, "prior_standard_deviation")) &&
        !edit_.has(below(*steps, "prior_mean"))) {
      edit_.set_number(below(*steps, "prior_mean"), notation::format_exact(was.prior_mean));
    }
    // Likewise keep a lower bound that the file only implies by a negative value.
    constexpr double kFarBelow = -1e6;
    const bool below_zero =
        may_be_negative(parameter) && was.lower == -std::numeric_limits<double>::infinity();
    if (below_zero && value >= 0.0 && was.value < 0.0) {
      edit_.set_number(below(*steps, "lower"), notation::format_exact(kFarBelow));
    }
    if (value != was.value || edit_.has(value_at)) {
      edit_.set_number(value_at, notation.exact(value));
    }
    return true;
  }

  void set_prior(const estimator::ParameterEstimate& estimate) {
    const Steps* const steps = place_of(estimate.name);
    if (steps == nullptr || !std::isfinite(estimate.standard_deviation) ||
        !(estimate.standard_deviation > 0.0) || estimate.at_bound) {
      return;
    }
    const QuantityFormat notation = estimate_notation(estimate);
    edit_.set_number(below(*steps, "prior_mean"), notation.exact(estimate.value));
    edit_.set_number(below(*steps, "prior_standard_deviation"),
                     notation.exact(estimate.standard_deviation));
  }

  /// Writes the value of a dependent parameter if the rig file has a value for it.
  void set_dependent(const estimator::ParameterEstimate& estimate) {
    const auto found = placed_.places.find(estimate.name);
    if (found == placed_.places.end() || !is_dependent_parameter(rig_, estimate.name)) return;
    const Steps value_at = below(found->second, "value");
    if (!edit_.has(value_at) || is_point_from_centre(found->second)) return;
    edit_.set_number(value_at, estimate_notation(estimate).exact(estimate.value));
  }

  void comment(const std::vector<estimator::ParameterEstimate>& estimates) {
    std::map<int, std::vector<const estimator::ParameterEstimate*>> by_line;
    for (const estimator::ParameterEstimate& estimate : estimates) {
      const auto found = placed_.places.find(estimate.name);
      if (found == placed_.places.end()) continue;
      const Steps value_at = below(found->second, "value");
      if (edit_.has(value_at)) by_line[edit_.line_of(value_at)].push_back(&estimate);
    }
    for (const auto& [line, in_line] : by_line) {
      const std::string text = join_items(in_line, [&](const auto* estimate) {
        const std::string& field = placed_.places.at(estimate->name).back().field->name();
        return (in_line.size() > 1 ? field + " " : "") + deviation_text(*estimate);
      });
      const std::string rest = without_deviations(edit_.line_comment(line));
      edit_.set_comment(line, rest.empty() ? text : text + "; " + rest);
    }
  }

  /// Sets the first comment of the rig file, which gives the source of the values. Comments with
  /// directives for editors stay above it.
  void set_headline(const std::string& headline) {
    int line = 0;
    while (edit_.line_comment(line).starts_with("proto-")) ++line;
    if (edit_.line_comment(line).starts_with(kHeadline)) {
      edit_.set_comment(line, headline);
    } else {
      edit_.insert_line(line, "# " + headline);
    }
  }

  void note(const std::string& text) { notes_.push_back(text); }
  const std::string& text() const { return edit_.text(); }
  std::vector<std::string> take_notes() { return std::move(notes_); }

 private:
  /// Returns the location of a parameter. If the rig file cannot have it, adds a note and returns
  /// nullptr.
  const Steps* place_of(const std::string& parameter) {
    const auto found = placed_.places.find(parameter);
    if (found == placed_.places.end()) {
      proto::add_note(notes_,
                      "{}: belongs to the recording, not to the rig; only the result contains it",
                      parameter);
      return nullptr;
    }
    // Adding a motor or an encoder would make the joint driven or measured.
    for (std::size_t count = 1; count < found->second.size(); ++count) {
      const std::string& field = found->second[count - 1].field->name();
      const Steps part(found->second.begin(),
                       found->second.begin() + static_cast<std::ptrdiff_t>(count));
      const bool of_joint = part.front().field->name() == "joint";
      if (!of_joint || (field != "motor" && field != "encoder") || edit_.has(part)) continue;
      proto::add_note(notes_,
                      "{}: was not written, because the joint has no {} {{ }} in the file. Add one",
                      parameter, field);
      return nullptr;
    }
    return &found->second;
  }

  bool may_be_negative(const std::string& parameter) const {
    const estimator::Mechanism& mechanism = placed_.rig.mechanism;
    const estimator::ParameterOwner target =
        estimator::find_parameter_owner(mechanism, mechanism.find_parameter(parameter));
    if (target.kind != estimator::ParameterOwner::Kind::kJoint) return false;
    const auto* const law =
        estimator::friction_properties(static_cast<estimator::JointParameter>(target.quantity));
    return law != nullptr && law->may_be_negative;
  }

  /// Checks whether a point is on a body whose centre of mass the rig file gives. Such a point does
  /// not depend on the estimated centre of mass, and its value in the file stays unchanged.
  bool is_point_from_centre(const Steps& steps) const {
    if (steps.size() != 4 || steps[2].field->name() != "point") return false;
    if (steps[0].field->name() == "body") return rig_.body(steps[0].index).has_center_of_mass();
    const v1::Joint& joint = rig_.joint(steps[0].index);
    const v1::JointSide& side = steps[1].field->name() == "parent" ? joint.parent() : joint.child();
    const auto body = std::ranges::find(rig_.body(), side.body(), &v1::Body::name);
    return body != rig_.body().end() && body->has_center_of_mass();
  }

  proto::TextEdit edit_;
  v1::Rig rig_;
  RigWithLocations placed_;
  std::vector<std::string> notes_;
};

}  // namespace

std::string make_rig_file_headline(const std::string& version, const std::string& date,
                                   const std::string& recordings, const std::string& kind,
                                   double step_s) {
  std::string text =
      kHeadline + version + ", " + date + ", from " + recordings + ": " + kind + " parameters";
  if (kind == estimate_kind_name(estimator::EstimateKind::kShadow)) {
    text += " at a step of " + format_number(1e3 * step_s) + " ms";
  }
  return proto::escape_for_terminal(text);
}

CalibratedParameters collect_calibrated_parameters(const estimator::Calibration& calibration,
                                                   const CalibrationMetadata& context) {
  return {
      calibration.parameters, calibration.dependent, context.kept,
      make_rig_file_headline(
          context.version, context.date,
          join_items(context.recordings, [](const UsedRecording& use) { return use.summary.file; }),
          estimate_kind_name(calibration.kind), calibration.step)};
}

std::vector<std::string> describe_estimates(const CalibratedParameters& calibrated,
                                            const std::string& covariance) {
  std::vector<std::string> lines = {calibrated.headline};
  const auto add = [&](const estimator::ParameterEstimate& estimate) {
    const MeasuredText number = format_measured(estimate.value, estimate.standard_deviation);
    std::string line = estimate.name + " = " + number.value;
    if (estimate.at_bound) {
      line += ", at its bound";
    } else if (std::isfinite(estimate.standard_deviation)) {
      line += " ± " + number.standard_deviation;
    } else {
      line += ", not identifiable from the data";
    }
    lines.push_back(line + " " + estimate.unit);
  };
  for (const auto& estimate : calibrated.estimates) add(estimate);
  for (const auto& estimate : calibrated.dependent) add(estimate);
  if (!covariance.empty()) lines.push_back("Their covariance: " + covariance);
  return lines;
}

CalibratedRigText write_calibrated_rig(const std::string& name, const std::string& text,
                                       const CalibratedParameters& rig, PriorChange priors) {
  RigWriter writer(name, text);
  for (const estimator::Parameter& parameter : rig.kept) {
    writer.set_value(parameter.name, parameter.value, {parameter.value, 0.0});
  }
  for (const estimator::ParameterEstimate& estimate : rig.estimates) {
    writer.set_value(estimate.name, estimate.value, estimate_notation(estimate));
    if (priors == PriorChange::kFromEstimates) writer.set_prior(estimate);
  }
  for (const estimator::ParameterEstimate& estimate : rig.dependent) {
    writer.set_dependent(estimate);
  }
  if (!rig.dependent.empty()) {
    writer.note(join_items(rig.dependent, &estimator::ParameterEstimate::name) +
                (rig.dependent.size() == 1 ? ": depends" : ": depend") +
                " on other parameters; the file's dependencies are unchanged");
  }
  writer.comment(rig.estimates);
  if (!rig.headline.empty()) writer.set_headline(rig.headline);
  CalibratedRigText written{.text = writer.text(), .notes = writer.take_notes()};
  parse_rig(name + " with the estimates", written.text);
  return written;
}

}  // namespace service
