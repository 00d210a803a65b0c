#include "service/server/jobs/run_job.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "proto/stream/service_limits.hpp"
#include "proto/text/input_error.hpp"
#include "service/calibration/pipeline.hpp"
#include "service/messages/stage_text.hpp"
#include "service/options/option_message.hpp"
#include "service/options/option_texts.hpp"
#include "service/recordings/file_digest.hpp"
#include "service/report/calibration_page.hpp"
#include "service/report/cross_validation_report.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/calibration_message.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/result/validation_message.hpp"
#include "service/server/jobs/worker_messages.hpp"
#include "service/server/storage/checksums.hpp"
#include "service/server/storage/durable_file.hpp"
#include "service/server/storage/log.hpp"

namespace service {
namespace {

CalibrationRequest make_request(const JobRun& run, const rigcal::v1::JobSpec& spec) {
  CalibrationRequest request;
  request.rig_name = spec.rig_name().empty() ? "rig file" : spec.rig_name();
  request.rig_text = spec.rig_text();
  request.edits = {{spec.start().begin(), spec.start().end()},
                   {spec.free().begin(), spec.free().end()},
                   {spec.fix().begin(), spec.fix().end()},
                   {spec.hold_out().begin(), spec.hold_out().end()}};
  for (int k = 0; k < spec.recordings_size(); ++k) {
    const rigcal::v1::JobRecording& recording = spec.recordings(k);
    request.recordings.push_back(
        {.path = run.recording_paths.at(static_cast<std::size_t>(k)),
         .name = recording.name().empty() ? recording.session_id() : recording.name(),
         .selection = read_job_selection(recording),
         .origin = "session:" + recording.session_id()});
  }
  request.options = read_job_options(spec);
  request.version = run.version;
  request.duration_s_max = run.duration_s_max;
  return request;
}

// Keeps the displayed parameters until a stage varies others; a stage may vary only states.
void show_stage(const std::string& stage, const estimator::Mechanism& varied,
                rigcal::v1::JobProgress& progress) {
  progress.set_stage(stage);
  std::vector<std::string> names;
  for (const estimator::Parameter& parameter : varied.parameters) {
    if (parameter.free) names.push_back(parameter.name);
  }
  if (names.empty() || std::ranges::equal(names, progress.parameters())) return;
  progress.mutable_parameters()->Assign(names.begin(), names.end());
  progress.clear_values();
}

estimator::CalibrationMonitor make_monitor(const JobRun& run, rigcal::v1::JobProgress& progress) {
  estimator::CalibrationMonitor monitor;
  monitor.stop = run.stop;
  monitor.on_stage = [&run, &progress](const estimator::FitStage& stage,
                                       const estimator::Mechanism& varied) {
    show_stage(stage_and_solve_name(stage), varied, progress);
    run.on_progress(progress);
  };
  monitor.on_iteration = [&run, &progress](const estimator::IterationRecord& record) {
    progress.set_iteration(record.iteration);
    progress.set_cost(record.cost);
    progress.set_gradient_norm(record.gradient_norm);
    progress.set_step_norm(record.step_norm);
    const auto count = std::min<Eigen::Index>(record.parameters.size(), progress.parameters_size());
    if (count > 0) progress.clear_values();  // else only states vary
    for (Eigen::Index k = 0; k < count; ++k) progress.add_values(record.parameters(k));
    run.on_progress(progress);
  };
  return monitor;
}

void require(const proto::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.error().detail);
}

// Result files of a job by their names, written together at the end.
using JobFiles = std::map<std::string, std::string>;

void save(const std::string& folder, const JobFiles& files) {
  constexpr const char* kLast = "result.json";  // completes the result
  Checksums checksums;
  for (const auto& [name, content] : files) {
    checksums[name] = compute_text_digest(content).sha256;
    if (name != kLast) require(write_durably(folder + '/' + name, content));
  }
  require(write_checksums(folder, checksums));
  require(write_durably(folder + '/' + kLast, files.at(kLast)));
}

bool is_time_over(const JobRun& run) {
  return run.is_time_over != nullptr && run.is_time_over->load();
}

// Predicts each recording from all others. A recording that alone identifies some parameter cannot
// be held out. Then, and beyond the time limit, there is no cross-validation, and a note in the
// result gives the reason.
std::optional<estimator::CrossValidation> cross_validate(
    const JobRun& run, CalibrationInput& input, const estimator::CalibrationMonitor& monitor,
    rigcal::v1::JobProgress& progress, std::vector<estimator::Message>& notes) {
  auto staged = monitor;
  int fold_index = 0;
  staged.on_stage = [&](const estimator::FitStage& stage, const estimator::Mechanism& varied) {
    show_stage("cross-validation " + std::to_string(fold_index + 1) + " of " +
                   std::to_string(input.recordings.size()) + ", " + stage_and_solve_name(stage),
               varied, progress);
    progress.set_calibration(fold_index + 2);
  };
  try {
    estimator::CrossValidation validation = run_cross_validation(
        input, input.recordings, staged, [&](int fold) { fold_index = fold; });
    if (!validation.stopped || !is_time_over(run)) return validation;
    notes.emplace_back(std::string(proto::kNoCrossValidation) +
                       describe_time_limit_end(run.duration_s_max,
                                               "raise --time-limit, at most to job_duration_s "
                                               "in the settings of the service"));
    return std::nullopt;
  } catch (const proto::InputError& error) {
    notes.emplace_back(std::string(proto::kNoCrossValidation) + error.what());
    return std::nullopt;
  }
}

constexpr int kNice = 10;
constexpr rlim_t kGrace_s = kTimeLimitGrace_s + 10;
constexpr double kDurationMax = 1e7;         // [s]
constexpr rlim_t kFileSizeMax = 256u << 20;  // per output file [byte]

std::atomic<bool> stop_asked{false}, time_is_over{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait");

void on_stop_signal(int signal) {
  if (signal == SIGALRM) time_is_over.store(true);
  stop_asked.store(true);
}

template <typename Number>
bool parse(const std::string& text, Number& out) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, out);
  return read.ec == std::errc() && read.ptr == end && out >= 0;
}

// Blocks while the service is busy; the pipe buffers many messages.
void write_all(const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(kProgressDescriptor, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    done += static_cast<std::size_t>(count);
  }
}

// Prepared before the job starts, because no memory may be left when it is needed.
const std::string& out_of_memory_frame() {
  static const std::string frame = make_error_frame(
      "out of memory: the calibration needs more than the limit of one job; use a shorter part of "
      "the recordings, or raise job_memory_bytes in the settings of the service");
  return frame;
}

// Sends the reason for a failure to the service. Call it while an exception is being handled.
void report_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    write_all(out_of_memory_frame());
  } catch (const std::system_error& error) {
    // The stack of a thread counts as memory, too.
    const bool no_thread = error.code() == std::errc::resource_unavailable_try_again;
    write_all(no_thread ? out_of_memory_frame() : make_error_frame(error.what()));
  } catch (const std::exception& error) {
    write_all(make_error_frame(error.what()));
  } catch (...) {
    write_all(
        make_error_frame("the calibration ended with an unknown exception, which is an error "
                         "of rigcal; report it with the rig file and the recordings"));
  }
}

// Called for exceptions that no handler receives, such as those of another thread.
[[noreturn]] void on_terminate() {
  if (std::current_exception()) report_exception();
  std::abort();
}

// Limits the process's use of resources. The job runs even if the kernel refuses these calls.
bool limit_resources(pid_t parent, rlim_t memory_bytes_max, double duration_s_max) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return false;  // the parent died before prctl
  ::setpriority(PRIO_PROCESS, 0, kNice);
  const sched_param none{};
  ::sched_setscheduler(0, SCHED_BATCH, &none);
  const rlimit memory{memory_bytes_max, memory_bytes_max};
#ifndef RIG_SANITIZED
  if (memory_bytes_max > 0) ::setrlimit(RLIMIT_AS, &memory);
#else
  static_cast<void>(memory);  // the sanitizers reserve far more than they use
#endif
  // Normally the service enforces the time limit; this limit acts if the service itself is stuck.
  const auto seconds = static_cast<rlim_t>(std::min(duration_s_max, kDurationMax)) + kGrace_s;
  const rlimit processor{seconds, seconds + kGrace_s};  // SIGXCPU, then SIGKILL
  ::setrlimit(RLIMIT_CPU, &processor);
  const rlimit file{kFileSizeMax, kFileSizeMax};
  ::setrlimit(RLIMIT_FSIZE, &file);
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGALRM, &action, nullptr);
  ::signal(SIGINT, SIG_IGN);  // the service handles Ctrl-C of a terminal
  return true;
}

}  // namespace

bool run_job(const JobRun& run) {
  rigcal::v1::JobRecord record;
  require(load_record(run.folder + "/job.textproto", record));
  for (const std::string& path : run.recording_paths) require(check_checksum(path));
  CalibrationRequest request = make_request(run, record.spec());
  request.operator_name = record.info().owner();
  CalibrationInput input = load_calibration_input(request);
  const bool validates = input.recordings.size() > 1 && !record.spec().skip_cross_validation();
  rigcal::v1::JobProgress progress;
  progress.set_calibration(1);
  progress.set_calibration_count(validates ? static_cast<int>(input.recordings.size()) + 1 : 1);
  const auto monitor = make_monitor(run, progress);
  estimator::Calibration calibration = run_calibration(input, monitor);
  if (was_stopped_by_user(calibration) || run.stop->load()) return false;

  const CalibrationMetadata context = input.context;  // includes the wall time of the calibration
  JobFiles files;
  std::string validation_table;
  std::optional<estimator::CrossValidation> validation;
  if (validates) {
    validation = cross_validate(run, input, monitor, progress, calibration.notes);
    const bool is_cancelled = run.stop->load() && !is_time_over(run);
    if ((validation && validation->stopped) || is_cancelled) return false;
    if (validation) {
      validation_table = format_cross_validation(*validation, input.context.wall_time);
      input.context.command = "crossvalidate";
      files["cross_validation.html"] = render_cross_validation_page(*validation, input.context);
      files["cross_validation.json"] = cross_validation_json(*validation, input.context);
    }
  }
  std::string& table = files["table.txt"];
  table = format_calibration(calibration, context.wall_time);
  if (!validation_table.empty()) (table += '\n') += validation_table;
  files["report.html"] =
      render_calibration_page(calibration, context, validation ? &*validation : nullptr);
  files["result.json"] = calibration_json(calibration, context);
  save(run.folder, files);
  return true;
}

int run_job_process(const std::vector<std::string>& arguments, const std::string& version) {
  out_of_memory_frame();
  std::set_terminate(on_terminate);
  constexpr std::size_t kFixedCount = 4;
  pid_t parent = 0;
  rlim_t memory_bytes_max = 0;
  double duration_s_max = 0.0;
  if (arguments.size() <= kFixedCount || !parse(arguments[1], parent) ||
      !parse(arguments[2], memory_bytes_max) || !parse(arguments[3], duration_s_max) ||
      !limit_resources(parent, memory_bytes_max, duration_s_max)) {
    log_event(LogLevel::kError, "run_job_misused",
              {{"hint", "run-job is started by rigcald itself"}});
    return 2;
  }
  JobRun run{
      .folder = arguments[0],
      .recording_paths = {arguments.begin() + kFixedCount, arguments.end()},
      .version = version,
      .duration_s_max = duration_s_max,
      .on_progress =
          [](const rigcal::v1::JobProgress& progress) { write_all(make_progress_frame(progress)); },
      .stop = &stop_asked,
      .is_time_over = &time_is_over};
  try {
    if (run_job(run)) return 0;
    write_all(
        make_error_frame("the calibration was ended from outside the service by SIGTERM; "
                         "submit the job again under another id"));
  } catch (...) {
    report_exception();
  }
  return 1;
}

}  // namespace service
