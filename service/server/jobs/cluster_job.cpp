#include "service/server/jobs/cluster_job.hpp"

#include <google/protobuf/text_format.h>
#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <thread>
#include <utility>

#include "proto/daemon.pb.h"
#include "proto/notation/number_format.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/server/jobs/job_files.hpp"
#include "service/server/jobs/job_process.hpp"
#include "service/server/jobs/run_job.hpp"
#include "service/server/jobs/worker_messages.hpp"
#include "service/server/storage/durable_file.hpp"
#include "service/server/storage/log.hpp"
#include "service/work/fingerprint.hpp"
#include "service/work/slurm/slurm_executor.hpp"
#include "service/work/work_lines.hpp"

namespace service {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kWorkKind = "calibration job";
constexpr const char* kProgressName = "progress.";
constexpr std::chrono::seconds kProgressPeriod(1);
constexpr double kMegabyte = 1e6;

/// Inputs of a job besides the files in its folder.
struct JobTask {
  std::string folder;
  double memory_bytes_max = 0.0;
  double duration_s_max = 0.0;
  std::vector<std::string> recording_paths;
};

std::string format_task(const JobTask& task) {
  std::vector<std::string> fields = {task.folder, notation::format_exact(task.memory_bytes_max),
                                     notation::format_exact(task.duration_s_max)};
  fields.insert(fields.end(), task.recording_paths.begin(), task.recording_paths.end());
  return format_work_line(fields);
}

std::vector<std::string> parse_line(const std::string& text, const std::string& folder) {
  const auto fields = parse_work_line(std::string_view(text).substr(0, text.find_last_of('\n')));
  if (!fields || fields->empty()) {
    throw proto::InputError(folder + ": is damaged; submit the job again under another id");
  }
  return *fields;
}

JobTask parse_task(const std::string& text, const std::string& folder) {
  const std::vector<std::string> fields = parse_line(text, folder);
  if (fields.size() < 4) throw proto::InputError(folder + ": contains tasks of another program");
  return {fields[0],
          std::strtod(fields[1].c_str(), nullptr),
          std::strtod(fields[2].c_str(), nullptr),
          {fields.begin() + 3, fields.end()}};
}

/// Value of a task whose time limit was over.
constexpr const char* kTimeOver = "time over";

/// Returns the value of a finished task: names and contents of the files.
std::string format_files(const JobFiles& files) {
  std::vector<std::string> fields = {"done"};
  for (const auto& [name, content] : files) fields.insert(fields.end(), {name, content});
  return format_work_line(fields);
}

JobFiles parse_files(const std::vector<std::string>& fields) {
  JobFiles files;
  for (std::size_t i = 1; i + 1 < fields.size(); i += 2) files[fields[i]] = fields[i + 1];
  return files;
}

double processor_time_s() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Writes the progress of a task into a file of this start of the task, at most once a second.
class ProgressFile {
 public:
  explicit ProgressFile(const std::string& folder) : path_(folder + "/" + kProgressName) {
    for (const char* name : {"SLURM_JOB_ID", "SLURM_RESTART_COUNT"}) {
      const char* const value = std::getenv(name);
      path_ += std::string(value == nullptr ? "0" : value) + ".";
    }
  }

  void write(rigcal::v1::JobProgress progress) {
    const Clock::time_point now = Clock::now();
    if (now < next_) return;
    next_ = now + kProgressPeriod;
    progress.set_processor_s(processor_time_s());
    // Progress that cannot be written does not matter; without space, the result says so.
    (void)write_durably(path_, progress.SerializeAsString());
  }

  void write_last() {
    next_ = {};
    write(last_);
  }

  void update(const rigcal::v1::JobProgress& progress) { write(last_ = progress); }

 private:
  std::string path_;
  Clock::time_point next_{};
  rigcal::v1::JobProgress last_;
};

/// Returns the newest progress of all starts of the task, with the sum of their processor times.
rigcal::v1::JobProgress read_progress(const std::string& folder) {
  rigcal::v1::JobProgress newest;
  newest.set_stage("waiting for a node of the cluster");
  double processor_s = 0.0;
  fs::file_time_type newest_time = fs::file_time_type::min();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.path().filename().string().starts_with(kProgressName)) continue;
    const auto bytes = read_small_file(entry.path(), kResultSizeMax);
    rigcal::v1::JobProgress progress;
    if (!bytes.ok() || !progress.ParseFromString(bytes.value())) continue;
    processor_s += progress.processor_s();
    const fs::file_time_type time = entry.last_write_time(error);
    if (time < newest_time) continue;
    newest_time = time;
    newest = progress;
  }
  newest.set_processor_s(processor_s);
  return newest;
}

/// Sends the progress of a task to the service every second, and once more at the end.
class ProgressForwarder {
 public:
  explicit ProgressForwarder(std::string folder) : folder_(std::move(folder)) {
    thread_ = std::thread([this] {
      std::unique_lock lock(mutex_);
      do {
        forward();
      } while (!changed_.wait_for(lock, kProgressPeriod, [this] { return is_over_; }));
      forward();
    });
  }

  ~ProgressForwarder() {
    {
      const std::scoped_lock lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  ProgressForwarder(const ProgressForwarder&) = delete;
  ProgressForwarder& operator=(const ProgressForwarder&) = delete;

 private:
  void forward() {
    std::string frame = make_progress_frame(read_progress(folder_));
    if (frame != sent_) send_to_service(sent_ = std::move(frame));
  }

  std::string folder_;
  std::string sent_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

/// Names the settings of the service in place of the options of rigcal.
std::string name_service_settings(std::string text) {
  static constexpr std::array<std::pair<const char*, const char*>, 9> kNames = {{
      {"the options of --executor slurm", "executor { slurm } in the settings of the service"},
      {"leave out --executor slurm", "leave out executor { slurm } in the settings of the service"},
      {"--task-memory", "memory_MB in executor { slurm } of the service"},
      {"--task-time", "--time-limit"},
      {", fewer --task-cpus", ""},
      {"--partition", "partition in executor { slurm } of the service"},
      {"--account", "account in executor { slurm } of the service"},
      {"--batch-head", "batch_head in executor { slurm } of the service"},
      {"--folder", "data_folder of the service"},
  }};
  for (const auto& [option, setting] : kNames) {
    for (std::size_t place = 0; (place = text.find(option, place)) != std::string::npos;) {
      text.replace(place, std::string_view(option).size(), setting);
      place += std::string_view(setting).size();
    }
  }
  return text;
}

rigcal::v1::DaemonSlurm parse_cluster_settings(const std::string& text) {
  rigcal::v1::DaemonSlurm message;
  if (!google::protobuf::TextFormat::ParseFromString(text, &message)) {
    throw proto::InputError("the settings of the cluster are damaged; restart the service");
  }
  return message;
}

SlurmSettings make_slurm_settings(const std::string& text, const JobTask& task) {
  const rigcal::v1::DaemonSlurm message = parse_cluster_settings(text);
  SlurmSettings settings{.partition = message.partition(),
                         .account = message.account(),
                         .head = message.batch_head(),
                         .node_program = message.node_program(),
                         .node_arguments = {"run-task"},
                         .measures_items = false};
  const double memory_MB = message.has_memory_mb() ? static_cast<double>(message.memory_mb())
                                                   : task.memory_bytes_max / kMegabyte;
  settings.memory_MB = static_cast<int>(std::ceil(memory_MB));
  // The task ends itself at its time limit. Slurm ends it if it does not.
  settings.time_min =
      static_cast<int>(std::ceil((task.duration_s_max + kTimeLimitGrace_s) / 60.0)) + 1;
  settings.shared_states = fs::path(task.folder).parent_path().parent_path() / "slurm_states";
  return settings;
}

WorkBatch make_job_batch(const JobTask& task, const WorkProgram& program) {
  WorkBatch batch{.kind = kWorkKind};
  const std::string request = format_task(task);
  batch.items.push_back(
      {Fingerprint().add(program.version).add(program.build).add(request).hex(), request});
  return batch;
}

/// Runs a job on the cluster. @return exit status
int run_cluster_job(const JobTask& task, const std::string& settings_text,
                    const std::string& version, const std::atomic<bool>& stop) {
  const std::string folder = task.folder + "/" + kClusterFolder;
  const WorkProgram program = describe_this_program(version);
  const WorkBatch batch = make_job_batch(task, program);
  std::optional<WorkResult> result;
  {
    WorkStore store(folder);
    const ProgressForwarder forwarder(folder);
    const auto executor = make_slurm_executor(make_slurm_settings(settings_text, task), program);
    if (executor->run(batch, store, &stop, {})) result = store.find(batch.items.front().key);
  }
  if (!result) return 1;
  if (!result->failure.empty()) throw proto::InputError(result->failure);
  const std::vector<std::string> fields = parse_line(result->value, folder);
  if (fields.front() == kTimeOver) return kTimeOverStatus;
  save_job_files(task.folder, parse_files(fields));
  return 0;
}

/// Computes the value of a task. Ends early if the folder of the task is deleted.
std::string compute_task(const JobTask& task, const std::string& folder, const std::string& version,
                         const JobFlags& flags, std::atomic<bool>& is_cancelled) {
  ProgressFile file(folder);
  const JobRun run{.folder = task.folder,
                   .recording_paths = task.recording_paths,
                   .version = version,
                   .duration_s_max = task.duration_s_max,
                   .on_progress =
                       [&](const rigcal::v1::JobProgress& progress) {
                         file.update(progress);
                         std::error_code error;
                         if (!fs::exists(folder, error) && !error) ::raise(SIGTERM);
                       },
                   .stop = flags.stop,
                   .is_time_over = flags.is_time_over};
  std::optional<JobFiles> files;
  try {
    files = compute_job(run);
  } catch (...) {
    file.write_last();
    throw proto::InputError(describe_job_exception());
  }
  file.write_last();
  is_cancelled = !files && !flags.is_time_over->load();
  return files ? format_files(*files) : format_work_line({kTimeOver});
}

/// Lets SIGALRM end the calculation after a time.
void start_timer(double duration_s) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(duration_s);
  timer.it_value.tv_usec = static_cast<suseconds_t>(std::fmod(duration_s, 1.0) * 1e6) + 1;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

void check_cluster_settings(const std::string& settings) {
  try {
    require_slurm_commands();
    const std::string head = parse_cluster_settings(settings).batch_head();
    if (!head.empty()) proto::read_file(head);
  } catch (const proto::InputError& error) {
    throw proto::InputError(name_service_settings(error.what()));
  }
}

int run_cluster_job_process(const std::vector<std::string>& arguments, const std::string& version) {
  constexpr std::size_t kFixedCount = 5;
  double parent = 0.0;
  JobTask task;
  if (arguments.size() <= kFixedCount || !parse_job_number(arguments[1], parent) ||
      !parse_job_number(arguments[2], task.memory_bytes_max) ||
      !parse_job_number(arguments[3], task.duration_s_max) ||
      !end_with_service(static_cast<pid_t>(parent))) {
    log_event(LogLevel::kError, "run_job_misused",
              {{"hint", "run-cluster-job is started by rigcald itself"}});
    return 2;
  }
  task.folder = arguments[0];
  task.recording_paths = {arguments.begin() + kFixedCount, arguments.end()};
  const JobFlags flags = handle_job_signals();
  int status = 1;
  try {
    status = run_cluster_job(task, arguments[4], version, *flags.stop);
    if (status == 1) {
      send_to_service(
          make_error_frame("the calibration was ended from outside the service by "
                           "SIGTERM; submit the job again under another id"));
    }
  } catch (const proto::InputError& error) {
    send_to_service(make_error_frame(name_service_settings(error.what())));
  } catch (...) {
    report_job_exception();
  }
  std::error_code ignored;
  fs::remove_all(task.folder + "/" + kClusterFolder, ignored);
  return status;
}

int run_task_process(const std::vector<std::string>& arguments, const std::string& version) {
  // The order in which the executor writes them.
  if (arguments.size() < 4 || arguments[0] != "--folder" || arguments[2] != "--task") {
    std::cerr << "rigcald: run-task is started by rigcald itself\n";
    return 2;
  }
  const std::string& folder = arguments[1];
  try {
    WorkBatch batch =
        read_task(folder, std::atoi(arguments[3].c_str()), describe_this_program(version));
    const JobTask task = parse_task(batch.items.at(0).request, folder);
    limit_job_resources(static_cast<rlim_t>(task.memory_bytes_max), task.duration_s_max);
    const JobFlags flags = handle_job_signals();
    std::atomic<bool> is_cancelled = false;
    batch.compute = [&](const WorkItem&, const std::atomic<bool>*) {
      return compute_task(task, folder, version, flags, is_cancelled);
    };
    start_timer(task.duration_s_max);
    WorkStore store(folder, "task" + arguments[3]);
    return make_local_executor(1)->run(batch, store, &is_cancelled, {}) ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "rigcald: " << error.what() << '\n';
    return 1;
  }
}

}  // namespace service
