#include "service/server/session_names.hpp"

#include "proto/recording/topics.hpp"

namespace service {

std::optional<SessionNames> names_of(const SessionMetadata& metadata) {
  const auto named = [&](std::string_view key) {
    const auto found = metadata.find(std::string(key));
    return found == metadata.end() ? std::string() : found->second;
  };
  std::vector<std::string> hinges = proto::parse_hinges(named(proto::kHingesKey));
  auto sensors = proto::parse_inertial_sensors(named(proto::kInertialKey));
  if (hinges.empty() || !sensors) return std::nullopt;
  return SessionNames{std::move(hinges), std::move(*sensors)};
}

}  // namespace service
