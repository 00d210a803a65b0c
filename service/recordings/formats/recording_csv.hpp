#pragma once

#include <string>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Returns a recording as CSV text that import_recording can read with the same rig file. The rig
/// file's recording { } defines columns, units, signs and offsets; without it, plain_format does.
/// Rows without readings are left out.
std::string recording_csv(const Rig& rig, const estimator::Recording& recording);

/// Returns a list of the data of a recording that `recording_csv` cannot represent. Each entry is a
/// sentence with the remedy.
std::vector<std::string> csv_losses(const Rig& rig, const estimator::Recording& recording);

}  // namespace service
