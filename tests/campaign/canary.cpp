#include "tests/campaign/canary.hpp"

#include <chrono>
#include <thread>

#include "tests/campaign/real_rig.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/service/server/socket_client.hpp"

namespace campaign {
namespace {

using test_support::batch_request;
using test_support::close_request;
using test_support::open_request;
using test_support::SocketClient;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kBatches = 100;
constexpr std::uint64_t kSamplesPerBatch = 50;
constexpr double kPatience_s = 30.0;

// One session over as many connections as it takes.
class CanarySession {
 public:
  CanarySession(std::string id, ServiceUnderTest& service, Ledger& ledger)
      : id_(std::move(id)), service_(service), ledger_(ledger) {}

  void run() {
    const auto end = Clock::now() + kPatience;
    while (!connect_and_stream()) {
      if (service_.dead()) return;
      if (Clock::now() > end) return ledger_.fail(id_ + ": is not taken in time");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    compare();
  }

 private:
  bool connect_and_stream() {
    const std::uint64_t calm = service_.disturbances();
    SocketClient client(service_.port());
    const auto opened = client.connected() ? client.call(open_request(id_), kPatience_s)
                                           : rigcal::v1::ServiceReply();
    if (!opened.has_session_opened()) return lost("cannot open", calm, opened.DebugString());
    const std::uint64_t through = opened.session_opened().acknowledged_through();
    if (through < acknowledged_) ledger_.fail(id_ + ": lost what it had acknowledged");
    acknowledged_ = through;
    while (acknowledged_ < kBatches) {
      const std::uint64_t before = service_.disturbances();
      const auto sent_at = Clock::now();
      const auto reply =
          client.call(batch_request(acknowledged_ + 1, kSamplesPerBatch), kPatience_s);
      if (!reply.has_acknowledge() || reply.acknowledge().through() != acknowledged_ + 1) {
        return lost("no acknowledgement", before, reply.DebugString());
      }
      ++acknowledged_;
      ledger_.count("samples of the canary acknowledged", kSamplesPerBatch);
      if (before % 2 == 0 && service_.disturbances() == before) {
        const std::chrono::duration<double> waited = Clock::now() - sent_at;
        ledger_.note_longest("acknowledgement of the canary's batch", waited.count());
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    const std::uint64_t before = service_.disturbances();
    const auto closed = client.call(close_request(kBatches), kPatience_s);
    return closed.has_session_closed() || lost("cannot close", before, closed.DebugString());
  }

  bool lost(const std::string& what, std::uint64_t disturbances, const std::string& reply) {
    if (disturbances % 2 == 0 && service_.disturbances() == disturbances) {
      ledger_.fail(id_ + ": " + what + " while nobody disturbed the service: " + reply);
    }
    ledger_.count("interruptions of the canary, all by disturbances of the service");
    return false;
  }

  void compare() {
    const auto stored = wait_for_recording(service_, id_, ledger_);
    if (!stored) return;
    bool all = stored->samples.size() == kBatches * kSamplesPerBatch && stored->gaps.empty();
    for (std::size_t k = 0; all && k < stored->samples.size(); ++k) {
      all = test_support::same(stored->samples[k], test_support::make_sample(k));
    }
    if (!all) ledger_.fail(id_ + ": is stored as something else than was sent");
    ledger_.count("samples of the canary compared", stored->samples.size());
    delete_session(service_, id_, ledger_);
  }

  std::string id_;
  ServiceUnderTest& service_;
  Ledger& ledger_;
  std::uint64_t acknowledged_ = 0;
};

}  // namespace

void run_canary(ServiceUnderTest& service, Ledger& ledger, const std::atomic<bool>& stop) {
  for (int k = 1; !stop.load() && !service.dead(); ++k) {
    CanarySession("canary-" + std::to_string(k), service, ledger).run();
  }
}

}  // namespace campaign
