#include "estimator/assessment/finding.hpp"

#include <utility>

namespace estimator {

Finding make_finding(Message message, std::string recording, std::string channel) {
  Finding finding;
  finding.severity = severity_of(message);
  finding.message = std::move(message);
  finding.recording = std::move(recording);
  finding.channel = std::move(channel);
  return finding;
}

}  // namespace estimator
