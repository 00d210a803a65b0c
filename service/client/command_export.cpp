#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "proto/recording/export_csv.hpp"
#include "proto/recording/export_mat.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/client/command.hpp"
#include "service/client/recording_notes.hpp"

namespace service {
namespace {

struct ExportOptions {
  std::string recording;
  std::vector<std::string> out;
};

using Exporter = proto::Result<proto::RecordingScan> (*)(const std::string&, const std::string&);

Exporter exporter_of(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".csv") return proto::export_csv;
  if (extension == ".mat") return proto::export_mat;
  throw proto::InputError(path + ": give a name that ends in .csv or .mat");
}

void export_recording(const ExportOptions& options) {
  for (const std::string& path : options.out) {
    exporter_of(path);
    proto::check_output(path, {options.recording});
  }
  for (const std::string& path : options.out) {
    const auto scan = exporter_of(path)(options.recording, path);
    if (!scan.ok()) throw proto::InputError(scan.error().detail);
    std::cout << path << ": " << scan.value().sample_count << " samples\n";
    if (path == options.out.front()) print_damage(scan.value().container, std::cerr);
  }
}

}  // namespace

void add_export(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command = app.add_subcommand("export", "Write a recording as CSV or MAT file");
  const auto options = std::make_shared<ExportOptions>();
  command->add_option("recording", options->recording, "Recording of rigcal-daq, finished or not")
      ->required()
      ->type_name("MCAP");
  command->add_option("--out", options->out, "File to write, .csv or .mat; may be repeated")
      ->required()
      ->type_name("FILE");
  command->footer(
      "One row a sample: time, angles, output, segment, and the counts, validity and status as "
      "the\n"
      "unit sent them. The segment goes up where samples are missing.\n"
      "Examples:\n"
      "  rigcal export run.mcap --out run.csv\n"
      "  rigcal export run.mcap --out run.csv --out run.mat");
  command->callback([options, &exit_code] {
    export_recording(*options);
    exit_code = kDone;
  });
}

}  // namespace service
