// Samples per second that the service ingests, compared with an upper bound: an echo of the same
// bytes through a bare Asio server. Both are separate processes with the same client, and the
// processor time is the server's alone.
//
//   IngestService    batches of 100 samples (a rig at 1 kHz sends ten a second), 32 in transit,
//                    each acknowledged when it is durable, then closed into a recording
//   BareEcho         the same frames through a server that sends every byte back
//
// samples_per_cpu_s is the capacity of one core; rigs_per_core is that over 1000.

#include <benchmark/benchmark.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>
#include <fstream>
#include <memory>
#include <sstream>

#include "tests/service/server/service_process.hpp"

namespace {

using namespace test_support;

constexpr std::uint64_t kBatches = 3'000;  // five minutes of a rig
constexpr std::uint64_t kSamplesPerBatch = 100;
constexpr std::uint64_t kWindow = 32;

// Processor time of a process so far, all threads [s].
double processor_time(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream rest(text.substr(text.rfind(')') + 2));
  std::string word;
  double ticks = 0.0;
  for (int field = 3; rest >> word; ++field) {
    if (field == 14 || field == 15) ticks += std::stod(word);
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

const std::vector<std::string>& frames() {
  static const std::vector<std::string> kFrames = [] {
    std::vector<std::string> made;
    for (std::uint64_t k = 1; k <= kBatches; ++k) {
      made.push_back(request_frame(batch_request(k, kSamplesPerBatch)));
    }
    return made;
  }();
  return kFrames;
}

void set_counters(benchmark::State& state, double server_time_s) {
  const auto samples =
      static_cast<double>(state.iterations()) * static_cast<double>(kBatches * kSamplesPerBatch);
  double bytes = 0.0;
  for (const std::string& frame : frames()) bytes += static_cast<double>(frame.size());
  state.counters["samples_per_s"] = benchmark::Counter(samples, benchmark::Counter::kIsRate);
  state.counters["MB_per_s"] = benchmark::Counter(
      1e-6 * bytes * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["samples_per_cpu_s"] = samples / server_time_s;
  state.counters["rigs_per_core"] = samples / server_time_s / 1000.0;
}

void IngestService(benchmark::State& state) {
  ServiceProcess service;
  if (!service.start()) return state.SkipWithError("rigcald does not start");
  const double before = processor_time(service.pid());
  int round = 0;
  frames();
  for (auto _ : state) {
    SocketClient client(service.port());
    client.call(open_request("run-" + std::to_string(++round)));
    std::uint64_t acknowledged = 0;
    for (std::uint64_t k = 1; k <= kBatches; ++k) {
      client.send_bytes(frames()[k - 1]);
      while (acknowledged + kWindow < k) {
        acknowledged = client.receive()->acknowledge().through();
      }
    }
    while (acknowledged < kBatches) acknowledged = client.receive()->acknowledge().through();
  }
  set_counters(state, processor_time(service.pid()) - before);
}

// Sends back all received bytes.
class Echo : public std::enable_shared_from_this<Echo> {
 public:
  explicit Echo(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

  void read() {
    socket_.async_read_some(
        asio::buffer(buffer_),
        [self = shared_from_this()](const asio::error_code& error, std::size_t count) {
          if (!error) self->write(count);
        });
  }

 private:
  void write(std::size_t count) {
    asio::async_write(socket_, asio::buffer(buffer_, count),
                      [self = shared_from_this()](const asio::error_code& error, std::size_t) {
                        if (!error) self->read();
                      });
  }

  asio::ip::tcp::socket socket_;
  std::array<char, 64 << 10> buffer_;
};

void BareEcho(benchmark::State& state) {
  asio::io_context io;
  asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
  const std::uint16_t port = acceptor.local_endpoint().port();
  frames();
  const pid_t server = ::fork();
  if (server == 0) {
    std::function<void()> accept = [&] {
      acceptor.async_accept([&](const asio::error_code& error, asio::ip::tcp::socket socket) {
        if (!error) std::make_shared<Echo>(std::move(socket))->read();
        accept();
      });
    };
    accept();
    io.run();
    ::_exit(0);
  }
  const double before = processor_time(server);
  for (auto _ : state) {
    SocketClient client(port);
    std::uint64_t sent = 0, returned = 0;
    for (const std::string& frame : frames()) {
      client.send_bytes(frame);
      sent += frame.size();
      while (returned + kWindow * frame.size() < sent) returned += client.discard(20.0);
    }
    while (returned < sent) returned += client.discard(20.0);
  }
  set_counters(state, processor_time(server) - before);
  ::kill(server, SIGKILL);
  ::waitpid(server, nullptr, 0);
}

BENCHMARK(IngestService)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BareEcho)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
