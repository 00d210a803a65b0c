#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/client/command.hpp"
#include "service/import/rig_file.hpp"
#include "service/import/robot/robot_file.hpp"
#include "service/import/robot/robot_rig.hpp"

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
        "--floating: is of URDF files; a MuJoCo model says itself which bodies are free");
  }
  const RigText rig =
      write_rig(robot, {.source = std::filesystem::path(options.source).filename().string(),
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
            << read.mechanism.hinges.size() << " joints that move; see rigcal info " << options.out
            << '\n';
}

}  // namespace

void add_import(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command =
      app.add_subcommand("import", "Make a rig file of a robot's URDF or MJCF file");
  const auto options = std::make_shared<ImportOptions>();
  command->add_option("robot", options->source, "Robot's description (URDF, or MJCF of MuJoCo)")
      ->required()
      ->type_name("FILE");
  command->add_option("--out", options->out, "Rig file to write; default: print it")
      ->type_name("FILE");
  command->add_flag("--floating", options->floating,
                    "The base of a URDF file moves freely, by three slides and three turns; "
                    "default: it is part of the ground");
  command->add_flag("--no-friction", options->no_friction,
                    "Keep friction as the file has it; default: that of every joint is to be "
                    "estimated");
  command->footer(
      "Links become bodies, with masses, centres and inertias; joints get encoders, motors where "
      "an\n"
      "effort is stated, and limits. Meshes are passed over; what rig files cannot say is told.\n"
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
