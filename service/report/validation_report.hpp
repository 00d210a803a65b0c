#pragma once

#include <string>

#include "service/result/validation_message.hpp"

namespace service {

/// Formats a validation: errors by recording and sensor, beside the noise of the readings.
std::string format_validation(const estimator::Validation& validation,
                              const ValidationSettings& choice, double wall_time);

/// Returns it as one self-contained HTML page, with the error of every window over time and plots
/// of the first windows.
std::string validation_page(const estimator::Validation& validation,
                            const ValidationSettings& choice, const CalibrationContext& context);

/// Notes on a validation: how states were found, and windows without results.
std::vector<std::string> describe_validation(const estimator::Validation& validation,
                                             const ValidationSettings& choice);

/// Whether every window's initial state was fitted to the simulation.
bool is_fitted(const estimator::Validation& validation);

}  // namespace service
