#include "service/cli/remote/remote_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "proto/recording/mcap/file.hpp"
#include "proto/stream/content_hash.hpp"
#include "proto/stream/service_limits.hpp"
#include "proto/text/files.hpp"
#include "proto/text/printable.hpp"
#include "proto/text/table/text_encoding.hpp"
#include "service/cli/page_files.hpp"
#include "service/cli/remote/job_follower.hpp"
#include "service/cli/rig_files.hpp"
#include "service/cli/terminal.hpp"
#include "service/options/option_message.hpp"
#include "service/options/parameter_values.hpp"
#include "service/result/result_message.hpp"
#include "service/result/stored_result.hpp"
#include "service/rig/rig_file.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using rigcal::v1::JobSpec;
using rigcal::v1::ServiceError;
using rigcal::v1::ServiceRequest;

constexpr std::size_t kListedMax = 3;
constexpr std::string_view kSessionPrefix = "session:";

/// Returns the full id for an abbreviated id: `text` itself if the service knows it, otherwise the
/// only id that begins with `text`.
/// @param kind     "session" or "job", for messages; the command "rigcal <kind>s" lists the ids
/// @param inspect  member of ServiceRequest that inspects a session or job with this exact id; the
///                 service's lists may omit it, because they contain at most 1000 entries
/// @param ids      returns the ids in the service's list
template <typename Inspect, typename Ids>
std::string complete_id(ServiceClient& client, const std::string& kind, const std::string& text,
                        Inspect inspect, const Ids& ids) {
  try {
    client.call(inspect, text);
    return text;
  } catch (const ServiceReplyError& fault) {
    if (fault.code() != ServiceError::NOT_FOUND && fault.code() != ServiceError::BAD_REQUEST) throw;
  }
  std::vector<std::string> fitting;
  for (const std::string& id : ids()) {
    if (id.starts_with(text)) fitting.push_back(id);
  }
  if (fitting.size() == 1) return fitting.front();
  if (fitting.empty()) {
    throw proto::InputError("there is no {} {:?}, and no id begins with it; rigcal {}s lists them",
                            kind, text, kind);
  }
  const std::size_t count = fitting.size();
  fitting.resize(std::min(count, kListedMax));
  throw proto::InputError("{:?} matches {} {}s ({}{}); give more characters", text, count, kind,
                          join_items(fitting), count > kListedMax ? ", …" : "");
}

// Displays the file name, or the path if two recordings have the same file name.
std::string display_name(const std::string& path, const std::vector<std::string>& paths) {
  const auto file_name = [](const std::string& of) {
    return std::filesystem::path(of).filename().string();
  };
  const auto alike = std::count_if(paths.begin(), paths.end(), [&](const std::string& other) {
    return file_name(other) == file_name(path);
  });
  return alike > 1 ? path : file_name(path);
}

std::string read_part(const proto::InputFile& file, std::uint64_t offset) {
  std::string part(std::min<std::uint64_t>(file.size_bytes() - offset, proto::kFilePartSizeMax),
                   '\0');
  const auto read = file.read(offset, {reinterpret_cast<std::uint8_t*>(part.data()), part.size()});
  if (!read.ok()) throw proto::InputError(read.error().detail);
  return part;
}

std::string name_of(const proto::InputFile& file) {
  proto::ContentHash name;
  if (const auto read = name.add_file(file); !read.ok())
    throw proto::InputError(read.error().detail);
  return name.text();
}

// Finds or starts an upload; tries another id if somebody else has started the same file.
rigcal::v1::UploadState open_upload(ServiceClient& client, const std::string& content,
                                    rigcal::v1::OpenUpload& open) {
  for (int attempt = 1;; ++attempt) {
    open.set_session_id(proto::make_upload_id(content, attempt));
    ServiceRequest request;
    *request.mutable_open_upload() = open;
    try {
      return client.call(request).upload_state();
    } catch (const ServiceReplyError& fault) {
      const bool taken = fault.code() == rigcal::v1::ServiceError::EXISTS;
      if (!taken || attempt == proto::kUploadIdsMax) throw;
    }
  }
}

// Uploads the part that the service lacks. @return the id of the session
std::string upload(ServiceClient& client, const std::string& path, bool quiet) {
  if (!path.ends_with(".csv") && !path.ends_with(".mcap")) {
    throw proto::InputError(
        "{}: the service accepts .csv and .mcap files; "
        "convert it to CSV with rigcal export, or calibrate without --server",
        path);
  }
  const auto file = proto::open_input_file(path);
  if (!file.ok()) throw proto::InputError(file.error().detail);
  const std::uint64_t size = file.value()->size_bytes();
  rigcal::v1::OpenUpload open;
  open.set_file_name(proto::to_utf8(std::filesystem::path(path).filename().string()));
  open.set_size_bytes(size);
  auto state = open_upload(client, name_of(*file.value()), open);
  ProgressLine progress({.quiet = quiet});
  while (!state.complete()) {
    ServiceRequest part;
    part.mutable_upload_part()->set_session_id(open.session_id());
    part.mutable_upload_part()->set_offset_bytes(state.durable_bytes());
    part.mutable_upload_part()->set_data(read_part(*file.value(), state.durable_bytes()));
    state = client.call(part).upload_state();
    const std::string stage = "uploading " + path;
    progress.show(fmt::format("{}: {} %", stage, 100 * state.durable_bytes() / size), stage);
  }
  return open.session_id();
}

std::string name_of(const JobSpec& spec) {
  proto::ContentHash name;
  name.add(RIGCAL_VERSION);
  name.add(spec.DebugString());  // sorts options, which serialization does not
  return "job-" + name.text();
}

/// Submits a job. A failed or cancelled job with the same id and content runs again.
/// @return the state of the job
rigcal::v1::JobInfo submit(ServiceClient& client, const ServiceRequest& request) {
  const auto info = client.call(request).job_info();
  const bool has_failed =
      info.state() == rigcal::v1::JOB_FAILED || info.state() == rigcal::v1::JOB_CANCELLED;
  if (!has_failed) return info;
  client.call(&ServiceRequest::mutable_delete_job, info.job_id());
  return client.call(request).job_info();
}

/// Submits a job under the hash of its content; under a later id if the id belongs to a job of
/// another identity that cannot be used.
/// @return the state of the job
rigcal::v1::JobInfo submit_by_content(ServiceClient& client, ServiceRequest& request) {
  const std::string name = name_of(request.submit_job().spec());
  for (int attempt = 1;; ++attempt) {
    request.mutable_submit_job()->set_job_id(attempt == 1 ? name
                                                          : name + "-" + std::to_string(attempt));
    try {
      return submit(client, request);
    } catch (const ServiceReplyError& fault) {
      const bool taken =
          fault.code() == ServiceError::EXISTS || fault.code() == ServiceError::NOT_ALLOWED;
      if (!taken || attempt == proto::kUploadIdsMax) throw;
    }
  }
}

/// Prints the id of a job before rigcal waits for the job's end.
void print_submitted(const rigcal::v1::JobInfo& info) {
  const std::string& id = info.job_id();
  if (!proto::has_ended(info)) {
    std::cerr << "job \"" << id << "\" was submitted; rigcal watch " << id
              << " shows its progress, rigcal cancel " << id << " ends it\n";
  } else if (info.state() == rigcal::v1::JOB_DONE) {
    std::cerr << "job \"" << id << "\" has already finished; this is its result\n";
  }
}

ExitCode run(ServiceClient& client, const RemoteOptions& remote, const EstimationOptions& options,
             const ResultFiles& files) {
  ServiceRequest request;
  *request.mutable_submit_job()->mutable_spec() =
      make_job_spec(remote, options, [&](const std::string& path) {
        return is_session_reference(path) ? find_session_id(client, path)
                                          : upload(client, path, options.quiet);
      });
  request.mutable_submit_job()->set_job_id(remote.job_id);
  const auto submitted =
      remote.job_id.empty() ? submit_by_content(client, request) : submit(client, request);
  const std::string& id = submitted.job_id();
  if (remote.detach) {
    std::cout << id << '\n';
    return kDone;
  }
  const InterruptFlag interrupt;
  if (!options.quiet) print_submitted(submitted);
  const auto info = follow_job(client, id, options.quiet, false, interrupt.flag());
  if (interrupt.flag().load() && info.state() != rigcal::v1::JOB_DONE) {
    client.call(&ServiceRequest::mutable_cancel_job, id);
    std::cerr << "rigcal: job \"" << id << "\" is being cancelled\n";
    return kInterrupted;
  }
  if (const ExitCode ended = print_job_end(info); ended != kDone) return ended;
  if (!files.plot.empty()) download_job_report(client, id, false, files.plot);
  if (!files.json.empty() || has_requested_rig_files(files)) {
    const auto result = client.call(&ServiceRequest::mutable_get_result, id).job_result().result();
    if (!files.json.empty()) proto::write_file(files.json, format_message_json(result));
    if (has_requested_rig_files(files)) write_job_rig_files(id, result, files);
  }
  return print_job_result(client, id, false);
}

/// Checks the local files. Call it before anything is sent to the service.
void check_inputs(const RemoteOptions& remote, const EstimationOptions& options) {
  if (!remote.job_id.empty() && !proto::is_valid_session_id(remote.job_id)) {
    throw proto::InputError(
        "--job {:?}: an id must have 1 to 64 characters (A-Z a-z 0-9 . _ -) "
        "and must not start with a dot",
        remote.job_id);
  }
  if (!options.selection.topic.empty()) {
    throw proto::InputError(
        "--topic: the service reads recordings of rigcal-daq, which have no topics to choose. "
        "Leave it out");
  }
  (void)make_selection(options);
  Rig rig = load_rig(options.rig);
  apply_parameter_values(read_parameter_values(options.values), rig.mechanism);
  apply_parameter_edits(options.edits, rig.mechanism);
  for (const std::string& path : options.recordings) {
    if (is_session_reference(path)) continue;
    const auto file = proto::open_input_file(path);
    if (!file.ok()) throw proto::InputError(file.error().detail);
    if (file.value()->size_bytes() == 0) {
      throw proto::InputError(path + ": is empty; give the file of a recording");
    }
  }
}

/// Rejects output files of a job whose end is not awaited.
void check_detached(const RemoteOptions& remote, const ResultFiles& files) {
  const bool has_files =
      !files.json.empty() || !files.plot.empty() || has_requested_rig_files(files);
  if (!remote.detach || !has_files) return;
  throw proto::InputError(
      "--detach: output files can be written only after the end of the job. "
      "Leave them out, and write them later with rigcal result and rigcal report");
}

}  // namespace

JobSpec make_job_spec(const RemoteOptions& remote, const EstimationOptions& options,
                      const SessionOf& session_of) {
  JobSpec spec;
  spec.set_rig_name(proto::to_utf8(std::filesystem::path(options.rig).filename().string()));
  const std::string contents = proto::read_file(options.rig);
  spec.set_rig_text(std::string(proto::decode_text(options.rig, contents).text()));
  const RecordingSelection selection = make_selection(options);
  for (const std::string& path : options.recordings) {
    auto& recording = *spec.add_recordings();
    recording.set_session_id(session_of(path));
    if (!is_session_reference(path)) {
      recording.set_name(proto::to_utf8(display_name(path, options.recordings)));
    }
    if (std::isfinite(selection.from)) recording.set_from_s(selection.from);
    if (std::isfinite(selection.to)) recording.set_to_s(selection.to);
    recording.mutable_segments()->Assign(selection.segments.begin(), selection.segments.end());
  }
  if (!options.values.empty()) {
    const Rig rig = parse_rig(options.rig, spec.rig_text());
    for (const std::string& start :
         make_initial_value_edits(read_parameter_values(options.values), rig.mechanism)) {
      spec.add_start(start);
    }
  }
  // Options of the command line come last and take precedence.
  for (const std::string& start : options.edits.start) spec.add_start(start);
  spec.mutable_free()->Assign(options.edits.free.begin(), options.edits.free.end());
  spec.mutable_fix()->Assign(options.edits.fix.begin(), options.edits.fix.end());
  spec.mutable_hold_out()->Assign(options.edits.hold_out.begin(), options.edits.hold_out.end());
  *spec.mutable_estimation_options() = make_options_message(options.calibration, false);
  spec.set_skip_cross_validation(remote.skip_cross_validation);
  spec.set_time_limit_s(options.time_limit);
  return spec;
}

std::string find_session_id(ServiceClient& client, const std::string& written) {
  // Accepts the "session:ID" form of calibrate.
  const std::string text =
      is_session_reference(written) ? written.substr(kSessionPrefix.size()) : written;
  return complete_id(client, "session", text, &ServiceRequest::mutable_inspect_session, [&] {
    std::vector<std::string> ids;
    const auto reply = client.call(&ServiceRequest::mutable_list_sessions);
    for (const auto& info : reply.session_list().sessions()) ids.push_back(info.session_id());
    return ids;
  });
}

std::string find_job_id(ServiceClient& client, const std::string& text) {
  return complete_id(client, "job", text, &ServiceRequest::mutable_inspect_job, [&] {
    std::vector<std::string> ids;
    const auto reply = client.call(&ServiceRequest::mutable_list_jobs);
    for (const auto& info : reply.job_list().jobs()) ids.push_back(info.job_id());
    return ids;
  });
}

bool is_session_reference(const std::string& recording) {
  return recording.starts_with(kSessionPrefix);
}

ExitCode print_job_result(ServiceClient& client, const std::string& job_id, bool json) {
  const auto reply = client.call(&ServiceRequest::mutable_get_result, job_id);
  const rigcal::v1::JobResult& result = reply.job_result();
  if (json) {
    print_message_json(result.result());
  } else {
    print_text(result.table());
  }
  // For a refined result, `converged` refers to its last stage.
  return result.result().converged() ? kDone : kNotConverged;
}

void write_job_rig_files(const std::string& job_id, const rigcal::v1::CalibrationResult& result,
                         const ResultFiles& files) {
  const StoredResult stored = convert_stored_result("job " + job_id, result);
  write_rig_files(stored.rig_name, stored.rig_text, stored.rig, files,
                  files.json.empty() ? "the JSON of rigcal result " + job_id : files.json);
}

void download_job_report(ServiceClient& client, const std::string& job_id, bool cross_validation,
                         const std::string& path) {
  std::string page;
  client.read_file(
      [&](std::uint64_t offset) {
        ServiceRequest request;
        request.mutable_read_report()->set_job_id(job_id);
        request.mutable_read_report()->set_offset_bytes(offset);
        request.mutable_read_report()->set_kind(cross_validation
                                                    ? rigcal::v1::ReadReport::CROSS_VALIDATION
                                                    : rigcal::v1::ReadReport::CALIBRATION);
        return request;
      },
      [&](const rigcal::v1::FilePart& part) { page += part.data(); });
  write_report_file(path, page);
}

void add_remote_options(CLI::App& command, RemoteOptions& remote) {
  // Local unless --server is given: the environment alone does not send data away.
  remote.server.host_port.clear();
  add_service_options(command, remote.server)
      ->envname("")
      ->description("Calibrate on the service at this address; recordings may be session:ID");
  const std::string group = "Service";
  add_option(command, "--job", remote.job_id, "JOB", "Job id; default: a hash of the job's content",
             group)
      ->needs("--server");
  command.add_flag("--detach", remote.detach, "Print the job's id and exit; see watch, result")
      ->group(group)
      ->needs("--server");
  command
      .add_flag("--skip-cross-validation", remote.skip_cross_validation,
                "Omit the cross-validation, which predicts each recording from the others")
      ->group(group)
      ->needs("--server");
}

ExitCode calibrate_remotely(const RemoteOptions& remote, const EstimationOptions& options,
                            const ResultFiles& files) {
  if (files.trajectories) {
    throw proto::InputError(
        "--trajectories: a service stores no trajectories; omit it, or calibrate locally without "
        "--server");
  }
  check_detached(remote, files);
  check_inputs(remote, options);
  return run_with_service(
      remote.server, [&](ServiceClient& client) { return run(client, remote, options, files); });
}

}  // namespace service
