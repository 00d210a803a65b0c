#pragma once

#include <string>
#include <vector>

#include "service/recordings/csv_recording.hpp"

namespace service {

/// Returns messages on gaps, dropped rows and suspicious columns of an imported recording.
std::vector<std::string> describe_import(const ImportSummary& summary);

}  // namespace service
