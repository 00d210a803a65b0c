#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include "estimator/model/encoder.hpp"
#include "proto/recording/export/mat_file.hpp"
#include "proto/recording/recording_info.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/cli/base_parameter_table.hpp"
#include "service/cli/command.hpp"
#include "service/cli/rig_files.hpp"
#include "service/cli/rig_tables.hpp"
#include "service/cli/terminal.hpp"
#include "service/options/parameter_values.hpp"
#include "service/recordings/formats/recording_columns.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/recordings/formats/recording_kind.hpp"
#include "service/recordings/recording_selection.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/stored_result.hpp"
#include "service/rig/drawing/rig_picture.hpp"
#include "service/rig/rig_file.hpp"
#include "service/text/column_statistics.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using TableRows = std::vector<std::vector<std::string>>;

struct InfoOptions {
  std::string file;
  std::string rig;
  std::string values;   ///< result file with the rig's parameter values; empty: as in the rig file
  std::string picture;  ///< SVG file to write, or "-" for the terminal; empty: no picture
  std::vector<std::string> places;  ///< joint positions in the picture; others: at rest
  bool base = false;                ///< list the identifiable combinations of inertias
  bool all = false;                 ///< also list parameters that are fixed at zero
};

// A picture on a terminal leaves room for the text below it.
constexpr int kPictureColumnsMax = 100;
constexpr int kPictureRowsMax = 32;

std::vector<std::string> statistics_row(const std::string& name,
                                        const std::vector<double>& values) {
  const ColumnStatistics statistics = column_statistics(values);
  return {name,
          std::to_string(statistics.observed),
          format_number(statistics.low, 6),
          format_number(statistics.high, 6),
          format_number(statistics.smallest_step),
          format_number(statistics.noise, 2)};
}

const TableRows kStatisticsHead = {
    {"column", "values", "lowest", "highest", "smallest step", "noise"}};
const std::vector<bool> kStatisticsRight = {false, true, true, true, true, true};

void print_recording(const InfoOptions& options) {
  const Rig rig = load_rig(options.rig);
  ImportedRecording imported = import_recording(options.file, rig);
  const ImportSummary& summary = imported.summary;
  std::cout << options.file << ": " << summary.rows << " rows at "
            << format_number(1.0 / summary.period, 6) << " Hz, time stamps within "
            << format_number(100.0 * summary.jitter_max, 2) << " % of a period\n"
            << summary.gaps.size() << " gaps, " << summary.holes.rows << " missing rows elsewhere, "
            << summary.dropped_rows << " dropped rows\n\n";
  TableRows segments = {{"segment", "start [s]", "end [s]", "samples"}};
  for (const SegmentUse& use : select_part({}, imported)) {
    segments.push_back({std::to_string(use.index), format_number(use.start, 8),
                        format_number(use.end, 8), std::to_string(use.samples)});
  }
  std::cout << format_table(segments, std::vector<bool>(4, true)) << '\n';
  TableRows rows = kStatisticsHead;
  rows[0][0] = "signal";
  const auto add_signal = [&](const std::string& name, const auto& matrix_of, Eigen::Index column) {
    std::vector<double> values;
    for (const estimator::Segment& segment : imported.recording.segments) {
      const auto part = matrix_of(segment).col(column);
      values.insert(values.end(), part.begin(), part.end());
    }
    rows.push_back(statistics_row(name, values));
  };
  Eigen::Index angle_column = 0;
  Eigen::Index control_column = 0;
  for (const estimator::Encoder& sensor : estimator::used_encoders(rig.mechanism)) {
    add_signal(
        std::string(sensor.units().quantity) + " of joint " + sensor.name + " [" +
            sensor.units().coordinate + "]",
        [](const estimator::Segment& s) -> const auto& { return s.angles; }, angle_column++);
  }
  for (std::size_t j = 0; j < rig.joint_facts.size(); ++j) {
    const estimator::Joint& joint = rig.mechanism.joints[j];
    if (joint.motorised) {
      add_signal(
          "control of joint " + joint.name + " [" + rig.joint_facts[j].control_unit + "]",
          [](const estimator::Segment& s) -> const auto& { return s.controls; }, control_column++);
    }
  }
  std::cout << format_table(rows, kStatisticsRight);
  for (const std::string& note : summary.notes) std::cout << "note: " << note << '\n';
}

void print_columns(const std::string& path) {
  TableRows rows = kStatisticsHead;
  std::size_t row_count = 0;
  const RecordingColumns recording = read_columns(path);
  for (const NamedColumn& column : recording.columns) {
    row_count = std::max(row_count, column.values.size());
    const bool words = std::ranges::find(recording.texts, column.name) != recording.texts.end();
    rows.push_back(column.values.empty()
                       ? std::vector<std::string>{column.name, words ? "text" : "-"}
                       : statistics_row(column.name, column.values));
  }
  std::cout << path << ": " << row_count << " rows\n\n" << format_table(rows, kStatisticsRight);
  if (!recording.fault.empty()) std::cout << "note: " << recording.fault << '\n';
  std::cout << "\nAdd --rig FILE to show the rate, gaps and segments, too.\n";
}

/// Prints the variables of a file that the block "recording" of a rig file can use as columns.
void print_variables(const std::string& path) {
  TableRows rows = {{"variable", "rows", "columns"}};
  const proto::MatFile file(path);
  for (const proto::MatFile::Variable& variable : file.variables()) {
    rows.push_back({variable.name, variable.is_numeric ? std::to_string(variable.rows) : "-",
                    variable.is_numeric ? std::to_string(variable.columns) : "-"});
  }
  std::cout << path << "\n\n"
            << format_table(rows, {false, true, true})
            << "\n"
               "Variables marked \"-\" are not real numbers. Add --rig FILE to show the rate, gaps "
               "and segments.\n";
}

void print_picture(const InfoOptions& options, const Rig& rig) {
  std::vector<JointPosition> places;
  for (const std::string& text : options.places) places.push_back(parse_joint_position(text));
  const RigPicture picture(rig, places);
  std::cout << '\n';
  if (options.picture == "-") {
    const int columns = std::min(terminal_size(STDOUT_FILENO).columns, kPictureColumnsMax);
    std::cout << picture.text(columns, kPictureRowsMax, character_set_of_locale()) << '\n';
  } else if (!options.picture.empty()) {
    proto::write_file(options.picture, picture.svg());
    std::cout << "picture in " << options.picture << '\n';
  }
  for (const std::string& line : picture.rest()) std::cout << line << '\n';
}

void check_picture(const InfoOptions& options) {
  if (options.picture.empty() && !options.places.empty()) {
    throw proto::InputError("--at needs a picture; add --picture FILE.svg, or --picture -");
  }
  if (options.picture.empty()) return;
  if (!is_rig_file(options.file)) {
    throw proto::InputError("--picture applies to rig files; " + options.file +
                            " is not a rig file");
  }
  if (options.picture == "-") return;
  proto::check_ending(options.picture, {".svg"});
  std::vector<std::string> inputs = {options.file};
  if (!options.values.empty()) inputs.push_back(options.values);
  proto::check_output(options.picture, inputs);
}

/// Prints the parameters of a calibration result; for other results, prints their kind and origin.
void print_result(const std::string& path) {
  const ResultHeader head = read_result_header(path);
  std::cout << path << ": " << describe_result(head) << '\n';
  if (!head.rig.empty() || !head.rig_file.empty()) {
    std::cout << "rig        " << head.rig
              << (head.rig_file.empty() ? "" : " (" + head.rig_file + ")") << '\n';
  }
  for (const std::string& recording : head.recordings) {
    std::cout << "recording  " << recording << '\n';
  }
  if (!head.verdict.empty()) std::cout << as_sentence(head.verdict) << '\n';
  if (head.command != "calibrate") return;
  TableRows rows = {{"parameter", "value", "± sd", "unit"}};
  const std::vector<estimator::ParameterEstimate> estimates = read_result(path).rig.estimates;
  const std::vector<TableNotation> notations = notations_of(estimates);
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    rows.push_back(
        {estimates[i].name, notations[i].value(), notations[i].deviation(), notations[i].unit()});
  }
  std::cout << '\n'
            << format_table(rows, {false, true, true, false})
            << "\nUse this file with --parameters for its values, or with rigcal repeat to repeat "
               "the calibration.\n";
}

/// Prints the contents of a recording for which no rig file is given.
void print_file(const std::string& path) {
  switch (recording_kind(path)) {
    case RecordingKind::kMat:
      return print_variables(path);
    case RecordingKind::kStateMcap:
      throw proto::InputError(path +
                              ": holds states that rigcal estimated; give the rig file too, --rig "
                              "FILE, to read it");
    case RecordingKind::kJson:
      return print_result(path);
    case RecordingKind::kDaqMcap: {
      const auto info = proto::inspect_recording(path);
      if (!info.ok()) throw proto::InputError(info.error().detail);
      std::cout << path << '\n' << proto::to_text(info.value());
      return;
    }
    default:
      print_columns(path);
  }
}

void show_info(const InfoOptions& options) {
  check_picture(options);
  if (options.base && !is_rig_file(options.file)) {
    throw proto::InputError("--base applies to rig files; " + options.file + " is not a rig file");
  }
  if (options.all && (options.base || !is_rig_file(options.file))) {
    throw proto::InputError("--all: lists all parameters of a rig file");
  }
  if (!options.values.empty() && !is_rig_file(options.file)) {
    throw proto::InputError("--parameters: shows a rig file with the values of a result; " +
                            options.file + " is not a rig file");
  }
  if (is_rig_file(options.file)) {
    Rig rig = load_rig(options.file);
    apply_values(read_parameter_values(options.values), rig.mechanism);
    std::cout << rig_summary(rig);
    if (options.base) {
      std::cout << base_parameter_table(rig.mechanism);
    } else {
      std::cout << '\n' << joint_tables(rig) << parameter_table(rig.mechanism, options.all);
    }
    print_picture(options, rig);
  } else if (!options.rig.empty()) {
    print_recording(options);
  } else {
    print_file(options.file);
  }
}

}  // namespace

void add_info(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command =
      app.add_subcommand("info", "Show the contents of a recording, a rig file or a result");
  const auto options = std::make_shared<InfoOptions>();
  command
      ->add_option("file", options->file,
                   "Recording (CSV, MCAP, MAT, HDF5), rig file (.textproto) or result (JSON)")
      ->required()
      ->type_name("FILE");
  command->add_option("--rig", options->rig, "Read the recording with this rig file")
      ->type_name("FILE");
  add_values_option(*command, options->values, "Show the rig file");
  command
      ->add_option("--picture", options->picture,
                   "Draw the rig of a rig file as an SVG picture, or on the terminal (-)")
      ->type_name("FILE.svg");
  command
      ->add_option("--at", options->places,
                   "Draw this joint at VALUE [rad or m], or at VALUEdeg; the others at rest")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_flag(
      "--base", options->base,
      "List the identifiable combinations of a rig's inertial parameters (base parameters)");
  command->add_flag("--all", options->all,
                    "Also list parameters that are fixed at zero or without effect");
  command->footer(
      "The noise is that of white noise on the column, from third differences.\n"
      "Examples:\n"
      "  rigcal info run.mcap\n"
      "  rigcal info run.csv\n"
      "  rigcal info run.csv --rig configs/rig-furuta.textproto\n"
      "  rigcal info run.json\n"
      "  rigcal info configs/rig-furuta.textproto\n"
      "  rigcal info configs/rig-furuta.textproto --picture rig.svg --at 2=30deg");
  command->callback([options, &exit_code] {
    show_info(*options);
    exit_code = kDone;
  });
}

}  // namespace service
