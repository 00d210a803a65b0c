#include "service/work/slurm/slurm_commands.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "proto/text/command_line/other_program.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/temporary_folder.hpp"

namespace service {
namespace {

/// Time after which a command that does not end is stopped. Slurm's own commands give up after
/// some ten seconds if the controller does not answer.
constexpr std::chrono::seconds kCommandTime(120);

struct CommandAnswer {
  int status = 0;
  std::string output;
};

CommandAnswer run_slurm_command(const std::vector<std::string>& command) {
  const proto::TemporaryFolder folder;
  const std::string output = folder.file("output");
  const auto end = std::chrono::steady_clock::now() + kCommandTime;
  const int status = proto::run_program(
      command, [&] { return std::chrono::steady_clock::now() > end; }, output);
  return {status, proto::read_file(output)};
}

/// Returns the rest of the line after the last "error: " of an answer.
std::string reason_of(const CommandAnswer& answer) {
  const std::size_t mark = answer.output.rfind("error: ");
  std::string reason = mark == std::string::npos ? answer.output : answer.output.substr(mark + 7);
  reason.resize(std::min(reason.find('\n'), reason.size()));
  return reason.empty() ? "exit status " + std::to_string(answer.status) : reason;
}

/// Returns a path in which Slurm replaces nothing.
std::string without_placeholders(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '%' ? std::string("%%") : std::string(1, c);
  return text;
}

}  // namespace

SlurmCommands::SlurmCommands(std::string name) : name_(std::move(name)) {
  for (const char* program : {"sbatch", "squeue", "scancel"}) {
    if (proto::find_installed_program({program}).empty()) {
      throw proto::InputError(std::string("Slurm's command ") + program +
                              " is not in PATH; run rigcal on a machine that submits jobs to the "
                              "cluster, or leave out --executor slurm");
    }
  }
}

std::string SlurmCommands::submit(const SlurmSettings& settings, const std::string& folder,
                                  const std::string& script, std::size_t count) const {
  proto::write_file(folder + "/script", script);
  std::vector<std::string> command = {"sbatch",
                                      "--parsable",
                                      "--array=0-" + std::to_string(count - 1),
                                      "--job-name=" + name_,
                                      "--output=" + without_placeholders(folder) + "/%a.out",
                                      "--open-mode=append",
                                      "--requeue",
                                      "--ntasks=1",
                                      "--cpus-per-task=" + std::to_string(settings.cpus)};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) command.push_back(option + ("=" + value));
  };
  const auto number = [](int value) { return value > 0 ? std::to_string(value) : std::string(); };
  add("--partition", settings.partition);
  add("--account", settings.account);
  add("--time", number(settings.time_min));
  add("--mem", number(settings.memory_MB));
  command.push_back(folder + "/script");
  const CommandAnswer answer = run_slurm_command(command);
  if (answer.status != 0) {
    throw proto::InputError("Slurm refuses the tasks: " + reason_of(answer) +
                            "; correct the options of --executor slurm, see \"sinfo\"");
  }
  return parse_slurm_job(answer.output);
}

std::optional<std::vector<SlurmTask>> SlurmCommands::list(const std::string& job) const {
  const CommandAnswer answer =
      run_slurm_command({"squeue", "--noheader", "--states=all", "--jobs=" + job,
                         std::string("--format=") + kSlurmTaskFormat});
  if (answer.status == 0) return parse_slurm_tasks(answer.output, job);
  if (answer.output.find("Invalid job id") != std::string::npos) return std::vector<SlurmTask>();
  return std::nullopt;
}

void SlurmCommands::cancel() const noexcept {
  try {
    run_slurm_command({"scancel", "--quiet", "--jobname=" + name_});
  } catch (const std::exception&) {
    // Without the controller, the tasks end by themselves, and their results are kept.
  }
}

}  // namespace service
