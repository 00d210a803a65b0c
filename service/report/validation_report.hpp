#pragma once

#include <string>

#include "service/result/validation_message.hpp"

namespace service {

/// Formats the result of a validation as text, with the errors of each sensor in each recording
/// next to the sensor noise.
std::string format_validation(const estimator::Validation& validation,
                              const ValidationSettings& choice, double wall_time);

/// Returns the result of a validation as a self-contained HTML page, with the errors of all
/// prediction windows over time and plots of the first prediction windows.
std::string render_validation_page(const estimator::Validation& validation,
                                   const ValidationSettings& choice,
                                   const CalibrationMetadata& context);

/// Returns notes on a validation: how initial states were determined, and which prediction windows
/// have no result.
std::vector<std::string> make_validation_notes(const estimator::Validation& validation,
                                               const ValidationSettings& choice);

/// Checks whether the initial states of all prediction windows were fitted to the simulation.
bool has_fitted_initial_states(const estimator::Validation& validation);

}  // namespace service
