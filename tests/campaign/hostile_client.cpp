#include "tests/campaign/hostile_client.hpp"

#include <array>
#include <chrono>
#include <list>
#include <thread>

namespace campaign {
namespace {

using rigcal::v1::ServiceRequest;
using test_support::batch_request;
using test_support::open_request;
using test_support::request_frame;
using test_support::SocketClient;

void hold_back(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

std::string with_length(const std::string& payload) {
  const auto size = static_cast<std::uint32_t>(payload.size());
  return std::string(reinterpret_cast<const char*>(&size), 4) + payload;
}

std::string hello_frame() {
  ServiceRequest request;
  request.mutable_hello()->set_protocol_version(2);
  request.mutable_hello()->set_client("hostile");
  return request_frame(request);
}

}  // namespace

HostileClient::HostileClient(ServiceUnderTest& service, Ledger& ledger, std::uint64_t seed,
                             int crowd)
    : service_(service), ledger_(ledger), random_(seed), crowd_(crowd) {}

void HostileClient::run(const std::atomic<bool>& stop) {
  using Attack = void (HostileClient::*)();
  struct Kind {
    const char* name;
    Attack attack;
  };
  static constexpr std::array<Kind, 9> kKinds = {
      Kind{"noise", &HostileClient::send_noise},
      Kind{"giant lengths", &HostileClient::send_giant_length},
      Kind{"messages that unfold", &HostileClient::send_unfolding_message},
      Kind{"half-open connections", &HostileClient::hang_half_open},
      Kind{"dripping connections", &HostileClient::drip},
      Kind{"crowds", &HostileClient::crowd},
      Kind{"clients that never read", &HostileClient::never_read},
      Kind{"nonsensical requests", &HostileClient::ask_nonsense},
      Kind{"damaged streams", &HostileClient::send_damaged_stream},
  };
  while (!stop.load()) {
    const Kind& kind = kKinds[random_() % kKinds.size()];
    (this->*kind.attack)();
    ledger_.count(std::string("attacks: ") + kind.name);
    hold_back(static_cast<int>(random_() % 50));
  }
}

std::string HostileClient::noise(std::size_t size_bytes_max) {
  std::string bytes(1 + random_() % size_bytes_max, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random_());
  return bytes;
}

void HostileClient::send_noise() {
  Client client(service_.port());
  if (!client.connected()) return;
  const bool greeted = random_() % 2 == 0;
  if (greeted) client.send_bytes(hello_frame());
  client.send_bytes(random_() % 4 == 0 ? "GET / HTTP/1.1\r\n\r\n" : noise(70'000));
  client.closed_by_service(0.2);
}

void HostileClient::send_giant_length() {
  Client client(service_.port());
  if (!client.connected()) return;
  constexpr std::array<std::uint32_t, 4> kSizes = {0xffffffffu, 0x7fffffffu, 0x10000000u, 300'000u};
  const std::uint32_t size = kSizes[random_() % kSizes.size()];
  client.send_bytes(std::string(reinterpret_cast<const char*>(&size), 4));
  client.send_bytes(request_frame(batch_request(1)).substr(4));
  client.closed_by_service(0.2);
}

// Elements of two bytes on the wire and hundreds in memory.
void HostileClient::send_unfolding_message() {
  Client client(service_.port());
  if (!client.connected()) return;
  std::string entries;
  const bool job = random_() % 2 == 0;
  for (int k = 0; k < 60'000; ++k) entries += job ? std::string("\x1a\x00", 2) : "\x12\x00";
  ServiceRequest request;
  if (job) {
    request.mutable_submit_job()->mutable_spec()->ParseFromString(entries);
  } else {
    for (int k = 0; k < 60'000; ++k) request.mutable_sample_batch()->add_samples();
  }
  client.send_bytes(job ? hello_frame() : request_frame(open_request("evil-unfolding")));
  client.send_bytes(with_length(request.SerializeAsString()));
  client.closed_by_service(0.5);
}

void HostileClient::hang_half_open() {
  std::list<Client> clients;
  for (int k = 0; k < 10; ++k) {
    Client& client = clients.emplace_back(service_.port());
    if (!client.connected()) return;
    const std::string frame = request_frame(open_request("evil-half"));
    client.send_bytes(frame.substr(0, random_() % frame.size()));
  }
  hold_back(1000);
}

void HostileClient::drip() {
  std::list<Client> clients;
  const std::string frame = request_frame(open_request("evil-drip"));
  for (int k = 0; k < 20; ++k) clients.emplace_back(service_.port());
  for (std::size_t at = 0; at < 20; ++at) {
    for (Client& client : clients) {
      if (client.connected()) client.send_bytes(frame.substr(at, 1));
    }
    hold_back(100);
  }
}

void HostileClient::crowd() {
  std::list<Client> clients;
  for (int k = 0; k < crowd_; ++k) {
    Client& client = clients.emplace_back(service_.port());
    if (!client.connected()) break;
    if (random_() % 8 == 0) client.send_bytes(noise(8));
  }
  ledger_.count("connections of crowds", clients.size());
  hold_back(500);
}

void HostileClient::never_read() {
  Client client(service_.port());
  if (!client.connected()) return;
  client.give_up_sending_after(1.0);
  client.send_bytes(hello_frame());
  ServiceRequest request;
  request.mutable_list_sessions();
  std::string frames;
  for (int k = 0; k < 2000; ++k) frames += request_frame(request);
  client.send_bytes(frames);
  hold_back(500);
}

void HostileClient::ask_nonsense() {
  Client client(service_.port());
  if (!client.connected() || !client.greet()) return;
  constexpr std::array kIds = {
      "",       "..",  "../../etc/passwd",
      "nobody", "a/b", "an-id-that-is-far-longer-than-the-64-characters-that-ids-may-have-x"};
  for (int k = 0; k < 30; ++k) {
    const std::string id = kIds[random_() % kIds.size()];
    ServiceRequest request;
    switch (random_() % 12) {
      case 0:
        request.mutable_inspect_session()->set_session_id(id);
        break;
      case 1:
        request.mutable_end_session()->set_session_id(id);
        break;
      case 2:
        request.mutable_delete_session()->set_session_id(id);
        break;
      case 3:
        request.mutable_subscribe_session()->set_session_id(id);
        break;
      case 4:
        request.mutable_read_recording()->set_session_id(id);
        request.mutable_read_recording()->set_offset_bytes(random_());
        break;
      case 5:
        request.mutable_open_upload()->set_session_id(id);
        request.mutable_open_upload()->set_file_name("../x.csv");
        request.mutable_open_upload()->set_size_bytes(random_());
        break;
      case 6:
        request.mutable_upload_part()->set_session_id(id);
        request.mutable_upload_part()->set_data(noise(1000));
        break;
      case 7:
        request.mutable_cancel_job()->set_job_id(id);
        break;
      case 8:
        request.mutable_delete_job()->set_job_id(id);
        break;
      case 9:
        request.mutable_get_result()->set_job_id(id);
        break;
      case 10:
        request.mutable_read_report()->set_job_id(id);
        break;
      default:
        request.mutable_submit_job()->set_job_id(id);
        request.mutable_submit_job()->mutable_spec()->set_rig_text("joint { nonsense }");
        request.mutable_submit_job()->mutable_spec()->add_recordings()->set_session_id(id);
    }
    const std::uint64_t before = service_.disturbances();
    const auto reply = client.call(request, 20.0);
    if (reply.has_error()) continue;
    if (before % 2 == 0 && before == service_.disturbances()) {
      ledger_.fail("nonsense was not answered with an error: " + request.ShortDebugString() +
                   " -> " + reply.ShortDebugString());
    }
    return;
  }
}

void HostileClient::send_damaged_stream() {
  Client client(service_.port());
  if (!client.connected()) return;
  client.send_bytes(request_frame(open_request("evil-" + std::to_string(random_() % 4))));
  std::string stream;
  for (std::uint64_t k = 1; k <= 5; ++k) stream += request_frame(batch_request(k));
  for (int k = 0; k < 4; ++k) {
    stream[random_() % stream.size()] ^= static_cast<char>(1U << (random_() % 8));
  }
  client.send_bytes(stream);
  client.closed_by_service(0.2);
}

}  // namespace campaign
