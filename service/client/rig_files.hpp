#pragma once

#include <string>

#include "service/client/estimation_options.hpp"
#include "service/import/rig_file.hpp"
#include "service/result/calibrated_rig_file.hpp"

namespace service {

/// Whether a file name has the ending of a rig file.
bool is_rig_file(const std::string& path);

/// Whether any description of the calibrated rig was requested.
bool wants_rig_files(const ResultFiles& files);

/// Writes the requested descriptions of the calibrated rig. Prints the elements that they cannot
/// represent.
/// @param covariance  file or command that has the covariance, for a comment; empty: none
void write_rig_files(const std::string& rig_name, const std::string& rig_text,
                     const CalibratedRig& calibrated, const ResultFiles& files,
                     const std::string& covariance);

/// Writes a rig as a robot description in the format given by the file name's ending. Prints the
/// elements that the format cannot represent.
/// @param remarks  comment lines at its head
void write_robot(const std::string& path, const Rig& rig, const std::vector<std::string>& remarks);

/// Whether a file name has the ending of a robot description: .urdf, .xml or .mjcf.
bool is_robot_file(const std::string& path);

}  // namespace service
