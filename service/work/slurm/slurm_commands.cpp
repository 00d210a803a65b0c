#include "service/work/slurm/slurm_commands.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "proto/text/command_line/other_program.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/temporary_folder.hpp"
#include "service/work/slurm/cached_command_output.hpp"

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

/// Returns whether a command has failed because the controller does not answer.
bool is_controller_silent(const CommandAnswer& answer) {
  const auto contains = [&](const char* part) {
    return answer.output.find(part) != std::string::npos;
  };
  return contains("Unable to contact slurm controller") || contains("Connection refused") ||
         contains("timed out") || contains("not responding");
}

/// Returns a path in which Slurm replaces nothing.
std::string without_placeholders(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '%' ? std::string("%%") : std::string(1, c);
  return text;
}

/// Calls squeue for the jobs that an option selects.
CommandAnswer run_squeue(const std::string& selection) {
  return run_slurm_command({"squeue", "--noheader", "--states=all", selection,
                            std::string("--format=") + kSlurmTaskFormat});
}

/// Content of a shared answer if the controller does not answer.
constexpr const char* kSilent = "silent";

/// Returns the lines of one job in the answer for all jobs of the user.
std::string lines_of_job(const std::string& job, const std::string& text) {
  std::string lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
    if (text.compare(start, job.size() + 1, job + "|") == 0)
      lines += text.substr(start, end - start);
    start = end;
  }
  return lines;
}

/// Jobs of one name, through Slurm's commands.
class SlurmCommands : public SlurmCluster {
 public:
  SlurmCommands(std::string name, const std::string& shared_states, double interval)
      : name_(std::move(name)) {
    require_slurm_commands();
    if (!shared_states.empty()) shared_.emplace(shared_states, interval);
  }

  std::optional<std::string> submit(const SlurmSettings& settings, const std::string& folder,
                                    const std::string& script, std::size_t count) override {
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
    if (answer.status == 0) return parse_slurm_job(answer.output);
    if (is_controller_silent(answer)) return std::nullopt;
    throw proto::InputError("Slurm refuses the tasks: " + reason_of(answer) +
                            "; correct the options of --executor slurm, see \"sinfo\"");
  }

  std::optional<std::vector<SlurmTask>> list(const std::string& job) override {
    if (shared_) return list_shared(job);
    const CommandAnswer answer = run_squeue("--jobs=" + job);
    if (answer.status == 0) return parse_slurm_tasks(answer.output, job);
    if (answer.output.find("Invalid job id") != std::string::npos) return std::vector<SlurmTask>();
    return std::nullopt;
  }

  void cancel() noexcept override {
    try {
      run_slurm_command({"scancel", "--quiet", "--jobname=" + name_});
    } catch (const std::exception&) {
      // Without the controller, the tasks end by themselves, and their results are kept.
    }
  }

 private:
  std::optional<std::vector<SlurmTask>> list_shared(const std::string& job) {
    const std::optional<std::string> text = shared_->read([] {
      const CommandAnswer answer = run_squeue("--me");
      return answer.status == 0 ? answer.output : std::string(kSilent);
    });
    // Since the first call, there has been no new answer, which could lack a new job.
    if (!text) return std::vector<SlurmTask>{{"0", "PENDING", "None"}};
    if (*text == kSilent) return std::nullopt;
    return parse_slurm_tasks(lines_of_job(job, *text), job);
  }

  std::string name_;
  std::optional<CachedCommandOutput> shared_;
};

}  // namespace

void require_slurm_commands() {
  for (const char* program : {"sbatch", "squeue", "scancel"}) {
    if (proto::find_installed_program({program}).empty()) {
      throw proto::InputError(std::string("Slurm's command ") + program +
                              " is not in PATH; run rigcal on a machine that submits jobs to the "
                              "cluster, or leave out --executor slurm");
    }
  }
}

std::unique_ptr<SlurmCluster> make_slurm_commands(std::string name,
                                                  const std::string& shared_states,
                                                  double interval) {
  return std::make_unique<SlurmCommands>(std::move(name), shared_states, interval);
}

}  // namespace service
