#include "service/cli/remote/service_client.hpp"

#include <iostream>
#include <utility>

#include "proto/stream/service_limits.hpp"
#include "service/result/result_message.hpp"

namespace service {
namespace {

using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;

constexpr int kReplyTimeout_ms = 60'000;

bool is_notification(const ServiceReply& reply) {
  switch (reply.reply_case()) {
    case ServiceReply::kJobUpdate:
    case ServiceReply::kLiveBatch:
    case ServiceReply::kLiveDropped:
    case ServiceReply::kLiveEnded:
      return true;
    default:
      return false;
  }
}

}  // namespace

ServiceClient::ServiceClient(const ServiceEndpoint& endpoint)
    : socket_(endpoint), decoder_(proto::service_reply_limits()) {
  ServiceRequest hello;
  hello.mutable_hello()->set_protocol_version(proto::kServiceVersion);
  hello.mutable_hello()->set_client(std::string("rigcal ") + RIGCAL_VERSION);
  if (!call(hello).has_welcome())
    throw proto::InputError("the service did not answer Hello with Welcome");
}

std::optional<ServiceReply> ServiceClient::receive(int timeout_ms) {
  while (frames_.empty()) {
    const std::size_t count = socket_.read(input_, timeout_ms);
    if (count == 0) return std::nullopt;
    std::vector<proto::Frame> frames;
    const proto::Status fed = decoder_.feed(std::span(input_).first(count), frames);
    if (!fed.ok())
      throw proto::InputError("the service violates the protocol: " + fed.error().detail);
    for (proto::Frame& frame : frames) frames_.push_back(std::move(frame));
  }
  ServiceReply reply;
  const proto::Frame frame = std::move(frames_.front());
  frames_.pop_front();
  const auto parsed = proto::parse_frame(frame, proto::service_reply_limits(), reply);
  if (!parsed.ok()) {
    throw proto::InputError("the service violates the protocol: " + parsed.error().detail);
  }
  return reply;
}

ServiceReply ServiceClient::call(const ServiceRequest& request) {
  std::string bytes;
  const auto framed = proto::append_frame(request, proto::service_request_limits(), bytes);
  if (!framed.ok()) throw proto::InputError(framed.error().detail);
  socket_.write(bytes);
  while (auto reply = receive(kReplyTimeout_ms)) {
    if (reply->has_error()) throw ServiceFault(reply->error());
    if (!is_notification(*reply)) return std::move(*reply);
    notifications_.push_back(std::move(*reply));
  }
  throw proto::InputError("the service did not answer within " +
                          std::to_string(kReplyTimeout_ms / 1000) + " s");
}

std::optional<ServiceReply> ServiceClient::wait(int timeout_ms) {
  if (notifications_.empty()) return receive(timeout_ms);
  ServiceReply next = std::move(notifications_.front());
  notifications_.pop_front();
  return next;
}

void ServiceClient::read_file(const std::function<ServiceRequest(std::uint64_t)>& request,
                              const std::function<void(const rigcal::v1::FilePart&)>& take) {
  std::uint64_t offset = 0;
  while (true) {
    const ServiceReply reply = call(request(offset));
    if (reply.file_part().data().empty()) return;
    take(reply.file_part());
    offset += reply.file_part().data().size();
    if (offset >= reply.file_part().file_size_bytes()) return;
  }
}

CLI::Option* add_service_options(CLI::App& command, ServiceAddress& address) {
  const std::string group = "Service";
  auto* server =
      command.add_option("--server", address.host_port,
                         "Address of the service; default unix:$XDG_RUNTIME_DIR/rigcald.sock if it "
                         "exists, else unix:/run/rigcald/rigcald.sock");
  server->envname("RIGCAL_SERVER")->type_name("unix:/PATH|HOST:PORT")->group(group);
  auto* certificate = command.add_option("--tls-cert", address.tls.certificate,
                                         "This client's certificate, PEM; turns TLS on");
  auto* key = command.add_option("--tls-key", address.tls.private_key, "Its private key, PEM");
  auto* authority =
      command.add_option("--tls-ca", address.tls.authority, "Authority of the service, PEM");
  certificate->envname("RIGCAL_TLS_CERT")->type_name("FILE")->group(group);
  key->envname("RIGCAL_TLS_KEY")->type_name("FILE")->group(group);
  authority->envname("RIGCAL_TLS_CA")->type_name("FILE")->group(group);
  return server;
}

ExitCode with_service(const ServiceAddress& address,
                      const std::function<ExitCode(ServiceClient&)>& work) {
  const ServiceEndpoint endpoint = make_service_endpoint(address);
  try {
    ServiceClient client(endpoint);
    return work(client);
  } catch (const proto::InputError& error) {
    std::cerr << "rigcal: " << error.what() << '\n';
    return kServiceTrouble;
  }
}

void print_json(const google::protobuf::Message& message) { std::cout << to_json(message); }

}  // namespace service
