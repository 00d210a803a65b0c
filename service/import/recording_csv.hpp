#pragma once

#include <string>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// A recording as CSV in the columns of the rig file's recording { }, in its units and with its
/// signs and offsets, or in plain ones (plain_format) where it describes none, so that
/// import_recording reads it with the same rig file. Rows in which nothing was read are left out.
std::string recording_csv(const Rig& rig, const estimator::Recording& recording);

/// What that file would lose of a recording, a sentence each with what to do.
std::vector<std::string> csv_losses(const Rig& rig, const estimator::Recording& recording);

}  // namespace service
