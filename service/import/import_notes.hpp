#pragma once

#include <string>
#include <vector>

#include "service/import/csv_recording.hpp"

namespace service {

/// What a person should know of an import: gaps, dropped rows, odd columns. Empty when all is well.
std::vector<std::string> describe_import(const ImportSummary& summary);

}  // namespace service
