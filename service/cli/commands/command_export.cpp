#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "proto/recording/export/export_csv.hpp"
#include "proto/recording/export/export_mat.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/cli/command.hpp"
#include "service/cli/recording_notes.hpp"
#include "service/cli/rig_files.hpp"
#include "service/options/parameter_values.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/recordings/formats/recording_csv.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/recordings/formats/recording_kind.hpp"

namespace service {
namespace {

struct ExportOptions {
  std::string source;
  std::vector<std::string> out;
  std::string rig;     ///< rig file used to read the recording; empty: none
  std::string values;  ///< result file that provides the rig's parameter values; empty: none
};

using Exporter = proto::Result<proto::RecordingScan> (*)(const std::string&, const std::string&);

Exporter exporter_of(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".csv") return proto::export_csv;
  if (extension == ".mat") return proto::export_mat;
  throw proto::InputError(
      path + ": a recording can be exported as .csv or .mat; use one of these endings");
}

void export_rig(const ExportOptions& options) {
  std::vector<std::string> inputs = {options.source};
  if (!options.values.empty()) inputs.push_back(options.values);
  for (const std::string& path : options.out) {
    if (!is_robot_file(path)) {
      throw proto::InputError(path +
                              ": a rig file can be exported as .urdf, or as a MuJoCo model (.xml, "
                              ".mjcf); use one of these endings");
    }
    proto::check_output(path, inputs);
  }
  Rig rig = load_rig(options.source);
  apply_values(read_parameter_values(options.values), rig.mechanism);
  std::vector<std::string> remarks = {"Made of " +
                                      std::filesystem::path(options.source).filename().string() +
                                      " by rigcal " RIGCAL_VERSION};
  if (!options.values.empty()) {
    remarks.push_back("with the values of " + options.values + ", which contains their covariance");
  }
  for (const std::string& path : options.out) {
    write_robot(path, rig, remarks);
    std::cout << path << ": " << rig.mechanism.bodies.size() << " bodies\n";
  }
}

void export_recording(const ExportOptions& options) {
  for (const std::string& path : options.out) {
    exporter_of(path);
    proto::check_output(path, {options.source});
  }
  for (const std::string& path : options.out) {
    const auto scan = exporter_of(path)(options.source, path);
    if (!scan.ok()) throw proto::InputError(scan.error().detail);
    std::cout << path << ": " << scan.value().sample_count << " samples\n";
    if (path == options.out.front()) print_damage(scan.value().container, std::cerr);
  }
}

/// Exports a recording as the rig file interprets it, with the columns that the rig file names.
void export_as_read(const ExportOptions& options) {
  for (const std::string& path : options.out) {
    if (!path.ends_with(".csv")) {
      throw proto::InputError(
          path + ": a recording read with --rig can be exported only as .csv; use this ending");
    }
    proto::check_output(path, {options.source, options.rig});
  }
  const Rig rig = load_rig(options.rig);
  const ImportedRecording imported = import_recording(options.source, rig);
  for (const std::string& note : describe_import(imported.summary)) {
    std::cerr << "note: " << note << '\n';
  }
  for (const std::string& loss : csv_losses(rig, imported.recording)) {
    std::cerr << "note: " << loss << '\n';
  }
  const std::string text = recording_csv(rig, imported.recording);
  for (const std::string& path : options.out) {
    proto::write_file(path, text);
    std::cout << path << ": " << std::ranges::count(text, '\n') - 1 << " samples\n";
  }
}

void export_source(const ExportOptions& options) {
  const std::string& source = options.source;
  if (is_rig_file(source)) {
    if (options.rig.empty()) return export_rig(options);
    throw proto::InputError("--rig applies to recordings; " + source + " is a rig file");
  }
  if (!options.values.empty()) {
    throw proto::InputError("--parameters applies to rig files; " + source + " is not a rig file");
  }
  if (!options.rig.empty()) return export_as_read(options);
  const RecordingKind kind = recording_kind(source);
  if (kind == RecordingKind::kDaqMcap) return export_recording(options);
  refuse_unsupported_kind(source, kind);
  throw proto::InputError(source +
                          ": neither a rigcal-daq recording (MCAP) nor a rig file. For another "
                          "recording add --rig RIG, which writes the rig file's columns");
}

}  // namespace

void add_export(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command = app.add_subcommand(
      "export", "Write a recording as CSV or MAT file, or a rig as URDF or MJCF file");
  const auto options = std::make_shared<ExportOptions>();
  command
      ->add_option("source", options->source,
                   "Recording of rigcal-daq, finished or not; with --rig any other; or a rig file")
      ->required()
      ->type_name("RECORDING|RIG");
  command
      ->add_option(
          "--out", options->out,
          "File to write: .csv or .mat; for a rig .urdf, or .xml for MuJoCo; may be repeated")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--rig", options->rig,
                   "Read the recording with this rig file, in any format that calibrate reads, and "
                   "write the columns of its recording { }, or default ones")
      ->type_name("RIG");
  add_values_option(*command, options->values, "Write the rig");
  command->footer(
      "One row per sample: time, angles, output, segment, and the counts, validity and status "
      "that\n"
      "the unit sent. The segment number increases where samples are missing. A rig is exported\n"
      "with bodies, joints, friction, motors and limits; elements that the format cannot "
      "represent\n"
      "are listed.\n"
      "Examples:\n"
      "  rigcal export run.mcap --out run.csv\n"
      "  rigcal export run.mcap --out run.csv --out run.mat\n"
      "  rigcal export bag.mcap --rig rig.textproto --out run.csv\n"
      "  rigcal export rig.textproto --parameters run.json --out rig.urdf --out rig.xml");
  command->callback([options, &exit_code] {
    export_source(*options);
    exit_code = kDone;
  });
}

}  // namespace service
