#include "tests/service/server/streaming_rig.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace test_support {

Sent send_through(const ServiceProcess& service, const std::string& id, std::uint64_t through,
                  std::uint64_t sample_count) {
  constexpr std::uint64_t kWindow = 8;
  Sent sent;
  SocketClient client(service.port());
  const rigcal::v1::ServiceReply opened = client.call(open_request(id));
  if (opened.has_session_refused()) sent.refused = opened.session_refused();
  if (!opened.has_session_opened()) return sent;
  sent.acknowledged = opened.session_opened().acknowledged_through();
  std::uint64_t next = sent.acknowledged + 1;
  while (sent.acknowledged < through) {
    while (next <= through && next <= sent.acknowledged + kWindow) {
      if (!client.send(batch_request(next, sample_count))) break;
      ++next;
    }
    const auto reply = client.receive();
    if (!reply) return sent;
    if (reply->has_session_refused()) {
      sent.refused = reply->session_refused();
      return sent;
    }
    sent.acknowledged = reply->acknowledge().through();
  }
  return sent;
}

bool is_stored(const ServiceProcess& service, const std::string& id) {
  const std::string folder = service.session_folder(id);
  return std::filesystem::exists(folder + "/recording.mcap") &&
         !std::filesystem::exists(folder + "/spool");
}

void complete_session(ServiceProcess& service, const std::string& id, std::uint64_t batch_count,
                      std::uint64_t sample_count) {
  ASSERT_EQ(send_through(service, id, batch_count, sample_count).acknowledged, batch_count)
      << service.output();
  SocketClient client(service.port());
  ASSERT_TRUE(client.call(open_request(id)).has_session_opened()) << service.output();
  const rigcal::v1::ServiceReply closed = client.call(close_request(batch_count));
  ASSERT_TRUE(closed.has_session_closed()) << closed.DebugString() << service.output();
  ASSERT_EQ(closed.session_closed().through(), batch_count);
  ASSERT_TRUE(eventually([&] { return is_stored(service, id); }, 60.0)) << service.output();
}

}  // namespace test_support
