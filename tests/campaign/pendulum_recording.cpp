#include "tests/campaign/pendulum_recording.hpp"

#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/support/source_folder.hpp"

namespace campaign {
namespace {

using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;

const std::string kRig = test_support::source_folder() + "/configs/rig-pendulum.textproto";

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
  ServiceRequest open, part;
  open.mutable_open_upload()->set_session_id(session_id);
  open.mutable_open_upload()->set_file_name("swing.csv");
  open.mutable_open_upload()->set_size_bytes(kTable.size());
  part.mutable_upload_part()->set_session_id(session_id);
  part.mutable_upload_part()->set_data(kTable);
  const ServiceReply opened = caller.ask(open);
  if (opened.upload_state().complete()) return true;
  return opened.has_upload_state() && caller.ask(part).upload_state().complete();
}

ServiceRequest pendulum_job(const std::string& job_id, const std::string& session_id) {
  static const std::string kText = [] {
    std::ifstream file(kRig);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  ServiceRequest request;
  request.mutable_submit_job()->set_job_id(job_id);
  auto& spec = *request.mutable_submit_job()->mutable_spec();
  spec.set_rig_name("rig-pendulum.textproto");
  spec.set_rig_text(kText);
  spec.add_recordings()->set_session_id(session_id);
  return request;
}

}  // namespace campaign
