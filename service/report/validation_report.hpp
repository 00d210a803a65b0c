#pragma once

#include <string>

#include "service/result/validation_message.hpp"

namespace service {

/// A validation for people: errors by recording and sensor, beside the readings' own noise.
std::string format_validation(const estimator::Validation& validation,
                              const ValidationChoice& choice, double wall_time);

/// The same as one self-contained HTML page, with the error of every window along time and the
/// first windows drawn.
std::string validation_page(const estimator::Validation& validation, const ValidationChoice& choice,
                            const CalibrationContext& context);

/// What to know of a validation: how states were found, windows that say nothing.
std::vector<std::string> describe_validation(const estimator::Validation& validation,
                                             const ValidationChoice& choice);

/// Whether every window's initial state was fitted to the simulation.
bool is_fitted(const estimator::Validation& validation);

}  // namespace service
