#include "service/server/storage/session_names.hpp"

#include <utility>

namespace service {

std::optional<SessionNames> names_of(const SessionMetadata& metadata) {
  auto header = proto::header_from_metadata([&](std::string_view key) {
    const auto found = metadata.find(std::string(key));
    return found == metadata.end() ? std::string() : found->second;
  });
  if (!header) return std::nullopt;
  return SessionNames{std::move(header->joints), std::move(header->slides),
                      std::move(header->inertial_sensors), std::move(header->motors),
                      std::move(header->command_units)};
}

}  // namespace service
