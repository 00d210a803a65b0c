#pragma once

#include <string>

#include "service/client/estimation_options.hpp"
#include "service/import/rig_file.hpp"
#include "service/result/rig_out.hpp"

namespace service {

/// Whether a name is that of a rig file.
bool is_rig_file(const std::string& path);

/// Whether any description of the calibrated rig is to be written.
bool has_rig_files(const ResultFiles& files);

/// Writes the descriptions of the calibrated rig that are asked for, and tells what could not be
/// written.
/// @param covariance  file or command that has the covariance, for a remark; empty: none
void write_rig_files(const std::string& rig_name, const std::string& rig_text,
                     const CalibratedRig& calibrated, const ResultFiles& files,
                     const std::string& covariance);

/// Writes a rig as a robot's description, of the kind that the name's end says, and tells what the
/// format has no place for.
/// @param remarks  lines of a comment at its head
void write_robot(const std::string& path, const Rig& rig, const std::vector<std::string>& remarks);

/// Whether a name is that of a robot's description: .urdf, .xml or .mjcf.
bool is_robot_file(const std::string& path);

}  // namespace service
