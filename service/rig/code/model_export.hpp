#pragma once

#include <string>
#include <vector>

#include "service/rig/code/zip_file.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Returns the forward dynamics of a rig as one C99 source file without dependencies. It computes
/// accelerations and the mass matrix, and integrates with sticking friction (model.c.in lists the
/// functions).
/// @param remarks  lines for the comment at the top
/// @throws proto::InputError for elements that generate_model_code does not support
std::string format_c_model(const Rig& rig, const std::vector<std::string>& remarks);

/// Returns a Python module whose function `dynamics` returns the forward dynamics of a rig as a
/// casadi.Function.
/// @throws proto::InputError for elements that generate_model_code does not support
std::string format_casadi_model(const Rig& rig, const std::vector<std::string>& remarks);

/// A functional mock-up unit.
struct Fmu {
  std::vector<ZipEntry> files;
  std::string note;  ///< reason why it has no binary; empty if it has one
};

/// Returns a functional mock-up unit of a rig (FMI 2.0 for co-simulation): its description and its
/// C source. With a C compiler (environment variable CC, otherwise cc), it also contains a binary
/// for this Linux machine.
/// @throws proto::InputError for elements that generate_model_code does not support
Fmu make_fmu(const Rig& rig, const std::vector<std::string>& remarks);

/// Returns whether rigcal writes a model in the format of this file: .c, .fmu or .py.
bool is_model_file(const std::string& path);

/// Writes the equations of motion of a rig in the format of the file's extension. Returns notes.
/// @throws proto::InputError
std::vector<std::string> write_model(const std::string& path, const Rig& rig,
                                     const std::vector<std::string>& remarks);

}  // namespace service
