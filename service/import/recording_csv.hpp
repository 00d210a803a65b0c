#pragma once

#include <string>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Returns a recording as CSV that import_recording reads with the same rig file. Columns, units,
/// signs and offsets are those of the rig file's recording { }, or plain ones (plain_format) if
/// there is none. Rows without readings are left out.
std::string recording_csv(const Rig& rig, const estimator::Recording& recording);

/// Lists the data of a recording that this CSV file would lose, one sentence each with the remedy.
std::vector<std::string> csv_losses(const Rig& rig, const estimator::Recording& recording);

}  // namespace service
