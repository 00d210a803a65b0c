#include "service/work/slurm/slurm_states.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "proto/text/input_error.hpp"

namespace service {
namespace {

constexpr std::array<std::string_view, 14> kLiveStates = {
    "PENDING",      "RUNNING",  "SUSPENDED",   "COMPLETING",   "CONFIGURING",
    "REQUEUED",     "RESIZING", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD",
    "SPECIAL_EXIT", "STOPPED",  "SIGNALING",   "STAGE_OUT"};
constexpr std::array<std::string_view, 10> kEndStates = {
    "COMPLETED", "FAILED",    "CANCELLED",     "TIMEOUT",  "NODE_FAIL",
    "BOOT_FAIL", "PREEMPTED", "OUT_OF_MEMORY", "DEADLINE", "REVOKED"};

/// Reasons for which Slurm keeps a task pending for ever, by a part of their name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kObstacles = {{
    {"TimeLimit",
     "the time limit of a task exceeds that of the partition; give a shorter "
     "--task-time or another --partition"},
    {"MaxWall", "the time limit of a task exceeds that of the account; give a shorter --task-time"},
    {"InvalidAccount", "the account does not exist; give another --account"},
    {"InvalidQOS", "the quality of service does not exist; correct --batch-head"},
    {"PartitionNodeLimit",
     "no node of the partition can run a task; give less --task-memory, "
     "fewer --task-cpus or another --partition"},
    {"BadConstraints", "no node fulfills the constraints; correct --batch-head"},
}};

template <class Names>
bool is_among_names(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Returns the lines of the output without messages of the command itself, "sbatch: …".
std::vector<std::string_view> answer_lines(std::string_view output, std::string_view command) {
  std::vector<std::string_view> lines;
  for (std::size_t start = 0; start < output.size();) {
    const std::size_t end = std::min(output.find('\n', start), output.size());
    const std::string_view line = output.substr(start, end - start);
    if (!line.empty() && !line.starts_with(command)) lines.push_back(line);
    start = end + 1;
  }
  return lines;
}

bool consists_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

[[noreturn]] void refuse_output(const std::string& command, std::string_view line) {
  throw proto::InputError("cannot read the answer of " + command + ", \"" +
                          std::string(line.substr(0, 200)) +
                          "\"; check which version of Slurm is first in PATH");
}

SlurmTask parse_slurm_task(std::string_view line, const std::string& job) {
  std::vector<std::string_view> fields;
  for (std::size_t start = 0; start <= line.size();) {
    const std::size_t end = std::min(line.find('|', start), line.size());
    fields.push_back(line.substr(start, end - start));
    start = end + 1;
  }
  const bool is_task =
      fields.size() == 4 && fields[0] == job &&
      (consists_of(fields[1], "0123456789-,%.") || fields[1] == "N/A") &&
      (is_among_names(kLiveStates, fields[2]) || is_among_names(kEndStates, fields[2]));
  if (!is_task) refuse_output("squeue", line);
  return {std::string(fields[1]), std::string(fields[2]), std::string(fields[3])};
}

}  // namespace

std::string parse_slurm_job(std::string_view output) {
  const std::vector<std::string_view> lines = answer_lines(output, "sbatch: ");
  if (lines.size() != 1) refuse_output("sbatch", output);
  // "number" or "number;cluster".
  const std::string_view number = lines.front().substr(0, lines.front().find(';'));
  if (!consists_of(number, "0123456789")) refuse_output("sbatch", output);
  return std::string(number);
}

std::vector<SlurmTask> parse_slurm_tasks(std::string_view output, const std::string& job) {
  std::vector<SlurmTask> tasks;
  for (const std::string_view line : answer_lines(output, "squeue: ")) {
    tasks.push_back(parse_slurm_task(line, job));
  }
  return tasks;
}

bool has_ended(const SlurmTask& task) { return is_among_names(kEndStates, task.state); }

bool is_held(const SlurmTask& task) {
  if (task.state == "REQUEUE_HOLD" || task.state == "SPECIAL_EXIT") return true;
  return task.state == "PENDING" && (task.reason.find("JobHeld") != std::string::npos ||
                                     task.reason.find("requeued held") != std::string::npos);
}

std::optional<std::string> find_blocking_reason(const SlurmTask& task) {
  if (task.state != "PENDING") return std::nullopt;
  for (const auto& [part, sentence] : kObstacles) {
    if (task.reason.find(part) != std::string::npos) return std::string(sentence);
  }
  return std::nullopt;
}

}  // namespace service
