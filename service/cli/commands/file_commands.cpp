#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "proto/recording/export/export_csv.hpp"
#include "proto/recording/export/export_mat.hpp"
#include "proto/recording/mcap/mcap_reader.hpp"
#include "proto/recording/recording_recover.hpp"
#include "proto/text/command_line/command_line.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/cli/command.hpp"
#include "service/cli/rig_files.hpp"
#include "service/options/parameter_values.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/rig/code/model_export.hpp"
#include "service/rig/drawing/rig_picture.hpp"
#include "service/rig/rig_file.hpp"
#include "service/rig/robot/robot.hpp"

namespace service {
namespace {

/// Prints notes on the damage of a recording file. Prints nothing if the file is finished and
/// intact.
void print_damage(const proto::McapScan& scan, std::ostream& out) {
  if (!scan.finished) out << "note: the recording is truncated; it was read up to the cut\n";
  if (scan.damaged_chunk_count > 0 || scan.skipped_bytes > 0) {
    out << "note: " << scan.damaged_chunk_count << " damaged chunks skipped, " << scan.skipped_bytes
        << " bytes skipped\n";
  }
  for (const std::string& problem : scan.problems) out << "note: " << problem << '\n';
}

struct ExportOptions {
  std::string source;
  std::vector<std::string> out;
  std::string rig;     ///< rig file used to read the recording; empty: none
  std::string values;  ///< result file that provides the rig's parameter values; empty: none
  std::string topic;   ///< topic of a ROS 2 bag; empty: none chosen
  bool force = false;  ///< overwrite robot descriptions
};

using Exporter = proto::Result<proto::RecordingScan> (*)(const std::string&, const std::string&);

Exporter exporter_of(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".csv") return proto::export_csv;
  if (extension == ".mat") return proto::export_mat;
  throw proto::InputError(
      "{}: a recording can be exported as .csv or .mat; use one of these endings", path);
}

void export_rig(const ExportOptions& options) {
  std::vector<std::string> inputs = {options.source};
  if (!options.values.empty()) inputs.push_back(options.values);
  for (const std::string& path : options.out) {
    if (!is_robot_file(path) && !is_model_file(path)) {
      throw proto::InputError(
          "{}: the file name has no ending of a supported format. "
          "Use .urdf, or .xml or .mjcf for MuJoCo. "
          "For equations of motion, use .c, .fmu, or .py for CasADi",
          path);
    }
    proto::check_output_file(path, inputs);
    if (is_robot_file(path)) proto::check_overwriting(path, options.force);
  }
  Rig rig = load_rig(options.source);
  apply_parameter_values(read_parameter_values(options.values), rig.mechanism);
  std::vector<std::string> remarks = {"Made of " +
                                      std::filesystem::path(options.source).filename().string() +
                                      " by rigcal " RIGCAL_VERSION};
  if (!options.values.empty()) {
    remarks.push_back("with the values of " + options.values + ", which contains their covariance");
  }
  for (const std::string& path : options.out) {
    if (is_robot_file(path)) {
      write_robot_description(path, rig, remarks);
      std::cout << path << ": " << rig.mechanism.bodies.size() << " bodies\n";
      continue;
    }
    for (const std::string& note : write_model(path, rig, remarks)) {
      std::cerr << "note: " << note << '\n';
    }
    std::cout << fmt::format("{}: equations of motion, number of joints: {}\n", path,
                             rig.mechanism.joints.size());
  }
}

void export_recording(const ExportOptions& options) {
  for (const std::string& path : options.out) {
    exporter_of(path);
    proto::check_output_file(path, {options.source});
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
          "{}: a recording read with --rig can be exported only as .csv; use this ending", path);
    }
    proto::check_output_file(path, {options.source, options.rig});
  }
  const Rig rig = load_rig(options.rig);
  const ImportedRecording imported =
      import_recording(options.source, rig, {.topic = options.topic});
  for (const std::string& note : describe_import(imported.summary)) {
    std::cerr << "note: " << note << '\n';
  }
  for (const std::string& loss : list_csv_losses(rig, imported.recording)) {
    std::cerr << "note: " << loss << '\n';
  }
  const std::string text = format_recording_csv(rig, imported.recording);
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
  if (!options.topic.empty()) throw proto::InputError("--topic needs --rig RIG; add it");
  const RecordingFileFormat kind = detect_file_format(source);
  if (kind == RecordingFileFormat::kDaqMcap) return export_recording(options);
  reject_unsupported_format(source, kind);
  throw proto::InputError(
      "{}: neither a rigcal-daq recording (MCAP) nor a rig file. For another recording "
      "add --rig RIG to write the columns that the rig file specifies",
      source);
}

void add_options(CLI::App& command, ExportOptions& options) {
  add_option(command, "source", options.source, "RECORDING|RIG",
             "Recording of rigcal-daq, complete or not; with --rig any recording; or a rig file")
      ->required();
  add_option(command, "--out", options.out, "FILE",
             "File to write: .csv or .mat. For a rig: .urdf, or .xml for MuJoCo; "
             "for its equations of motion .c, .fmu, or .py for CasADi. May be repeated")
      ->required();
  add_option(command, "--rig", options.rig, "RIG",
             "Read the recording with this rig file, in any format that calibrate reads. Write "
             "the columns that recording { } of the rig file lists, or default columns");
  add_topic_option(command, options.topic);
  add_parameter_values_option(
      command, options.values,
      "Write the rig with the parameter values of this result (rigcal calibrate --json)");
  command.add_flag("--force", options.force, "Overwrite an existing robot description");
}

struct ImportOptions {
  std::string source;
  std::string out;
  bool force = false;  ///< overwrite `out`
  bool floating = false;
  bool no_friction = false;
  std::vector<std::string> joints;     ///< joints that move; empty: all
  std::vector<std::string> positions;  ///< of joints that do not move
  double length_scale = 1.0;
  double inertia_scale = 1.0;
};

/// Throws an error if the base of a robot is not free to move.
void check_floating(const Robot& robot, const std::string& source) {
  if (robot.gravity) {
    throw proto::InputError(
        "--floating applies to URDF files; a MuJoCo model specifies its free bodies");
  }
  if (robot.links[robot.root].name == "world") {
    throw proto::InputError(
        "{}: the robot is attached to the link \"world\", which does not move; "
        "leave out --floating, or remove the joint from the file",
        source);
  }
}

void import_robot(const ImportOptions& options) {
  if (!options.out.empty()) {
    proto::check_output_file(options.out, {options.source});
    proto::check_overwriting(options.out, options.force);
  }
  const Robot robot = parse_robot(options.source, proto::read_file(options.source));
  if (options.floating) check_floating(robot, options.source);
  if (!options.positions.empty() && options.joints.empty()) {
    throw proto::InputError("--at applies to joints that --joints fixes; add --joints NAME,...");
  }
  std::map<std::string, double> positions;
  for (const std::string& text : options.positions) {
    const RequestedCoordinate position = parse_joint_coordinate(text);
    positions[position.name] = position.value;
  }
  const ConvertedRigText rig = convert_robot_to_rig(
      robot, {.source = std::filesystem::path(options.source).filename().string(),
              .floating = options.floating,
              .friction = !options.no_friction,
              .joints = options.joints,
              .positions = positions,
              .length_scale = options.length_scale,
              .inertia_scale = options.inertia_scale});
  for (const std::string& note : rig.notes) std::cerr << "note: " << note << '\n';
  std::cerr << "note: " << rig.gravity << '\n';
  const std::string name = options.out.empty() ? "the rig file" : options.out;
  const Rig read = parse_rig(name, rig.text);  // checks that the written file can be loaded
  if (options.out.empty()) {
    std::cout << rig.text;
    return;
  }
  proto::write_file(options.out, rig.text);
  const auto counted = [](std::size_t count, const char* one, const char* many) {
    return std::to_string(count) + (count == 1 ? one : many);
  };
  std::cout << options.out << ": " << counted(read.mechanism.bodies.size(), " body, ", " bodies, ")
            << counted(read.mechanism.joints.size(), " moving joint", " moving joints")
            << "; see rigcal info " << options.out << '\n';
}

void add_options(CLI::App& command, ImportOptions& options) {
  add_option(command, "robot", options.source, "FILE",
             "Robot's description (URDF, or MJCF of MuJoCo)")
      ->required();
  add_option(command, "--out", options.out, "FILE", "Rig file to write; default: print it");
  command.add_flag("--force", options.force, "Overwrite an existing file");
  add_option(command, "--joints", options.joints, "NAME,...",
             "Joints that move, together with joints that mimic them; all others are fixed at "
             "zero. Default: all")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_option(command, "--at", options.positions, "JOINT=VALUE",
             "Fix a joint that --joints does not list at this position in rad or m, or in "
             "degrees (elbow=90deg); may be given several times")
      ->allow_extra_args(false);
  add_option(command, "--scale-length", options.length_scale, "FACTOR",
             "Multiply all lengths, for example by 0.001 if the file is in mm; default: 1")
      ->check(proto::positive_number());
  add_option(command, "--scale-inertia", options.inertia_scale, "FACTOR",
             "Multiply all inertias, for example by 1e-9 if they are in g·mm²; default: 1")
      ->check(proto::positive_number());
  command.add_flag(
      "--floating", options.floating,
      "Give the base of a URDF file six degrees of freedom; default: fix it to the ground");
  command.add_flag(
      "--no-friction", options.no_friction,
      "Fix friction at the file's values; default: estimate the friction of every joint");
}

struct RecoverOptions {
  std::string source;
  std::string out;
};

void recover(const RecoverOptions& options) {
  const std::string destination =
      options.out.empty() ? proto::default_recovery_path(options.source) : options.out;
  const auto recovery = proto::recover_recording(options.source, destination);
  if (!recovery.ok()) throw proto::InputError(recovery.error().detail);
  const proto::McapScan& scan = recovery.value().source;
  print_damage(scan, std::cerr);
  std::cout << fmt::format("{}: {} messages of {} intact chunks, read back and compared\n",
                           recovery.value().written_to, scan.message_count,
                           scan.intact_chunk_count);
}

void add_options(CLI::App& command, RecoverOptions& options) {
  add_option(command, "recording", options.source, "MCAP", "Recording, .mcap.part or .mcap")
      ->required();
  add_option(command, "--out", options.out, "MCAP",
             "Recording to write; default: RECORDING.recovered.mcap");
}

}  // namespace

void add_export(CLI::App& app, ExitCode& exit_code) {
  add_command<ExportOptions>(
      app, exit_code, "export",
      "Write a recording as CSV or MAT file, or a rig as URDF, MJCF, C source or FMU",
      "One row per sample: time, angles, output, segment,\n"
      "and the counts, validity and status that the unit sent.\n"
      "The segment number increases where samples are missing.\n"
      "A rig is exported with bodies, joints, friction, motors and limits.\n"
      "Elements that the format cannot represent are listed.\n"
      "C source, FMUs (FMI 2.0, co-simulation) and modules for CasADi contain the equations of\n"
      "motion of rigs without loops, and their parameters as arguments.\n"
      "Examples:\n"
      "  rigcal export run.mcap --out run.csv\n"
      "  rigcal export run.mcap --out run.csv --out run.mat\n"
      "  rigcal export bag.mcap --rig rig.textproto --out run.csv\n"
      "  rigcal export rig.textproto --parameters run.json --out rig.urdf --out rig.xml\n"
      "  rigcal export rig.textproto --parameters run.json --out rig.c --out rig.fmu",
      export_source);
}

void add_import(CLI::App& app, ExitCode& exit_code) {
  add_command<ImportOptions>(
      app, exit_code, "import", "Convert a robot's URDF or MJCF file to a rig file",
      "Links become bodies with masses, centres and inertias. Joints get encoders and limits, and\n"
      "motors if they have an effort. Meshes are ignored; elements that a rig file cannot\n"
      "represent are listed, and so are impossible values and probable units other than m and\n"
      "kg·m².\n"
      "Examples:\n"
      "  rigcal import arm.urdf --out arm.textproto\n"
      "  rigcal import humanoid.urdf --joints hip,knee,ankle --out leg.textproto\n"
      "  rigcal import quadruped.urdf --floating --out quadruped.textproto\n"
      "  rigcal import hopper.xml --out hopper.textproto\n"
      "To convert a rig file back, use rigcal export or calibrate --urdf-out.",
      import_robot);
}

void add_recover(CLI::App& app, ExitCode& exit_code) {
  add_command<RecoverOptions>(
      app, exit_code, "recover", "Repair a truncated or damaged recording",
      "The recording is not changed, and no file is overwritten. A crash loses at most the last\n"
      "quarter of a second.\n"
      "Example:\n"
      "  rigcal recover run.mcap.part",
      recover);
}

}  // namespace service
