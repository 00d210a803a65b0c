#pragma once

#include <string>

#include "service/cli/estimation_options.hpp"
#include "service/result/calibrated_rig_file.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Returns whether a file name has the extension of a rig file.
bool is_rig_file(const std::string& path);

/// Returns whether the user requested any description of the calibrated rig.
bool has_requested_rig_files(const ResultFiles& files);

/// Writes the requested files that describe the calibrated rig. Prints the elements that a file
/// format cannot represent.
/// @param covariance  file or command that provides the covariance, named in a comment; empty: none
void write_rig_files(const std::string& rig_name, const std::string& rig_text,
                     const CalibratedParameters& calibrated, const ResultFiles& files,
                     const std::string& covariance);

/// Writes a rig as a robot description in the format of the file name's extension. Prints the
/// elements that the format cannot represent.
/// @param remarks  comment lines at the beginning of the file
void write_robot_description(const std::string& path, const Rig& rig,
                             const std::vector<std::string>& remarks);

/// Returns whether a file name has the extension of a robot description: .urdf, .xml or .mjcf.
bool is_robot_file(const std::string& path);

}  // namespace service
