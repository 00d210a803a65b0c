#include "service/client/estimation_input.hpp"

#include <iostream>
#include <map>

#include "proto/text/input_error.hpp"
#include "service/report/number_format.hpp"

namespace service {
namespace {

using estimator::ResidualForm;
using estimator::StateForm;

const RecordingFormat& format_of(const Rig& rig) {
  if (rig.format) return *rig.format;
  throw proto::InputError(rig.path + ": does not say how recordings look; add recording { ... }");
}

}  // namespace

std::vector<std::string> describe_import(const ImportSummary& summary) {
  std::vector<std::string> notes;
  for (const std::string& note : summary.notes) notes.push_back(summary.file + ": " + note);
  if (!summary.gaps.empty()) {
    const Gap& gap = summary.gaps.front();
    notes.push_back(summary.file + ":" + std::to_string(gap.line) + ": " +
                    std::to_string(summary.gaps.size()) + " gaps, not filled; the first lasts " +
                    format_number(1e3 * gap.duration) + " ms and ends here");
  }
  if (summary.dropped_rows > 0) {
    notes.push_back(summary.file + ": " + std::to_string(summary.dropped_rows) +
                    " rows lie in stretches too short to use");
  }
  return notes;
}

void add_estimation_options(CLI::App& command, EstimationOptions& options) {
  const std::map<std::string, ResidualForm> residuals = {{"explicit", ResidualForm::kExplicit},
                                                         {"implicit", ResidualForm::kImplicit}};
  const std::map<std::string, StateForm> states = {{"configurations", StateForm::kConfigurations},
                                                   {"full", StateForm::kFull}};
  estimator::CalibrationOptions& calibration = options.calibration;
  command.add_option("recordings", options.recordings, "CSV recordings")
      ->required()
      ->type_name("RECORDING");
  command.add_option("--rig", options.rig, "Rig file (proto/rig.proto)")
      ->required()
      ->type_name("FILE");
  command.add_option("--from", options.selection.from, "Use samples from this time on [s]");
  command.add_option("--to", options.selection.to, "Use samples up to this time [s]");
  command.add_option("--segments", options.segments, "Use these segments only, e.g. 0-3,5")
      ->type_name("LIST");
  command.add_option("--free", options.edits.free, "Estimate this parameter")->type_name("NAME");
  command.add_option("--fix", options.edits.fix, "Keep this parameter, at VALUE if given")
      ->type_name("NAME[=VALUE]");
  command.add_option("--start", options.edits.start, "Start this parameter at VALUE")
      ->type_name("NAME=VALUE");
  const std::string method = "Method";
  command.add_option("--step", calibration.step, "Time step h [s]; default: chosen")
      ->check(CLI::PositiveNumber)
      ->group(method);
  command
      .add_option("--kappa", calibration.state_error_weight,
                  "Weight of impulse against angle residuals; default: from the data")
      ->check(CLI::PositiveNumber)
      ->group(method);
  command
      .add_option("--compliance", calibration.compliance,
                  "Compliance of all hinges [m/N, rad/(N·m)]; default: the rig file's")
      ->check(CLI::NonNegativeNumber)
      ->group(method);
  command
      .add_option("--damping-time", calibration.damping_time,
                  "Damping time of all hinges [s]; default: the rig file's")
      ->check(CLI::NonNegativeNumber)
      ->group(method);
  command.add_option("--residual", calibration.residual_form, "explicit or implicit (default)")
      ->transform(CLI::CheckedTransformer(residuals))
      ->type_name("FORM")
      ->group(method);
  command.add_option("--states", calibration.state_form, "configurations (default) or full")
      ->transform(CLI::CheckedTransformer(states))
      ->type_name("FORM")
      ->group(method);
  command.add_option("--max-iterations", calibration.max_iterations, "Most iterations")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str()
      ->group(method);
  command.add_flag("--quiet", options.quiet, "No progress");
}

EstimationInput load_estimation_input(const EstimationOptions& options) {
  EstimationInput input;
  input.rig = load_rig(options.rig);
  apply_edits(options.edits, input.rig.mechanism);
  Selection selection = options.selection;
  if (!(selection.from < selection.to)) throw proto::InputError("--from must lie before --to");
  if (!options.segments.empty()) selection.segments = parse_segment_list(options.segments);
  for (const std::string& path : options.recordings) {
    ImportedRecording imported = import_csv(path, format_of(input.rig));
    std::vector<SegmentUse> uses = select_part(selection, imported);
    if (!options.quiet) {
      for (const std::string& note : describe_import(imported.summary)) {
        std::cerr << "note: " << note << '\n';
      }
    }
    input.recordings.push_back(std::move(imported.recording));
    input.context.recordings.push_back({std::move(imported.summary), std::move(uses)});
  }
  input.context.rig = input.rig.mechanism.name.empty() ? options.rig : input.rig.mechanism.name;
  input.context.version = RIGCAL_VERSION;
  input.context.options = options.calibration;
  return input;
}

}  // namespace service
