#include "tests/campaign/pendulum_recording.hpp"

#include <cmath>
#include <sstream>

namespace campaign {
namespace {

using namespace test_support;

std::string swing() {
  constexpr double kPeriod_s = 4e-3, kDuration_s = 3.0;
  constexpr double kStiffness = 80.0, kDamping = 0.06;  // over the inertia
  constexpr int kStepsPerSample = 10;
  double angle_rad = 1.0, speed = 0.0;
  std::ostringstream table;
  table << "t_s,theta1_rad\n";
  for (int k = 0; k * kPeriod_s < kDuration_s; ++k) {
    table << k * kPeriod_s << ',' << angle_rad << '\n';
    for (int step = 0; step < kStepsPerSample; ++step) {
      constexpr double h = kPeriod_s / kStepsPerSample;
      speed -= h * (kStiffness * std::sin(angle_rad) + kDamping * speed);
      angle_rad += h * speed;
    }
  }
  return table.str();
}

}  // namespace

bool upload_pendulum(Caller& caller, const std::string& session_id) {
  static const std::string kTable = swing();
  const rigcal::v1::ServiceReply opened =
      caller.ask(upload_request(session_id, kTable.size(), "swing.csv"));
  if (opened.upload_state().complete()) return true;
  return opened.has_upload_state() &&
         caller.ask(part_request(session_id, 0, kTable)).upload_state().complete();
}

}  // namespace campaign
