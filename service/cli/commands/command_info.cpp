#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "estimator/assessment/identifiability/combinations.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/mechanism.hpp"
#include "proto/recording/recording_info.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/result_info.hpp"
#include "service/cli/page_files.hpp"
#include "service/cli/rig_files.hpp"
#include "service/cli/terminal.hpp"
#include "service/options/parameter_values.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/recordings/recording_selection.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/rig/drawing/rig_picture.hpp"
#include "service/rig/rig_file.hpp"
#include "service/text/column_statistics.hpp"
#include "service/text/number_format.hpp"
#include "service/text/table_notation.hpp"

namespace service {
namespace {

using TableRows = std::vector<std::vector<std::string>>;

std::string body_name(const estimator::Mechanism& mechanism, int body) {
  return body < 0 ? "ground" : mechanism.bodies[static_cast<std::size_t>(body)].name;
}

std::string describe_counts(const EncoderProperties& encoder) {
  return encoder.counts > 0.0 ? format_number(encoder.counts) + " counts/" + encoder.counts_of
                              : "yes";
}

/// Returns the signed sum of joints that an encoder between bodies measures, e.g. "1 + 2 - 3".
std::string describe_terms(const estimator::Mechanism& mechanism,
                           const estimator::BodyEncoder& encoder) {
  std::string text;
  for (const estimator::Encoder::JointTerm& term : encoder_joint_terms(mechanism, encoder)) {
    const char* const sign =
        term.sign > 0.0 ? (text.empty() ? "" : " + ") : (text.empty() ? "-" : " - ");
    text += sign + mechanism.joints[static_cast<std::size_t>(term.joint)].name;
  }
  return text;
}

bool is_dependent_parameter(const estimator::Mechanism& mechanism, std::size_t index) {
  return estimator::find_dependency(mechanism, static_cast<int>(index)) != nullptr;
}

bool has_prior(const estimator::Parameter& parameter) {
  return std::isfinite(parameter.prior_standard_deviation);
}

bool is_fixed(const estimator::Mechanism& mechanism, std::size_t index) {
  const estimator::Parameter& parameter = mechanism.parameters[index];
  return !parameter.free && !is_dependent_parameter(mechanism, index) && !has_prior(parameter);
}

/// Returns a mark per parameter that is true if the parameter has no effect: it is fixed at zero,
/// or it is a Stribeck rate whose Stribeck torque has no effect.
std::vector<bool> idle_parameters(const estimator::Mechanism& mechanism) {
  std::vector<bool> idle;
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    const estimator::Parameter& parameter = mechanism.parameters[i];
    idle.push_back(is_fixed(mechanism, i) && parameter.value == 0.0);
  }
  for (int h = 0; h < mechanism.joint_count(); ++h) {
    const auto at = [&](estimator::JointParameter quantity) {
      return static_cast<std::size_t>(mechanism.joint_parameter_index(h, quantity));
    };
    const std::size_t rate = at(estimator::JointParameter::kStribeckRate);
    idle[rate] = idle[at(estimator::JointParameter::kStribeckTorque)] && is_fixed(mechanism, rate);
  }
  return idle;
}

/// Returns a rig's name and its numbers of bodies and joints.
std::string rig_summary(const Rig& rig) {
  const estimator::Mechanism& mechanism = rig.mechanism;
  const int bodies = mechanism.body_count();
  const auto joints = std::ranges::count(mechanism.joints, 0, &estimator::Joint::place);
  return fmt::format("rig {}: {} {}, {} {}\n", mechanism.name.empty() ? rig.path : mechanism.name,
                     bodies, bodies == 1 ? "body" : "bodies", joints,
                     joints == 1 ? "joint" : "joints");
}

/// Returns text tables of a rig's joints, mimic joints, and encoders between bodies.
std::string joint_tables(const Rig& rig) {
  const estimator::Mechanism& mechanism = rig.mechanism;
  std::string text;
  TableRows joints = {{"joint", "parent", "child", "encoder", "motor", "compliance", "damping"}};
  std::size_t sensor = 0;
  for (std::size_t i = 0; i < mechanism.joints.size(); ++i) {
    const estimator::Joint& joint = mechanism.joints[i];
    const JointProperties& facts = rig.joint_properties[i];
    if (joint.is_compound()) {
      ++sensor;
      if (joint.place > 0) continue;
      joints.push_back({compound_name(joint), body_name(mechanism, joint.body_a),
                        body_name(mechanism, joint.body_b), "pose", "-", "-", "-"});
      continue;
    }
    joints.push_back({joint.name, body_name(mechanism, joint.body_a),
                      body_name(mechanism, joint.body_b),
                      joint.measured ? describe_counts(rig.encoders[sensor++]) : "-",
                      joint.motor.present ? "in " + facts.control_unit : "-",
                      format_number(joint.spook.compliance_linear) + " m/N, " +
                          format_number(joint.spook.compliance_angular) + " rad/(N·m)",
                      joint.spook.damping_time == estimator::SpookRegularization::kAutomaticDamping
                          ? std::string("step/4")
                          : format_number(joint.spook.damping_time) + " s"});
  }
  text += format_table(joints, std::vector<bool>(7, false)) + '\n';
  if (!mechanism.mimic_joints.empty()) {
    TableRows mimic_joints = {{"joint", "mimic of", "ratio", "offset"}};
    for (const estimator::MimicJoint& each : mechanism.mimic_joints) {
      const estimator::Joint& own = mechanism.joints[static_cast<std::size_t>(each.joint)];
      mimic_joints.push_back({own.name,
                              mechanism.joints[static_cast<std::size_t>(each.follows)].name,
                              format_number(each.ratio, 6),
                              format_number(each.offset, 6) + " " + own.units().coordinate});
    }
    text += format_table(mimic_joints, std::vector<bool>(4, false)) + '\n';
  }
  if (mechanism.count_encoders_between_bodies() > 0) {
    TableRows encoders = {{"encoder", "of", "against", "reads", "resolution"}};
    for (const estimator::BodyEncoder& encoder : mechanism.body_encoders) {
      encoders.push_back({encoder.name, body_name(mechanism, encoder.body_b),
                          body_name(mechanism, encoder.body_a), describe_terms(mechanism, encoder),
                          describe_counts(rig.encoders[sensor++])});
    }
    text += format_table(encoders, std::vector<bool>(5, false)) + '\n';
  }
  return text;
}

/// Returns a text table of a mechanism's parameters with values, units, bounds and priors.
/// @param all  include parameters fixed at zero or without effect; otherwise give only their number
std::string parameter_table(const estimator::Mechanism& mechanism, bool all) {
  TableRows rows = {{"parameter", "value", "unit", "estimated", "lower", "upper", "prior"}};
  const std::vector<bool> idle = idle_parameters(mechanism);
  std::vector<TableQuantity> quantities;
  for (const estimator::Parameter& each : mechanism.parameters) {
    quantities.push_back({each.value, 0.0, each.unit});
  }
  const std::vector<TableNotation> notations = make_table_notations(quantities);
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    const estimator::Parameter& parameter = mechanism.parameters[i];
    const TableNotation& notation = notations[i];
    if (idle[i] && !all) continue;
    const TableNotation prior =
        notation.with(parameter.prior_mean, parameter.prior_standard_deviation);
    rows.push_back({parameter.name, notation.number_text(parameter.value, 6), notation.unit(),
                    parameter.free                         ? "free"
                    : is_dependent_parameter(mechanism, i) ? "dependent"
                    : parameter.tolerance > 0.0
                        ? "fixed ± " + format_number(100.0 * parameter.tolerance, 3) + " %"
                        : "",
                    notation.number_text(parameter.lower), notation.number_text(parameter.upper),
                    has_prior(parameter) ? prior.value() + " ± " + prior.deviation_text() : ""});
  }
  std::string text = format_table(rows, {false, true, false, false, true, true, false});
  const auto count = std::ranges::count(idle, true);
  if (count > 0 && !all) {
    text += "\n" + std::to_string(count) +
            " more parameters are fixed at zero or without effect; add --all to list them.\n";
  }
  return text;
}

/// Returns a text table of the base parameters, the identifiable combinations of the mechanism's
/// inertial parameters, with their values in the rig file. The text also lists parameters without
/// effect on the motion, and says whether a torque is known.
std::string base_parameter_table(const estimator::Mechanism& mechanism) {
  const estimator::BaseInertialParameters base =
      estimator::find_base_inertial_parameters(mechanism);
  const Eigen::VectorXd values = estimator::standard_parameter_values(mechanism);
  std::vector<std::vector<std::string>> rows = {{"base parameter", "value", "unit"}};
  for (const estimator::BaseParameter& each : base.base) {
    const estimator::ParameterCombination reported =
        estimator::evaluate_base_parameter(base, each, values);
    rows.push_back({reported.description, format_number(reported.value, 4), reported.unit});
  }
  std::string text = fmt::format(
      "\nIf every joint is measured, {} combinations of the {} inertial parameters are "
      "identifiable:\n\n{}\n"
      "m is a body's mass, mc its first moment and I its inertia about the joint that carries it,\n"
      "along the body's axes.",
      base.base.size(), base.standard.size(), format_table(rows, {false, true, false}));
  if (!base.without_effect.empty()) {
    text += " Without effect on the motion:";
    for (const int index : base.without_effect) {
      text += " " + base.standard[static_cast<std::size_t>(index)].name;
    }
    text += ".";
  }
  text += "\n";
  if (!estimator::has_known_torque(mechanism)) {
    text +=
        "No absolute torque is known (no motor gain, spring or constant torque is fixed), so only\n"
        "ratios of these parameters and torques are identifiable. Fix one of them, for example a\n"
        "weighed mass.\n";
  }
  return text;
}

struct InfoOptions {
  std::string file;
  std::string rig;
  std::string topic;    ///< topic of a ROS 2 bag; empty: none chosen
  std::string values;   ///< result file with the rig's parameter values; empty: as in the rig file
  std::string picture;  ///< picture file to write, or "-" for the terminal; empty: no picture
  std::vector<std::string> places;  ///< joint positions in the picture; others: at rest
  bool base = false;                ///< list the identifiable combinations of inertias
  bool all = false;                 ///< also list parameters that are fixed at zero
};

// A picture on a terminal leaves room for the text below it.
constexpr int kPictureColumnsMax = 100;
constexpr int kPictureRowsMax = 32;

std::vector<std::string> statistics_row(const std::string& name,
                                        const std::vector<double>& values) {
  const ColumnStatistics statistics = compute_column_statistics(values);
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
  ImportedRecording imported = import_recording(options.file, rig, {.topic = options.topic});
  const ImportSummary& summary = imported.summary;
  std::cout << options.file << ": " << summary.rows << " rows at "
            << format_number(1.0 / summary.period, 6) << " Hz, "
            << (summary.has_several_clocks
                    ? "several clocks"
                    : "time stamps within " + format_number(100.0 * summary.jitter_max, 2) +
                          " % of a period")
            << '\n'
            << summary.gaps.size() << " gaps, " << summary.holes.rows << " missing rows elsewhere, "
            << summary.dropped_rows << " dropped rows\n\n";
  TableRows segments = {{"segment", "start [s]", "end [s]", "samples"}};
  for (const UsedSegment& use : keep_selected_part({}, imported)) {
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
  for (std::size_t j = 0; j < rig.joint_properties.size(); ++j) {
    const estimator::Joint& joint = rig.mechanism.joints[j];
    if (joint.motor.present) {
      add_signal(
          "control of joint " + joint.name + " [" + rig.joint_properties[j].control_unit + "]",
          [](const estimator::Segment& s) -> const auto& { return s.controls; }, control_column++);
    }
  }
  std::cout << format_table(rows, kStatisticsRight);
  for (const std::string& note : summary.notes) std::cout << "note: " << note << '\n';
}

void print_columns(const std::string& path, const std::string& topic) {
  TableRows rows = kStatisticsHead;
  std::size_t row_count = 0;
  const RecordingColumns recording = read_recording_columns(path, {}, topic);
  for (const NamedColumn& column : recording.columns) {
    row_count = std::max(row_count, column.values.size());
    const bool words = std::ranges::find(recording.texts, column.name) != recording.texts.end();
    rows.push_back(column.values.empty()
                       ? std::vector<std::string>{column.name, words ? "text" : "-"}
                       : statistics_row(column.name, column.values));
  }
  std::cout << path << ": " << row_count << " rows\n\n" << format_table(rows, kStatisticsRight);
  if (!recording.others.empty()) {
    std::cout << "\nNot columns:\n";
    for (const auto& [name, reason] : recording.others) {
      std::cout << "  \"" << name << "\" " << reason << '\n';
    }
  }
  for (const std::string& note :
       {recording.layout, recording.others.empty() ? recording.fault : std::string()}) {
    if (!note.empty()) std::cout << "note: " << note << '\n';
  }
  std::cout << "\nAdd --rig FILE to show the rate, gaps and segments, too.\n";
}

void print_picture(const InfoOptions& options, const Rig& rig) {
  std::vector<RequestedCoordinate> places;
  for (const std::string& text : options.places) places.push_back(parse_joint_coordinate(text));
  const RigPicture picture(rig, places);
  std::cout << '\n';
  if (options.picture == "-") {
    const int columns = std::min(terminal_size(STDOUT_FILENO).columns, kPictureColumnsMax);
    std::cout << picture.text(columns, kPictureRowsMax, detect_terminal_character_set()) << '\n';
  } else if (!options.picture.empty()) {
    write_picture_file(options.picture, picture.svg());
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
    throw proto::InputError("--picture applies to rig files; {} is not a rig file", options.file);
  }
  if (options.picture == "-") return;
  check_picture_path(options.picture);
  std::vector<std::string> inputs = {options.file};
  if (!options.values.empty()) inputs.push_back(options.values);
  proto::check_output_file(options.picture, inputs);
}

/// Prints the contents of a recording for which no rig file is given.
void print_file(const std::string& path, const std::string& topic) {
  if (!topic.empty()) return print_columns(path, topic);
  switch (detect_file_format(path)) {
    case RecordingFileFormat::kStateMcap:
      throw proto::InputError(
          "{}: contains states that rigcal estimated; add --rig FILE with the rig file to read it",
          path);
    case RecordingFileFormat::kJson:
      return print_result_file(path);
    case RecordingFileFormat::kDaqMcap: {
      const auto info = proto::inspect_recording(path);
      if (!info.ok()) throw proto::InputError(info.error().detail);
      std::cout << path << '\n' << proto::to_text(info.value());
      return;
    }
    default:
      print_columns(path, topic);
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
    throw proto::InputError(
        "--parameters: shows a rig file with the values of a result; {} is not a rig file",
        options.file);
  }
  if (!options.topic.empty() && is_rig_file(options.file)) {
    throw proto::InputError("--topic applies to ROS 2 bags; " + options.file + " is a rig file");
  }
  if (is_rig_file(options.file)) {
    Rig rig = load_rig(options.file);
    apply_parameter_values(read_parameter_values(options.values), rig.mechanism);
    std::cout << rig_summary(rig);
    if (options.base) {
      std::cout << base_parameter_table(rig.mechanism);
    } else {
      std::cout << '\n' << joint_tables(rig) << parameter_table(rig.mechanism, options.all);
    }
    if (!rig.incomplete_safety.empty()) {
      std::cout << "\nnote: rigcal-daq refuses to drive this rig: " << rig.incomplete_safety
                << '\n';
    }
    print_picture(options, rig);
  } else if (!options.rig.empty()) {
    print_recording(options);
  } else {
    print_file(options.file, options.topic);
  }
}

void add_options(CLI::App& command, InfoOptions& options) {
  add_option(command, "file", options.file, "FILE",
             "Recording (CSV, MCAP, MAT, HDF5, NumPy, ROS 2 bag), rig file or result (JSON)")
      ->required();
  add_option(command, "--rig", options.rig, "FILE", "Read the recording with this rig file");
  add_topic_option(command, options.topic);
  add_parameter_values_option(
      command, options.values,
      "Show the rig file with the parameter values of this result (rigcal calibrate --json)");
  add_option(command, "--picture", options.picture, "FILE",
             "Draw the rig of a rig file: SVG, PNG or PDF (with rsvg-convert), "
             "or - for the terminal");
  add_option(command, "--at", options.places, "NAME=VALUE",
             "Draw this joint at VALUE [rad or m], or at VALUEdeg; the others at rest")
      ->allow_extra_args(false);
  command.add_flag(
      "--base", options.base,
      "List the identifiable combinations of a rig's inertial parameters (base parameters)");
  command.add_flag("--all", options.all,
                   "Also list parameters that are fixed at zero or without effect");
}

}  // namespace

void add_info(CLI::App& app, ExitCode& exit_code) {
  add_command<InfoOptions>(
      app, exit_code, "info", "Show the contents of a recording, a rig file or a result",
      "The noise is the standard deviation of white noise on a column, from third differences.\n"
      "Examples:\n"
      "  rigcal info run.mcap\n"
      "  rigcal info run.csv\n"
      "  rigcal info run.csv --rig configs/rig-furuta.textproto\n"
      "  rigcal info run.json\n"
      "  rigcal info configs/rig-furuta.textproto\n"
      "  rigcal info configs/rig-furuta.textproto --picture rig.svg --at 2=30deg",
      show_info);
}

}  // namespace service
