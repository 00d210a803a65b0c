#include "tests/campaign/clients.hpp"

#include <array>
#include <list>
#include <random>

namespace campaign {
namespace {

using namespace test_support;
using rigcal::v1::ServiceRequest;

std::string with_length(const std::string& payload) {
  const auto size = static_cast<std::uint32_t>(payload.size());
  return std::string(reinterpret_cast<const char*>(&size), 4) + payload;
}

class HostileClient {
 public:
  HostileClient(const Caller& caller, std::uint64_t seed, int crowd)
      : service_(caller.service()), ledger_(caller.ledger()), random_(seed), crowd_(crowd) {}

  void run(const std::atomic<bool>& stop) {
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
      pause(static_cast<int>(random_() % 50));
    }
  }

 private:
  void send_noise() {
    SocketClient client(service_.port());
    if (!client.connected()) return;
    const bool greeted = random_() % 2 == 0;
    if (greeted) client.send_bytes(request_frame(hello_request()));
    client.send_bytes(random_() % 4 == 0 ? "GET / HTTP/1.1\r\n\r\n" : noise(70'000));
    client.closed_by_service(0.2);
  }

  void send_giant_length() {
    SocketClient client(service_.port());
    if (!client.connected()) return;
    constexpr std::array<std::uint32_t, 4> kSizes = {0xffffffffu, 0x7fffffffu, 0x10000000u,
                                                     300'000u};
    const std::uint32_t size = kSizes[random_() % kSizes.size()];
    client.send_bytes(std::string(reinterpret_cast<const char*>(&size), 4));
    client.send_bytes(request_frame(batch_request(1)).substr(4));
    client.closed_by_service(0.2);
  }

  // Elements of two bytes on the wire and hundreds in memory.
  void send_unfolding_message() {
    SocketClient client(service_.port());
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
    client.send_bytes(job ? request_frame(hello_request())
                          : request_frame(open_request("evil-unfolding")));
    client.send_bytes(with_length(request.SerializeAsString()));
    client.closed_by_service(0.5);
  }

  void hang_half_open() {
    std::list<SocketClient> clients;
    for (int k = 0; k < 10; ++k) {
      SocketClient& client = clients.emplace_back(service_.port());
      if (!client.connected()) return;
      const std::string frame = request_frame(open_request("evil-half"));
      client.send_bytes(frame.substr(0, random_() % frame.size()));
    }
    pause(1000);
  }

  void drip() {
    std::list<SocketClient> clients;
    const std::string frame = request_frame(open_request("evil-drip"));
    for (int k = 0; k < 20; ++k) clients.emplace_back(service_.port());
    for (std::size_t at = 0; at < 20; ++at) {
      for (SocketClient& client : clients) {
        if (client.connected()) client.send_bytes(frame.substr(at, 1));
      }
      pause(100);
    }
  }

  void crowd() {
    std::list<SocketClient> clients;
    for (int k = 0; k < crowd_; ++k) {
      SocketClient& client = clients.emplace_back(service_.port());
      if (!client.connected()) break;
      if (random_() % 8 == 0) client.send_bytes(noise(8));
    }
    ledger_.count("connections of crowds", clients.size());
    pause(500);
  }

  void never_read() {
    SocketClient client(service_.port());
    if (!client.connected()) return;
    client.give_up_sending_after(1.0);
    client.send_bytes(request_frame(hello_request()));
    ServiceRequest request;
    request.mutable_list_sessions();
    std::string frames;
    for (int k = 0; k < 2000; ++k) frames += request_frame(request);
    client.send_bytes(frames);
    pause(500);
  }

  void ask_nonsense() {
    SocketClient client(service_.port());
    if (!client.connected() || !client.greet()) return;
    constexpr std::array kIds = {
        "",       "..",  "../../etc/passwd",
        "nobody", "a/b", "an-id-that-is-far-longer-than-the-64-characters-that-ids-may-have-x"};
    for (int k = 0; k < 30; ++k) {
      const ServiceRequest request = nonsense(kIds[random_() % kIds.size()]);
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

  // A request about an object that does not exist, or with fields that make no sense.
  ServiceRequest nonsense(const std::string& id) {
    switch (random_() % 12) {
      case 0:
        return about(&ServiceRequest::mutable_inspect_session, id);
      case 1:
        return about(&ServiceRequest::mutable_end_session, id);
      case 2:
        return about(&ServiceRequest::mutable_delete_session, id);
      case 3:
        return about(&ServiceRequest::mutable_subscribe_session, id);
      case 4:
        return about(&ServiceRequest::mutable_cancel_job, id);
      case 5:
        return about(&ServiceRequest::mutable_delete_job, id);
      case 6:
        return about(&ServiceRequest::mutable_get_result, id);
      case 7:
        return about(&ServiceRequest::mutable_read_report, id);
      case 8: {
        auto request = about(&ServiceRequest::mutable_read_recording, id);
        request.mutable_read_recording()->set_offset_bytes(random_());
        return request;
      }
      case 9:
        return upload_request(id, random_(), "../x.csv");
      case 10:
        return part_request(id, 0, noise(1000));
      default: {
        auto request = about(&ServiceRequest::mutable_submit_job, id);
        request.mutable_submit_job()->mutable_spec()->set_rig_text("joint { nonsense }");
        request.mutable_submit_job()->mutable_spec()->add_recordings()->set_session_id(id);
        return request;
      }
    }
  }

  void send_damaged_stream() {
    SocketClient client(service_.port());
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

  std::string noise(std::size_t size_bytes_max) {
    std::string bytes(1 + random_() % size_bytes_max, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random_());
    return bytes;
  }

  ServiceUnderTest& service_;
  Ledger& ledger_;
  std::mt19937_64 random_;
  int crowd_;
};

}  // namespace

void run_hostile_client(Caller caller, std::uint64_t seed, int crowd,
                        const std::atomic<bool>& stop) {
  HostileClient(caller, seed, crowd).run(stop);
}

}  // namespace campaign
