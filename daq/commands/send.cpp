#include "daq/commands/commands.hpp"

#include <chrono>
#include <memory>
#include <ostream>
#include <utility>

#include "daq/stream/spool_folder.hpp"
#include "daq/stream/stream_sink.hpp"
#include "proto/text/printable.hpp"

namespace daq {
namespace {

constexpr std::chrono::milliseconds kWaitTime(200);

}  // namespace

ExitCode send_spooled_data(const SendOptions& options, const std::atomic<bool>& stop,
                           std::ostream& out) {
  const ServiceEndpoint service = make_service_endpoint(options.service);
  auto folder = open_spool_folder(options.spool_folder);
  if (!folder.ok()) return fail(folder.error().detail);
  const auto rest = append_missing_messages(options.spool_folder, folder.value());
  if (!rest.ok()) return fail(rest.error().detail);
  for (const std::string& note : rest.value().notes) out << "note: " << note << std::endl;
  if (!rest.value().ended) {
    out << "note: the end of this run was not recorded; the session is marked as interrupted"
        << std::endl;
  }
  auto stream = std::make_unique<StreamSink>(service, std::move(folder.value()));
  stream->end(!rest.value().ended);
  std::string problem;
  bool done = false;
  bool refused = false;
  while (!done && !refused && !stop.load()) {
    done = stream->wait(kWaitTime);
    refused = stream->is_session_rejected();
    if (stream->latest_problem() == problem) continue;
    problem = stream->latest_problem();
    if (!problem.empty()) out << "note: " << proto::escape_for_terminal(problem) << std::endl;
  }
  const std::uint64_t backlog = stream->unsent_batch_count();
  stream.reset();
  if (done) {
    remove_spool_folder(options.spool_folder);
    out << "streamed to " << service.host_port << "; removed " << options.spool_folder << "\n";
    return ExitCode::kDone;
  }
  return fail(std::to_string(backlog) + " batches remain in " + options.spool_folder);
}

}  // namespace daq
