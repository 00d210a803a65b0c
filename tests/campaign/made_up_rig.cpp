#include "tests/campaign/clients.hpp"

#include <chrono>
#include <optional>
#include <random>
#include <utility>

namespace campaign {
namespace {

using namespace test_support;
using rigcal::v1::ServiceReply;
using rigcal::v1::SessionRefused;

constexpr std::uint64_t kWindow = 16;
constexpr std::uint64_t kRigSamplesPerBatch = 20;
constexpr double kRigPatience_s = 15.0;

class MadeUpRig {
 public:
  MadeUpRig(Caller caller, std::uint64_t seed)
      : caller_(std::move(caller)),
        service_(caller_.service()),
        ledger_(caller_.ledger()),
        random_(seed) {}

  void run(const std::atomic<bool>& stop) {
    while (!stop.load() && !service_.dead()) stream_session();
  }

 private:
  enum class End { kConnectionLost, kAllAcknowledged };

  void stream_session() {
    id_ = caller_.name() + "-" + std::to_string(++session_count_);
    batch_count_ = 20 + random_() % 300;
    acknowledged_ = sent_through_ = 0;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    for (bool closed = false; !closed;) {
      if (service_.dead()) return;
      if (std::chrono::steady_clock::now() > end) {
        return ledger_.fail(id_ + ": is not taken in time");
      }
      SocketClient client(service_.port());
      expects_refusal_ = false;
      const ServiceReply reply =
          client.connected() ? client.call(open_request(id_), kRigPatience_s) : ServiceReply();
      if (!reply.has_session_opened()) {
        if (reply.has_session_refused() &&
            reply.session_refused().reason() == SessionRefused::REASON_BAD_REQUEST) {
          ledger_.fail(id_ + ": opening is refused: " + reply.session_refused().text());
        }
        pause(100);
        continue;
      }
      const std::uint64_t through = reply.session_opened().acknowledged_through();
      if (through < acknowledged_) {
        ledger_.fail(id_ + ": batch " + std::to_string(acknowledged_) +
                     " was acknowledged, and the service has up to " + std::to_string(through));
      }
      acknowledge(through);
      if (stream(client) == End::kAllAcknowledged) closed = close(client);
    }
    hanging_.reset();
    expect_stored(caller_, id_, batch_count_ * kRigSamplesPerBatch,
                  "samples of made-up rigs compared");
  }

  End stream(SocketClient& client) {
    std::uint64_t next = acknowledged_ + 1;
    while (acknowledged_ < batch_count_) {
      if (next <= batch_count_ && next <= acknowledged_ + kWindow) {
        if (random_() % 40 == 0 && !misbehave(client, next)) return End::kConnectionLost;
        if (next > batch_count_) continue;
        sent_through_ = std::max(sent_through_, next);
        if (!client.send(batch_request(next++, kRigSamplesPerBatch))) return End::kConnectionLost;
        ledger_.count("batches sent by made-up rigs");
        if (!take_acknowledgements(client, 0.0)) return End::kConnectionLost;
        pause(static_cast<int>(random_() % 4));
        continue;
      }
      const std::uint64_t before = acknowledged_;
      if (!take_acknowledgements(client, kRigPatience_s)) return End::kConnectionLost;
      if (acknowledged_ == before) return End::kConnectionLost;  // silent for too long
    }
    return End::kAllAcknowledged;
  }

  // False if the connection should be given up.
  bool misbehave(SocketClient& client, std::uint64_t& next) {
    const std::string frame = request_frame(batch_request(next, kRigSamplesPerBatch));
    switch (random_() % 7) {
      case 0:
      case 1: {  // some sent batches, once more
        const std::uint64_t again = 1 + random_() % std::max<std::uint64_t>(next - 1, 1);
        if (again >= next) return true;
        ledger_.count("batches sent twice");
        return client.send(batch_request(again, kRigSamplesPerBatch));
      }
      case 2: {  // other content under an acknowledged number
        if (acknowledged_ == 0) return true;
        auto altered = batch_request(acknowledged_ + 1000, kRigSamplesPerBatch);
        altered.mutable_sample_batch()->set_batch_sequence(1 + random_() % acknowledged_);
        ledger_.count("batches sent again, altered");
        expects_refusal_ = true;
        client.send(altered);
        take_acknowledgements(client, kRigPatience_s);
        return false;
      }
      case 3: {  // the batch after the next one first
        if (next + 1 > batch_count_) return true;
        expects_refusal_ = true;
        sent_through_ = std::max(sent_through_, next + 1);
        ledger_.count("batches sent out of order");
        client.send(batch_request(next + 1, kRigSamplesPerBatch));
        client.send_bytes(frame);
        take_acknowledgements(client, kRigPatience_s);
        return false;
      }
      case 4:  // stops in the middle
        ledger_.count("batches broken off");
        client.send_bytes(frame.substr(0, random_() % frame.size()));
        return false;
      case 5:  // ends its direction, and keeps receiving
        ledger_.count("connections half closed by made-up rigs");
        client.half_close();
        take_acknowledgements(client, 2.0);
        return false;
      default:  // reconnects before the old connection is closed
        ledger_.count("connections left hanging by made-up rigs");
        hanging_.emplace(std::move(client));
        return false;
    }
  }

  // False if the connection is over.
  bool take_acknowledgements(SocketClient& client, double timeout_s) {
    while (const auto reply = client.receive(timeout_s)) {
      if (reply->has_session_refused()) {
        const auto reason = reply->session_refused().reason();
        const bool for_good = reason == SessionRefused::REASON_BAD_REQUEST;
        if (for_good && !expects_refusal_) {
          ledger_.fail(id_ + ": is refused: " + reply->session_refused().text());
        }
        ledger_.count(for_good ? "refusals of batches out of order"
                               : "refusals sent to made-up rigs while the disk was in trouble");
        return false;
      }
      if (reply->has_acknowledge()) acknowledge(reply->acknowledge().through());
      timeout_s = 0.0;
    }
    return !client.closed_by_service(0.0);
  }

  void acknowledge(std::uint64_t through) {
    if (through > sent_through_) {
      ledger_.fail(id_ + ": batch " + std::to_string(through) + " is acknowledged, never sent");
    }
    if (through > acknowledged_) {
      ledger_.count("samples of made-up rigs acknowledged",
                    (through - acknowledged_) * kRigSamplesPerBatch);
    }
    acknowledged_ = std::max(acknowledged_, through);
  }

  bool close(SocketClient& client) {
    if (!client.send(close_request(batch_count_))) return false;
    while (const auto reply = client.receive(kRigPatience_s)) {
      if (reply->has_session_closed()) return true;
      if (!reply->has_acknowledge()) return false;
    }
    return false;
  }

  Caller caller_;
  ServiceUnderTest& service_;
  Ledger& ledger_;
  std::mt19937_64 random_;
  int session_count_ = 0;

  std::string id_;  // of the session
  std::uint64_t batch_count_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t sent_through_ = 0;
  bool expects_refusal_ = false;
  std::optional<SocketClient> hanging_;  // a connection that was left open
};

}  // namespace

void run_made_up_rig(Caller caller, std::uint64_t seed, const std::atomic<bool>& stop) {
  MadeUpRig(std::move(caller), seed).run(stop);
}

}  // namespace campaign
