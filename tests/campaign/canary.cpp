#include "tests/campaign/clients.hpp"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

namespace campaign {
namespace {

using namespace test_support;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBatchPeriod(50);
constexpr std::uint64_t kBatches = 100;
constexpr std::uint64_t kSamplesPerBatch = 50;

// One session over as many connections as needed.
class CanarySession {
 public:
  CanarySession(std::string id, Caller& caller)
      : id_(std::move(id)), caller_(caller), ledger_(caller.ledger()) {}

  void run() {
    const auto end = Clock::now() + kPatience;
    while (!connect_and_stream()) {
      if (caller_.service().dead()) return;
      if (Clock::now() > end) return ledger_.fail(id_ + ": is not taken in time");
      std::this_thread::sleep_for(kBatchPeriod);
    }
    expect_stored(caller_, id_, kBatches * kSamplesPerBatch,
                  "samples of " + caller_.name() + " stored and compared");
  }

 private:
  bool connect_and_stream() {
    const Caller::Calm calm = caller_.calm();
    SocketClient client = caller_.connect();
    const auto opened = client.connected() ? client.call(open_request(id_), kReplyPatience_s)
                                           : rigcal::v1::ServiceReply();
    if (!opened.has_session_opened()) return lost("cannot open", calm, opened);
    const std::uint64_t through = opened.session_opened().acknowledged_through();
    if (through < acknowledged_) ledger_.fail(id_ + ": lost what it had acknowledged");
    if (through > acknowledged_) count_acknowledged();  // its acknowledgement was lost
    acknowledged_ = through;
    while (acknowledged_ < kBatches) {
      std::this_thread::sleep_until(due_);
      const Caller::Calm still_calm = caller_.calm();
      if (!sent_first_) sent_first_.emplace(Clock::now(), still_calm);
      const auto reply =
          client.call(batch_request(acknowledged_ + 1, kSamplesPerBatch), kReplyPatience_s);
      if (!reply.has_acknowledge() || reply.acknowledge().through() != acknowledged_ + 1) {
        return lost("no acknowledgement", still_calm, reply);
      }
      ++acknowledged_;
      due_ += kBatchPeriod;
      count_acknowledged();
    }
    const Caller::Calm at_last = caller_.calm();
    const auto closed = client.call(close_request(kBatches), kReplyPatience_s);
    return closed.has_session_closed() || lost("cannot close", at_last, closed);
  }

  // Measured from the first time that the batch was sent.
  void count_acknowledged() {
    ledger_.count("samples of " + caller_.name() + " acknowledged", kSamplesPerBatch);
    if (!sent_first_) return;
    const std::chrono::duration<double> waited = Clock::now() - sent_first_->first;
    const bool calm = sent_first_->second.lasted();
    sent_first_.reset();
    ledger_.note_duration(caller_.name() + ": batch to acknowledgement", waited.count());
    if (!calm) return;
    ledger_.note_duration(caller_.name() + ": batch to acknowledgement, undisturbed service",
                          waited.count());
  }

  bool lost(const std::string& what, const Caller::Calm& calm,
            const rigcal::v1::ServiceReply& reply) {
    if (calm.lasted()) {
      ledger_.fail(id_ + ": " + what + " while nobody disturbed the service: " + brief(reply));
    }
    ledger_.count("interruptions of " + caller_.name() + ", by disturbances of the service");
    return false;
  }

  std::string id_;
  Caller& caller_;
  Ledger& ledger_;
  std::uint64_t acknowledged_ = 0;
  Clock::time_point due_ = Clock::now();  // time at which the next batch has its samples
  std::optional<std::pair<Clock::time_point, Caller::Calm>> sent_first_{};  // of that batch
};

}  // namespace

void run_canary(Caller caller, const std::atomic<bool>& stop) {
  for (int k = 1; !stop.load() && !caller.service().dead(); ++k) {
    CanarySession(caller.name() + "-" + std::to_string(k), caller).run();
  }
}

}  // namespace campaign
