#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/cli/command.hpp"
#include "service/rig/rig_file.hpp"
#include "service/rig/robot/robot.hpp"

namespace service {
namespace {

struct ImportOptions {
  std::string source;
  std::string out;
  bool floating = false;
  bool no_friction = false;
};

void import_robot(const ImportOptions& options) {
  if (!options.out.empty()) proto::check_output(options.out, {options.source});
  const Robot robot = parse_robot(options.source, proto::read_file(options.source));
  if (options.floating && robot.gravity) {
    throw proto::InputError(
        "--floating applies to URDF files; a MuJoCo model specifies its free bodies");
  }
  const ConvertedRig rig =
      convert_robot(robot, {.source = std::filesystem::path(options.source).filename().string(),
                            .floating = options.floating,
                            .friction = !options.no_friction});
  for (const std::string& note : rig.notes) std::cerr << "note: " << note << '\n';
  const std::string name = options.out.empty() ? "the rig file" : options.out;
  const Rig read = parse_rig(name, rig.text);  // checks that the written file can be loaded
  if (options.out.empty()) {
    std::cout << rig.text;
    return;
  }
  proto::write_file(options.out, rig.text);
  std::cout << options.out << ": " << read.mechanism.bodies.size() << " bodies, "
            << read.mechanism.joints.size() << " joints that move; see rigcal info " << options.out
            << '\n';
}

}  // namespace

void add_import(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command =
      app.add_subcommand("import", "Convert a robot's URDF or MJCF file to a rig file");
  const auto options = std::make_shared<ImportOptions>();
  command->add_option("robot", options->source, "Robot's description (URDF, or MJCF of MuJoCo)")
      ->required()
      ->type_name("FILE");
  command->add_option("--out", options->out, "Rig file to write; default: print it")
      ->type_name("FILE");
  command->add_flag(
      "--floating", options->floating,
      "Give the base of a URDF file six degrees of freedom; default: fix it to the ground");
  command->add_flag(
      "--no-friction", options->no_friction,
      "Fix friction at the file's values; default: estimate the friction of every joint");
  command->footer(
      "Links become bodies with masses, centres and inertias. Joints get encoders and limits, and\n"
      "motors if they have an effort. Meshes are ignored; elements that a rig file cannot\n"
      "represent are listed.\n"
      "Examples:\n"
      "  rigcal import arm.urdf --out arm.textproto\n"
      "  rigcal import quadruped.urdf --floating --out quadruped.textproto\n"
      "  rigcal import hopper.xml --out hopper.textproto\n"
      "The way back: rigcal export, and calibrate --urdf-out.");
  command->callback([options, &exit_code] {
    import_robot(*options);
    exit_code = kDone;
  });
}

}  // namespace service
