#include <iostream>
#include <memory>
#include <string>

#include "proto/recording/recording_recover.hpp"
#include "proto/text/input_error.hpp"
#include "service/cli/command.hpp"
#include "service/cli/recording_notes.hpp"

namespace service {
namespace {

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
  std::cout << recovery.value().written_to << ": " << scan.message_count << " messages of "
            << scan.intact_chunk_count << " intact chunks, read back and compared\n";
}

}  // namespace

void add_recover(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command = app.add_subcommand("recover", "Repair a truncated or damaged recording");
  const auto options = std::make_shared<RecoverOptions>();
  command->add_option("recording", options->source, "Recording, .mcap.part or .mcap")
      ->required()
      ->type_name("MCAP");
  command
      ->add_option("--out", options->out,
                   "Recording to write (RECORDING.recovered.mcap unless given)")
      ->type_name("MCAP");
  command->footer(
      "The recording is not changed, and no file is overwritten. A crash loses at most the last\n"
      "quarter of a second.\n"
      "Example:\n"
      "  rigcal recover run.mcap.part");
  command->callback([options, &exit_code] {
    recover(*options);
    exit_code = kDone;
  });
}

}  // namespace service
