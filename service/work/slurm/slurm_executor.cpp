#include "service/work/slurm/slurm_executor.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/work/fingerprint.hpp"
#include "service/work/slurm/task_groups.hpp"
#include "service/work/work_lines.hpp"

namespace service {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
using Tasks = std::vector<std::vector<const WorkItem*>>;

constexpr int kTriesMax = 3;
constexpr double kTaskTime = 60.0;           // least work of a task [s]
constexpr double kPollInterval = 15.0;       // between calls of squeue [s]
constexpr double kReadInterval = 1.0;        // least time between two readings of results [s]
constexpr double kReadShare = 0.02;          // greatest share of time for reading results
constexpr int kSettlePolls = 6;              // 90 s, more than the attribute cache of NFS
constexpr int kSilentPollsMax = 40;          // 10 min
constexpr std::size_t kMeasuredMax = 5;      // items that may fail before one has a time
constexpr std::size_t kReasonSizeMax = 500;  // [byte]

/// Reason why a task has not stored all of its results.
struct TaskFailure {
  std::string reason;
  bool is_repeatable = true;  ///< whether the same task could succeed another time
};

double poll_interval() {
  const char* const text = std::getenv("RIGCAL_SLURM_POLL_S");
  if (text == nullptr) return kPollInterval;
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (*text == '\0' || *end != '\0' || !(value >= 0.05 && value <= kPollInterval)) {
    throw proto::InputError("RIGCAL_SLURM_POLL_S: must be a number from 0.05 to 15; unset it");
  }
  return value;
}

std::string quote_for_shell(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// Returns the output of a task; empty if there is none.
std::string output_of_task(const std::string& folder, const std::string& index) {
  try {
    return proto::read_file(folder + "/" + index + ".out");
  } catch (const proto::InputError&) {
    return {};
  }
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  text.erase(0, text.rfind('\n') + 1);
  return text.substr(0, kReasonSizeMax);
}

/// Returns why a task has failed.
/// @param output  output of the task
/// @throws proto::InputError with the sentence with which rigcal refused the task on its node
TaskFailure explain_failure(const SlurmTask& task, const std::string& output) {
  const std::string line = last_line(output);
  if (is_held(task)) {
    return {"Slurm holds a task whose start has failed; see \"sinfo\" for the state of the nodes"};
  }
  if (task.state == "TIMEOUT" || task.state == "DEADLINE") {
    return {"a task exceeded its time limit; give a longer --task-time", false};
  }
  // With its polling of the memory, Slurm reports a killed task as FAILED.
  if (task.state == "OUT_OF_MEMORY" || output.find("memory limit") != std::string::npos) {
    return {"a task exceeded its memory; give more --task-memory", false};
  }
  if (task.state != "FAILED") {
    return {"Slurm ended a task with the state " + task.state +
            "; see \"sinfo\" for the state of the nodes"};
  }
  // A refusal starts with the name of the program, "rigcal" or "rigcal-study".
  if (const std::size_t mark = line.find(": ");
      line.starts_with("rigcal") && mark < line.find(' ')) {
    throw proto::InputError("a task on the cluster was refused: " + line.substr(mark + 2));
  }
  if (!line.empty()) return {"a task failed: " + line};
  return {
      "a task failed without any output; give a --folder that all nodes share, with enough "
      "free space"};
}

Clock::duration to_clock(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
}

/// Waits. Returns false if the caller stops it before the end.
bool sleep_until(Clock::time_point end, const std::function<bool()>& stop) {
  while (!stop()) {
    const Clock::time_point now = Clock::now();
    if (now >= end) return true;
    std::this_thread::sleep_for(std::min<Clock::duration>(to_clock(0.1), end - now));
  }
  return false;
}

[[noreturn]] void fail_silent_controller(const std::string& folder) {
  throw proto::InputError(
      "the controller of Slurm does not answer; the finished results are kept in " + folder +
      ": repeat the command when \"squeue\" works again");
}

/// Follows the tasks of one job until they have ended.
class JobFollower {
 public:
  JobFollower(SlurmCluster& cluster, std::string job, const Tasks& tasks, WorkStore& store,
              double interval, std::function<bool()> stop, std::function<void()> report)
      : cluster_(cluster),
        job_(std::move(job)),
        tasks_(tasks),
        store_(store),
        interval_(interval),
        stop_(std::move(stop)),
        report_(std::move(report)) {}

  /// Waits until all tasks have ended and their results are visible, or until the caller stops it.
  /// @return reason for missing results; empty if there are none
  TaskFailure follow() {
    while (wait() && !is_complete() && !have_tasks_ended()) {
    }
    for (int polls = 0; polls < kSettlePolls && !is_complete() && wait(); ++polls) {
    }
    store_.refresh();  // a task may have stored results before it failed
    const auto reported = failures_.begin();
    if (reported != failures_.end()) return reported->second;
    return {"the tasks have ended, but not all of their results are in " + store_.folder() +
            "; give a --folder that all nodes share"};
  }

 private:
  /// Waits for one interval, or until all results are stored, and reads new results meanwhile.
  /// Returns false if the caller stops it.
  bool wait() {
    const Clock::time_point end = Clock::now() + to_clock(interval_);
    do {
      if (!sleep_until(std::min(end, Clock::now() + to_clock(read_interval_)), stop_)) return false;
      const Clock::time_point start = Clock::now();
      store_.refresh();
      report_();
      if (is_complete()) return true;
      // Reading the results of many tasks from a network file system takes long.
      read_interval_ = std::clamp(Seconds(Clock::now() - start).count() / kReadShare,
                                  std::min(kReadInterval, interval_), interval_);
    } while (Clock::now() < end);
    return true;
  }

  /// Returns whether all results are stored that can still appear.
  bool is_complete() const {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (failures_.contains(std::to_string(i))) continue;
      for (const WorkItem* item : tasks_[i]) {
        if (!store_.contains(item->key)) return false;
      }
    }
    return true;
  }

  bool have_tasks_ended() {
    const std::optional<std::vector<SlurmTask>> tasks = cluster_.list(job_);
    if (!tasks) {
      if (++silent_polls_ < kSilentPollsMax) return false;
      fail_silent_controller(store_.folder());
    }
    silent_polls_ = 0;
    bool ended = true;
    for (const SlurmTask& task : *tasks) {
      if (const auto obstacle = find_blocking_reason(task)) throw proto::InputError(*obstacle);
      const bool has_task_ended = has_ended(task) || is_held(task);
      ended = ended && has_task_ended;
      if (!has_task_ended || task.state == "COMPLETED" || failures_.contains(task.index)) continue;
      failures_[task.index] =
          explain_failure(task, output_of_task(store_.folder() + "/tasks", task.index));
    }
    return ended;
  }

  SlurmCluster& cluster_;
  std::string job_;
  const Tasks& tasks_;
  WorkStore& store_;
  double interval_;
  double read_interval_ = std::min(kReadInterval, interval_);
  std::function<bool()> stop_;
  std::function<void()> report_;
  std::map<std::string, TaskFailure> failures_;  ///< by index of the task
  int silent_polls_ = 0;
};

/// Progress of the items of a batch.
class ItemProgress {
 public:
  ItemProgress(const WorkBatch& batch, const WorkStore& store, const WorkProgressFunction& show)
      : store_(store), show_(show) {
    for (const WorkItem& item : batch.items) items_.push_back(&item);
    progress_.total = items_.size();
    progress_.kept = progress_.total - store.find_missing(batch.items).size();
    report();
  }

  /// Sets the start of the computation on the cluster.
  void begin() {
    start_ = Clock::now();
    work_at_start_ = count_work().first;
  }

  void report() {
    const auto [done, left] = count_work();
    if (done > work_at_start_) {
      progress_.time_left = Seconds(Clock::now() - start_).count() / (done - work_at_start_) * left;
    }
    if (show_) show_(progress_);
  }

 private:
  /// Returns the work of finished and of missing items, and counts the finished ones.
  std::pair<double, double> count_work() {
    double done = 0.0, left = 0.0;
    progress_.done = 0;
    for (const WorkItem* item : items_) {
      const bool is_done = store_.contains(item->key);
      progress_.done += is_done ? 1 : 0;
      (is_done ? done : left) += item->work;
    }
    return {done, left};
  }

  const WorkStore& store_;
  const WorkProgressFunction& show_;
  std::vector<const WorkItem*> items_;
  WorkProgress progress_;
  Clock::time_point start_ = Clock::now();
  double work_at_start_ = 1e300;
};

/// A job array and the items of its tasks.
struct SubmittedJob {
  std::string number;
  Tasks tasks;
};

class SlurmExecutor : public Executor {
 public:
  SlurmExecutor(SlurmSettings settings, WorkProgram program, MakeSlurmCluster make_cluster,
                double interval)
      : settings_(std::move(settings)),
        program_(std::move(program)),
        make_cluster_(std::move(make_cluster)),
        interval_(interval) {}

  bool run(const WorkBatch& batch, WorkStore& store, const std::atomic<bool>* stop,
           const WorkProgressFunction& on_progress) override {
    const auto must_stop = [stop] {
      return stop != nullptr && stop->load(std::memory_order_relaxed);
    };
    ItemProgress progress(batch, store, on_progress);
    if (store.find_missing(batch.items).empty()) return true;
    const std::string folder = std::filesystem::absolute(store.folder()).lexically_normal();
    const std::unique_ptr<SlurmCluster> cluster =
        make_cluster_("rigcal-" + Fingerprint().add(folder).hex());
    std::optional<SubmittedJob> job = find_running_job(batch, store, folder, *cluster);
    double seconds_per_work = 0.0;
    if (!job && settings_.measures_items) {
      seconds_per_work = measure(batch, store, stop);
      if (must_stop()) return false;
      check_time_limit(batch, seconds_per_work);
    }
    // Cancels the tasks at the end.
    const std::unique_ptr<SlurmCluster, void (*)(SlurmCluster*)> canceller(
        cluster.get(), [](SlurmCluster* slurm) { slurm->cancel(); });
    progress.begin();
    for (int tries = 1;; ++tries) {
      const std::vector<const WorkItem*> missing = store.find_missing(batch.items);
      if (missing.empty()) return true;
      if (!job) {
        Tasks tasks = group_items(missing, tries == 1 ? seconds_per_work : 0.0, task_time());
        job = submit(batch, std::move(tasks), store, folder, *cluster, must_stop);
      }
      if (!job) return false;
      const TaskFailure failure =
          JobFollower(*cluster, job->number, job->tasks, store, interval_, must_stop, [&] {
            progress.report();
          }).follow();
      if (must_stop()) return false;
      check_progress(batch, store, failure, tries, job->tasks.size() == missing.size());
      job.reset();
    }
  }

 private:
  /// Returns the time for which a task should compute [s].
  double task_time() const {
    const double limit = 60.0 * settings_.time_min;
    return settings_.cpus * (limit > 0.0 ? std::min(kTaskTime, limit / 2.0) : kTaskTime);
  }

  /// Computes the shortest missing item, and returns its time per work [s]; 0 if it has no result.
  static double measure(const WorkBatch& batch, WorkStore& store, const std::atomic<bool>* stop) {
    std::vector<const WorkItem*> items = store.find_missing(batch.items);
    std::ranges::stable_sort(items, {}, [](const WorkItem* item) { return item->work; });
    if (items.size() > kMeasuredMax) items.resize(kMeasuredMax);
    for (const WorkItem* item : items) {
      const WorkResult result = compute_item(batch, *item, stop);
      if (stop != nullptr && stop->load()) break;
      store.store(item->key, result);
      if (result.failure.empty()) return std::max(result.wall_time, 1e-6) / item->work;
    }
    return 0.0;
  }

  /// Submits tasks. Returns nullopt if the caller stops it.
  std::optional<SubmittedJob> submit(const WorkBatch& batch, Tasks tasks, const WorkStore& store,
                                     const std::string& folder, SlurmCluster& cluster,
                                     const std::function<bool()>& must_stop) const {
    const std::string script = make_script(folder);
    for (int tries = 1; tries <= kSilentPollsMax; ++tries) {
      // Cancels tasks that an earlier, killed process has left, held tasks of the last try, and
      // tasks of a submission that the controller accepted without an answer.
      cluster.cancel();
      write_tasks(store.folder(), batch, tasks, program_);
      const auto number = cluster.submit(settings_, folder + "/tasks", script, tasks.size());
      if (number) {
        proto::write_file(job_file(folder), format_work_line({*number, resources_key(script)}));
        return SubmittedJob{*number, std::move(tasks)};
      }
      if (!sleep_until(Clock::now() + to_clock(interval_), must_stop)) return std::nullopt;
    }
    fail_silent_controller(store.folder());
  }

  /// Returns the job of an earlier, killed process if it waits, runs or has ended without a
  /// failure, has the same resources and script, and computes all missing items.
  std::optional<SubmittedJob> find_running_job(const WorkBatch& batch, WorkStore& store,
                                               const std::string& folder,
                                               SlurmCluster& cluster) const {
    SubmittedJob job;
    try {
      const std::string line = proto::read_file(job_file(folder));
      const auto fields = parse_work_line(std::string_view(line).substr(0, line.size() - 1));
      if (!fields || fields->size() != 2 || fields->at(1) != resources_key(make_script(folder))) {
        return std::nullopt;
      }
      job = {fields->at(0), read_tasks(batch, folder)};
    } catch (const proto::InputError&) {
      return std::nullopt;  // there is no job, or another build has made it
    }
    std::unordered_set<const WorkItem*> computed;
    for (const auto& task : job.tasks) computed.insert(task.begin(), task.end());
    const auto is_computed = [&](const WorkItem* item) { return computed.contains(item); };
    if (!std::ranges::all_of(store.find_missing(batch.items), is_computed)) return std::nullopt;
    const auto states = cluster.list(job.number);
    store.refresh();  // a task may have ended meanwhile, and its results may appear late
    const auto can_give_results = [](const SlurmTask& task) {
      return task.state == "COMPLETED" || (!has_ended(task) && !is_held(task));
    };
    // Without an answer of the controller, the tasks may run.
    if (states && std::ranges::none_of(*states, can_give_results)) return std::nullopt;
    return job;
  }

  /// Reads the tasks in a folder. Items that are not in the batch are left out.
  Tasks read_tasks(const WorkBatch& batch, const std::string& folder) const {
    std::unordered_map<std::string_view, const WorkItem*> items;
    for (const WorkItem& item : batch.items) items.emplace(item.key, &item);
    Tasks tasks;
    while (std::filesystem::exists(folder + "/tasks/" + std::to_string(tasks.size()))) {
      auto& task = tasks.emplace_back();
      const int index = static_cast<int>(tasks.size()) - 1;
      for (const WorkItem& item : read_task(folder, index, program_).items) {
        if (const auto found = items.find(item.key); found != items.end()) {
          task.push_back(found->second);
        }
      }
    }
    return tasks;
  }

  static std::string job_file(const std::string& folder) { return folder + "/tasks/job"; }

  /// Returns a text that differs between jobs with different resources or programs.
  std::string resources_key(const std::string& script) const {
    return Fingerprint()
        .add(script)
        .add(settings_.partition)
        .add(settings_.account)
        .add(std::to_string(settings_.time_min))
        .add(std::to_string(settings_.memory_MB))
        .add(std::to_string(settings_.cpus))
        .hex();
  }

  void check_time_limit(const WorkBatch& batch, double seconds_per_work) const {
    double longest = 0.0;
    for (const WorkItem& item : batch.items) longest = std::max(longest, item.work);
    const double needed = longest * seconds_per_work;
    if (settings_.time_min == 0 || needed <= 60.0 * settings_.time_min) return;
    throw proto::InputError("the time limit of a task, " + std::to_string(settings_.time_min) +
                            " min, is too short for one item, which takes about " +
                            std::to_string(static_cast<long>(needed / 60.0) + 1) +
                            " min; give a longer --task-time");
  }

  std::string make_script(const std::string& folder) const {
    const std::string head =
        settings_.head.empty() ? "#!/bin/sh\n" : proto::read_file(settings_.head) + "\n";
    const std::string program = settings_.node_program.empty()
                                    ? std::filesystem::read_symlink("/proc/self/exe").string()
                                    : settings_.node_program;
    std::string command = "exec " + quote_for_shell(program);
    for (const std::string& argument : settings_.node_arguments) {
      command += " " + quote_for_shell(argument);
    }
    return head + command + " --folder " + quote_for_shell(folder) +
           " --task \"$SLURM_ARRAY_TASK_ID\" --threads " + std::to_string(settings_.cpus) + "\n";
  }

  /// @param single  whether every task had one item
  static void check_progress(const WorkBatch& batch, const WorkStore& store,
                             const TaskFailure& failure, int tries, bool single) {
    const std::size_t missing = store.find_missing(batch.items).size();
    if (missing == 0 || (tries < kTriesMax && (failure.is_repeatable || !single))) return;
    const std::string after = " after " + std::to_string(tries) + (tries == 1 ? " try" : " tries");
    if (batch.items.size() == 1) {
      throw proto::InputError("there is no result" + after + ": " + failure.reason);
    }
    throw proto::InputError(std::to_string(missing) + " of " + std::to_string(batch.items.size()) +
                            " results are missing" + after + ", and the others are kept in " +
                            store.folder() + ": " + failure.reason);
  }

  SlurmSettings settings_;
  WorkProgram program_;
  MakeSlurmCluster make_cluster_;
  double interval_;
};

}  // namespace

std::unique_ptr<Executor> make_slurm_executor(SlurmSettings settings, WorkProgram program) {
  const double interval = poll_interval();
  return make_slurm_executor(
      settings, std::move(program),
      [states = settings.shared_states, interval](const std::string& name) {
        return make_slurm_commands(name, states, interval);
      },
      interval);
}

std::unique_ptr<Executor> make_slurm_executor(SlurmSettings settings, WorkProgram program,
                                              MakeSlurmCluster make_cluster, double interval) {
  return std::make_unique<SlurmExecutor>(std::move(settings), std::move(program),
                                         std::move(make_cluster), interval);
}

}  // namespace service
