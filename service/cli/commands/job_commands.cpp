#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "proto/recording/recording_rules.hpp"
#include "proto/stream/service_limits.hpp"
#include "proto/text/command_line/standard_streams.hpp"
#include "proto/text/files.hpp"
#include "proto/text/printable.hpp"
#include "service/calibration/simulation_truth.hpp"
#include "service/cli/command.hpp"
#include "service/cli/page_files.hpp"
#include "service/cli/remote/job_follower.hpp"
#include "service/cli/remote/remote_calibration.hpp"
#include "service/cli/remote/service_client.hpp"
#include "service/cli/rig_files.hpp"
#include "service/cli/terminal.hpp"
#include "service/report/sections/estimate_comparison.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using proto::TerminalCodes;
using rigcal::v1::JobInfo;
using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;

struct JobOptions {
  ServiceAddress server;
  std::string id;
  bool session = false;
  bool remove = false;
  bool json = false;
  bool cross_validation = false;
  std::string truth_file;  ///< rigcal-sim file with true values; empty: none
  TrueParameters truth;    ///< its values
  std::string report;      ///< HTML file to write; empty: JOB.html
  ResultFiles files;       ///< rig descriptions only
};

std::string duration_text(const JobInfo& info) {
  if (info.started_unix_ns() == 0 || info.ended_unix_ns() == 0) return "-";
  return format_number(1e-9 * static_cast<double>(info.ended_unix_ns() - info.started_unix_ns()),
                       3);
}

ExitCode list_jobs(ServiceClient& client, const JobOptions& options) {
  const auto reply = client.call(&ServiceRequest::mutable_list_jobs);
  if (options.json) {
    print_message_json(reply.job_list());
    return kDone;
  }
  std::vector<std::vector<std::string>> rows = {
      {"job", "state", "s", "rig", "submitted", "recordings"}};
  for (const JobInfo& info : reply.job_list().jobs()) {
    const std::string place =
        info.queue_position() > 0 ? fmt::format(", place {}", info.queue_position()) : "";
    rows.push_back({info.job_id(), proto::state_name(info.state()) + place, duration_text(info),
                    info.rig_name(), format_local_time(info.submitted_unix_ns()),
                    info.recordings()});
  }
  std::cout << format_table(rows, {false, false, true, false, false, false});
  return kDone;
}

void print_job(const JobInfo& info) {
  std::cout << info.job_id() << ": " << proto::state_name(info.state()) << ", "
            << proto::escape_for_terminal(info.rig_name()) << " from "
            << proto::escape_for_terminal(info.recordings()) << "\n  submitted "
            << format_local_time(info.submitted_unix_ns()) << ", started "
            << format_local_time(info.started_unix_ns()) << ", ended "
            << format_local_time(info.ended_unix_ns()) << '\n';
  if (info.start_count() > 1) {
    std::cout << fmt::format("  started {} times, because the service stopped while the job ran\n",
                             info.start_count());
  }
  if (!info.error().empty()) std::cout << "  " << proto::escape_for_terminal(info.error()) << '\n';
}

ExitCode show_job(ServiceClient& client, JobOptions options) {
  options.id = find_job_id(client, options.id);
  if (options.remove) {
    client.call(&ServiceRequest::mutable_delete_job, options.id);
    std::cout << "deleted " << options.id << '\n';
    return kDone;
  }
  const auto reply = client.call(&ServiceRequest::mutable_inspect_job, options.id);
  if (options.json) {
    print_message_json(reply.job_info());
  } else {
    print_job(reply.job_info());
  }
  return kDone;
}

/// Returns the channel names in the metadata of a session, and which joints are prismatic.
proto::RecordingHeader names_of_session(const rigcal::v1::SessionInfo& info) {
  const auto entry = [&](std::string_view key) {
    const auto found = info.metadata().find(std::string(key));
    return found == info.metadata().end() ? std::string() : found->second;
  };
  return proto::header_from_metadata(entry).value_or(proto::RecordingHeader());
}

std::string sample_line(const rigcal::v1::Sample& sample, const proto::RecordingHeader& names,
                        std::uint64_t samples, std::uint64_t missed) {
  std::string line =
      fmt::format("t {} s  samples {}", format_number(sample.timestamp(), 7), samples);
  const auto channels =
      std::min(names.joints.size(), static_cast<std::size_t>(sample.angle_rad_size()));
  for (std::size_t c = 0; c < channels; ++c) {
    line += fmt::format("  {} {} {}", proto::escape_for_terminal(names.joints[c]),
                        format_number(sample.angle_rad(static_cast<int>(c)), 5),
                        channel_unit(names, c));
  }
  line += "  command";
  for (const double command : sample.command()) line += " " + format_number(command, 4);
  if (missed > 0) line += "  (" + std::to_string(missed) + " not shown)";
  return line;
}

// Shows the newest sample of a running session at intervals until it ends. Rewrites the line on a
// terminal.
ExitCode watch_session(ServiceClient& client, const JobOptions& options, const std::string& id) {
  const InterruptFlag interrupt;
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  const ServiceReply opened = client.call(&ServiceRequest::mutable_subscribe_session, id);
  const proto::RecordingHeader names = names_of_session(opened.session_info());
  std::uint64_t samples = opened.session_info().sample_count();
  std::uint64_t missed = 0;
  bool ended = false;
  while (!ended && !interrupt.flag().load() && std::cout.good()) {
    const auto next = client.wait(200);
    if (!next) continue;
    ended = next->has_live_ended();
    if (next->has_live_dropped()) missed += next->live_dropped().sample_count();
    if (!next->has_live_batch() || next->live_batch().batch().samples().empty()) continue;
    const auto& batch = next->live_batch().batch();
    samples += static_cast<std::uint64_t>(batch.samples_size());
    if (options.json) {
      print_message_json(batch);
      continue;
    }
    const std::string line =
        sample_line(batch.samples(batch.samples_size() - 1), names, samples, missed);
    if (terminal) {
      const int columns = terminal_size(STDOUT_FILENO).columns;
      std::cout << TerminalCodes{"\r"} << shorten_to_width(line, columns - 1)
                << TerminalCodes{"\033[K"} << std::flush;
    } else {
      std::cout << line << std::endl;
    }
  }
  if (terminal && !options.json) std::cout << '\n';
  if (!ended) return kInterrupted;
  if (!options.json) std::cout << id << " has ended with " << samples << " samples\n";
  return kDone;
}

ExitCode watch(ServiceClient& client, const JobOptions& options) {
  const bool session = options.session || is_session_reference(options.id);
  if (session) return watch_session(client, options, find_session_id(client, options.id));
  const InterruptFlag interrupt;
  const std::string id = find_job_id(client, options.id);
  const JobInfo info = follow_job(client, id, false, options.json, interrupt.flag());
  const ExitCode end = print_job_end(info);
  if (end == kDone && !options.json) std::cerr << "rigcal result " << id << " shows the result\n";
  return end;
}

ExitCode cancel(ServiceClient& client, const JobOptions& options) {
  const std::string id = find_job_id(client, options.id);
  const ServiceReply reply = client.call(&ServiceRequest::mutable_cancel_job, id);
  const bool over = proto::has_ended(reply.job_info());
  std::cout << id << ": " << (over ? proto::state_name(reply.job_info().state()) : "cancelling")
            << '\n';
  return kDone;
}

ExitCode print_beside_truth(ServiceClient& client, const std::string& job_id,
                            const TrueParameters& truth) {
  const auto result =
      client.call(&ServiceRequest::mutable_get_result, job_id).job_result().result();
  std::vector<estimator::ParameterEstimate> estimates;
  for (const rigcal::v1::ParameterResult& parameter : result.parameters()) {
    estimator::ParameterEstimate estimate;
    estimate.name = parameter.name();
    estimate.unit = parameter.unit();
    estimate.value = parameter.value();
    estimate.standard_deviation = parameter.at_bound() ? 0.0 : parameter.standard_deviation();
    estimates.push_back(estimate);
  }
  print_text(format_truth_comparison(estimates, truth));
  return result.converged() ? kDone : kNotConverged;
}

/// Returns the cross-validation of a job.
/// @throws proto::InputError with the reason if there is none
rigcal::v1::CrossValidationResult get_cross_validation(ServiceClient& client,
                                                       const std::string& job_id) {
  const rigcal::v1::JobResult result =
      client.call(&ServiceRequest::mutable_get_result, job_id).job_result();
  if (result.has_cross_validation()) return result.cross_validation();
  const auto& notes = result.result().notes();
  const auto note = std::ranges::find_if(
      notes, [](const std::string& each) { return each.starts_with(proto::kNoCrossValidation); });
  const std::string why =
      note != notes.end() ? note->substr(proto::kNoCrossValidation.size())
      : result.job().session_ids_size() == 1
          ? "it has one recording, and cross-validation predicts each recording from the others"
          : "it was submitted with --skip-cross-validation";
  throw proto::InputError("job \"" + job_id + "\" has no cross-validation: " + why);
}

ExitCode print_cross_validation(ServiceClient& client, const std::string& job_id) {
  const auto validation = get_cross_validation(client, job_id);
  print_message_json(validation);
  return validation.converged() ? kDone : kNotConverged;
}

ExitCode show_result(ServiceClient& client, const JobOptions& options) {
  const std::string job_id = find_job_id(client, options.id);
  if (has_requested_rig_files(options.files)) {
    const ServiceReply reply = client.call(&ServiceRequest::mutable_get_result, job_id);
    write_job_rig_files(job_id, reply.job_result().result(), options.files);
  }
  if (options.cross_validation) return print_cross_validation(client, job_id);
  if (!options.truth_file.empty()) return print_beside_truth(client, job_id, options.truth);
  return print_job_result(client, job_id, options.json);
}

ExitCode write_report(ServiceClient& client, const JobOptions& options) {
  const std::string id = find_job_id(client, options.id);
  if (options.cross_validation) (void)get_cross_validation(client, id);
  download_job_report(client, id, options.cross_validation, options.report);
  std::cout << "wrote " << options.report << '\n';
  return kDone;
}

/// Runs a command with a connection to the service.
/// @param examples  text below the options in --help
/// @param prepare  checks options and loads files before the connection
void run_with(
    CLI::App& command, const std::shared_ptr<JobOptions>& options,
    ExitCode (*work)(ServiceClient&, const JobOptions&), ExitCode& exit_code,
    const char* examples, void (*prepare)(JobOptions&) = [](JobOptions&) {}) {
  add_service_options(command, options->server);
  command.footer(examples);
  command.callback([options, work, prepare, &exit_code] {
    prepare(*options);
    exit_code = run_with_service(options->server,
                                 [&](ServiceClient& client) { return work(client, *options); });
  });
}

}  // namespace

void add_jobs(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command =
      app.add_subcommand("jobs", "List or delete the jobs of a calibration service");
  const auto options = std::make_shared<JobOptions>();
  auto* id =
      command->add_option("id", options->id, "Job id or its beginning; default: list all jobs");
  id->type_name("JOB");
  command->add_flag("--delete", options->remove, "Delete the job and its result")->needs(id);
  command->add_flag("--json", options->json, "Print JSON");
  const auto work = [](ServiceClient& client, const JobOptions& given) {
    return given.id.empty() ? list_jobs(client, given) : show_job(client, given);
  };
  run_with(*command, options, work, exit_code,
           "Examples:\n"
           "  rigcal jobs\n"
           "  rigcal jobs job-3f2a                (the only job whose id begins like this)\n"
           "  rigcal jobs job-3f2a --delete\n"
           "  rigcal jobs --server 10.0.0.5:7330 --json");
}

void add_watch(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command =
      app.add_subcommand("watch", "Show the progress of a job, or the samples of a session");
  const auto options = std::make_shared<JobOptions>();
  add_option(*command, "id", options->id, "ID", "Job, or session:ID of a session")->required();
  command->add_flag("--session", options->session,
                    "Treat the ID as a session, and show its samples");
  command->add_flag("--json", options->json, "Print JSON");
  run_with(*command, options, watch, exit_code,
           "Ctrl-C ends the display; the job or the session continues.\n"
           "Examples:\n"
           "  rigcal watch job-3f2a\n"
           "  rigcal watch session:swing-17");
}

void add_cancel(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command = app.add_subcommand("cancel", "End a job of a calibration service");
  const auto options = std::make_shared<JobOptions>();
  add_option(*command, "id", options->id, "JOB", "Job")->required();
  run_with(*command, options, cancel, exit_code,
           "Example:\n"
           "  rigcal cancel job-3f2a");
}

void add_result(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command =
      app.add_subcommand("result", "Print the result of a job of a calibration service");
  const auto options = std::make_shared<JobOptions>();
  add_option(*command, "id", options->id, "JOB", "Job")->required();
  auto* json =
      command->add_flag("--json", options->json, "Print the result as JSON, like calibrate --json");
  command
      ->add_flag("--cross-validation", options->cross_validation,
                 "With --json: print the job's cross-validation, as crossvalidate --json writes it")
      ->needs(json);
  add_option(*command, "--truth", options->truth_file, "FILE",
             "Compare the estimates with the true values in this rigcal-sim file")
      ->excludes(json);
  add_rig_file_options(*command, options->files);
  run_with(*command, options, show_result, exit_code,
           "Examples:\n"
           "  rigcal result job-3f2a\n"
           "  rigcal result job-3f2a --json > run.json\n"
           "  rigcal result job-3f2a --rig-out calibrated.textproto",
           [](JobOptions& given) {
             if (!given.truth_file.empty()) given.truth = load_true_parameters(given.truth_file);
             check_result_files_writable(given.files, {});
           });
}

void add_report(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command =
      app.add_subcommand("report", "Write the report of a job as one HTML or PDF file with plots");
  const auto options = std::make_shared<JobOptions>();
  add_option(*command, "id", options->id, "JOB", "Job")->required();
  add_option(*command, "--out", options->report, "FILE", "Default: JOB.html");
  command->add_flag("--cross-validation", options->cross_validation,
                    "Write the report of the job's cross-validation");
  run_with(*command, options, write_report, exit_code,
           "Examples:\n"
           "  rigcal report job-3f2a --out run.html\n"
           "  rigcal report job-3f2a --cross-validation --out folds.html",
           [](JobOptions& given) {
             if (given.report.empty()) given.report = given.id + ".html";
             proto::check_output_file(given.report, {});
             check_report_file(given.report);
           });
}

}  // namespace service
