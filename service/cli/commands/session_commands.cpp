#include <iostream>
#include <memory>

#include "proto/stream/service_limits.hpp"
#include "proto/text/files.hpp"
#include "proto/text/printable.hpp"
#include "service/cli/command.hpp"
#include "service/cli/remote/remote_calibration.hpp"
#include "service/cli/remote/service_client.hpp"
#include "service/report/sections/result_table.hpp"

namespace service {
namespace {

using proto::escape_for_terminal;
using rigcal::v1::ServiceRequest;
using rigcal::v1::SessionInfo;

struct SessionsOptions {
  ServiceAddress server;
  std::string id;
  std::string fetch;
  bool force = false;
  bool end = false;
  bool stop = false;
  bool remove = false;
  bool json = false;
};

std::string fact(const SessionInfo& info, const std::string& key) {
  const auto found = info.metadata().find(key);
  return found == info.metadata().end() ? "" : found->second;
}

bool is_upload(const SessionInfo& info) {
  return info.batch_count() == 0 && info.metadata().contains("file");
}

// Describes the recording: its file name, or the rig and scenario.
std::string recording_text(const SessionInfo& info) {
  if (is_upload(info)) return fact(info, "file");
  const std::string scenario = fact(info, "scenario");
  return fact(info, "rig") + (scenario.empty() ? "" : ", " + scenario);
}

std::string state_text(const SessionInfo& info) {
  std::string text = proto::state_name(info.state());
  if (!info.problem().empty()) text += " (problem)";
  if (info.interrupted()) text += ", interrupted";
  if (info.state() != rigcal::v1::SESSION_OPEN) return text;
  return text + (info.connected() ? ", streaming" : ", rig disconnected");
}

ExitCode list(ServiceClient& client, const SessionsOptions& options) {
  const auto reply = client.call(&ServiceRequest::mutable_list_sessions);
  if (options.json) {
    print_message_json(reply.session_list());
    return kDone;
  }
  std::vector<std::vector<std::string>> rows = {
      {"session", "state", "samples", "kB", "created", "recording"}};
  for (const SessionInfo& info : reply.session_list().sessions()) {
    // The samples of uploaded files are not counted.
    rows.push_back({info.session_id(), state_text(info),
                    is_upload(info) ? "-" : std::to_string(info.sample_count()),
                    std::to_string(info.size_bytes() / 1000),
                    format_local_time(info.created_unix_ns()), recording_text(info)});
  }
  std::cout << format_table(rows, {false, false, true, true, false, false});
  return kDone;
}

void print_session(const SessionInfo& info) {
  std::cout << info.session_id() << ": " << state_text(info) << ", ";
  if (!is_upload(info)) {
    std::cout << info.sample_count() << " samples in " << info.batch_count() << " batches, ";
  }
  std::cout << info.size_bytes() << " bytes, created " << format_local_time(info.created_unix_ns())
            << '\n';
  for (const auto& [key, value] : info.metadata())
    std::cout << "  " << escape_for_terminal(key) << ": " << escape_for_terminal(value) << '\n';
  if (info.interrupted()) {
    std::cout << "  interrupted: the recorder stopped or disconnected without ending the run\n";
  }
  if (!info.problem().empty())
    std::cout << "  problem: " << escape_for_terminal(info.problem()) << '\n';
}

void fetch(ServiceClient& client, const SessionsOptions& options) {
  proto::FileWriter file(options.fetch);
  client.read_file(
      [&](std::uint64_t offset) {
        ServiceRequest request;
        request.mutable_read_recording()->set_session_id(options.id);
        request.mutable_read_recording()->set_offset_bytes(offset);
        return request;
      },
      [&](const rigcal::v1::FilePart& part) { file.write(part.data()); });
  file.finish();
  std::cout << "wrote " << options.fetch << '\n';
}

ExitCode one(ServiceClient& client, SessionsOptions options) {
  options.id = find_session_id(client, options.id);
  if (!options.fetch.empty()) {
    fetch(client, options);
    return kDone;
  }
  if (options.remove) {
    client.call(&ServiceRequest::mutable_delete_session, options.id);
    std::cout << "deleted " << options.id << '\n';
    return kDone;
  }
  const auto reply = options.stop ? client.call(&ServiceRequest::mutable_stop_session, options.id)
                     : options.end
                         ? client.call(&ServiceRequest::mutable_end_session, options.id)
                         : client.call(&ServiceRequest::mutable_inspect_session, options.id);
  if (options.json) {
    print_message_json(reply.session_info());
  } else {
    print_session(reply.session_info());
  }
  return kDone;
}

}  // namespace

void add_sessions(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command = app.add_subcommand(
      "sessions", "List, download, stop, end or delete the recordings of a calibration service");
  const auto options = std::make_shared<SessionsOptions>();
  add_option(*command, "id", options->id, "SESSION",
             "Session id or its beginning; default: list all sessions");
  auto* fetched = command->add_option("--fetch", options->fetch,
                                      "Write the recording of the session to a file");
  fetched->type_name("FILE");
  auto* ended = command->add_flag(
      "--end", options->end,
      "Close an open session whose rig will not reconnect; keeps the received data");
  auto* stopped = command->add_flag(
      "--stop", options->stop,
      "Stop a running rig: its rig computer switches the motor off and ends the recording");
  command->add_flag("--force", options->force, "Overwrite an existing file of --fetch")
      ->needs(fetched);
  auto* removed = command->add_flag("--delete", options->remove, "Delete it");
  command->add_flag("--json", options->json, "Print JSON");
  fetched->excludes(ended)->excludes(removed)->excludes(stopped);
  ended->excludes(removed)->excludes(stopped);
  removed->excludes(stopped);
  add_service_options(*command, options->server);
  command->footer(
      "Examples:\n"
      "  rigcal sessions\n"
      "  rigcal sessions swing-17 --fetch run.mcap\n"
      "  rigcal sessions swing-17 --stop\n"
      "  rigcal sessions swing-17 --end\n"
      "  rigcal sessions swing-17 --delete --server 10.0.0.5:7330");
  command->callback([options, &exit_code] {
    if (options->id.empty() &&
        (options->stop || options->end || options->remove || !options->fetch.empty())) {
      throw proto::InputError("--fetch, --stop, --end and --delete need the id of a session");
    }
    if (!options->fetch.empty()) {
      proto::check_output_file(options->fetch, {});
      proto::check_overwriting(options->fetch, options->force);
    }
    exit_code = run_with_service(options->server, [&](ServiceClient& client) {
      return options->id.empty() ? list(client, *options) : one(client, *options);
    });
  });
}

}  // namespace service
