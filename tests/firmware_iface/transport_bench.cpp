#include "tests/firmware_iface/transport_bench.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <termios.h>

#include <array>
#include <filesystem>

#include "firmware_iface/open/open_transport.hpp"
#include "firmware_iface/sim/plants.hpp"
#include "firmware_iface/sim/sim_server.hpp"
#include "firmware_iface/transport/descriptor.hpp"
#include "tests/firmware_iface/memory_transport.hpp"
#include "tests/support/virtual_time.hpp"

namespace transport_bench {

using namespace firmware_iface;
using namespace std::chrono_literals;

namespace {

class DescriptorPeer final : public Peer {
 public:
  DescriptorPeer(Descriptor descriptor, DescriptorKind kind)
      : descriptor_(std::move(descriptor)), kind_(kind) {}
  void write(const Bytes& bytes) override {
    EXPECT_EQ(write_descriptor(descriptor_.get(), kind_, bytes).size_bytes, bytes.size());
  }
  Bytes read(std::size_t size_bytes) override {
    Bytes bytes;
    std::array<std::uint8_t, 4096> buffer{};
    const Nanoseconds deadline = monotonic_now() + 5s;
    while (bytes.size() < size_bytes) {
      const IoResult result = read_descriptor(descriptor_.get(), buffer, deadline);
      if (result.size_bytes == 0) break;
      bytes.insert(bytes.end(), buffer.begin(),
                   buffer.begin() + static_cast<std::ptrdiff_t>(result.size_bytes));
    }
    return bytes;
  }
  void close() override { descriptor_.reset(); }

 private:
  Descriptor descriptor_;
  DescriptorKind kind_;
};

class MemoryPeer final : public Peer {
 public:
  explicit MemoryPeer(std::unique_ptr<MemoryTransport> end) : end_(std::move(end)) {}
  void write(const Bytes& bytes) override {
    EXPECT_EQ(end_->write(bytes).size_bytes, bytes.size());
  }
  Bytes read(std::size_t size_bytes) override {
    Bytes bytes(size_bytes);
    std::size_t got = 0;
    while (got < size_bytes) {
      const IoResult result = end_->read_some(std::span(bytes).subspan(got), end_->now() + 5s);
      if (result.size_bytes == 0) break;
      got += result.size_bytes;
    }
    bytes.resize(got);
    return bytes;
  }
  void close() override { end_->close(); }

 private:
  std::unique_ptr<MemoryTransport> end_;
};

std::unique_ptr<Transport> open_or_fail(const std::string& url) {
  Result<std::unique_ptr<Transport>> opened = open_transport(url);
  if (!opened.ok()) {
    ADD_FAILURE() << opened.error().detail;
    return nullptr;
  }
  return std::move(opened.value());
}

// A raw pseudo-terminal master, and the path of its other end.
Descriptor open_master(std::string& path) {
  Descriptor master(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK));
  std::array<char, 128> name{};
  EXPECT_EQ(grantpt(master.get()) | unlockpt(master.get()), 0);
  EXPECT_EQ(ptsname_r(master.get(), name.data(), name.size()), 0);
  path = name.data();
  return master;
}

Bench make_memory() {
  auto time = std::make_shared<VirtualTime>();
  auto pair = MemoryTransport::make_pair(*time);
  return {std::move(pair.a), std::make_unique<MemoryPeer>(std::move(pair.b)), "", time};
}

Bench make_pty() {
  Bench bench;
  std::string path;
  Descriptor master = open_master(path);
  bench.url = "pty://" + path;
  bench.transport = open_or_fail(bench.url);
  bench.peer = std::make_unique<DescriptorPeer>(std::move(master), DescriptorKind::kTerminal);
  return bench;
}

Bench make_serial() {
  Bench bench;
  std::string path;
  Descriptor master = open_master(path);
  auto folder = std::make_shared<test_support::TemporaryFolder>();
  std::filesystem::create_symlink(path, folder->file("port"));
  bench.url = serial_url(folder->file("port"));
  bench.transport = open_or_fail(bench.url);
  bench.peer = std::make_unique<DescriptorPeer>(std::move(master), DescriptorKind::kTerminal);
  bench.keep = folder;
  return bench;
}

Bench make_tcp() {
  Bench bench;
  Descriptor listener(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(listen(listener.get(), 1), 0);
  EXPECT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  bench.url = "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  bench.transport = open_or_fail(bench.url);
  Descriptor accepted(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK));
  bench.peer = std::make_unique<DescriptorPeer>(std::move(accepted), DescriptorKind::kSocket);
  return bench;
}

}  // namespace

const std::vector<Kind>& byte_kinds() {
  static const std::vector<Kind> kKinds = {{"memory", make_memory, false},
                                           {"pty", make_pty, true},
                                           {"tcp", make_tcp, false},
                                           {"serial", make_serial, true}};
  return kKinds;
}

ServedUnit::ServedUnit(const sim::SimulationSettings& settings,
                       std::unique_ptr<sim::HostConnection> port)
    : port_(std::move(port)) {
  simulation_ = std::make_unique<sim::UnitSimulation>(
      settings,
      sim::Plant(std::make_unique<sim::FurutaModel>(sim::FurutaParameters{}),
                 {{0.0, 1.0}, {0.0, 0.0}}),
      monotonic_now());
  thread_ = std::thread([this] { sim::serve(*simulation_, *port_, stop_); });
}

void ServedUnit::stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

std::string serial_url(const std::string& link) {
  return "serial:///dev/../../.." + link + "?baud=921600";
}

}  // namespace transport_bench
