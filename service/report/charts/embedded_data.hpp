#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace service {

/// Formats text as a JSON string in quotes. The special characters of HTML are escaped, e.g. as
/// \u003c, so that the text cannot end an HTML script element that contains the string.
std::string json_string(const std::string& text);

/// Formats a number as JSON in the shortest form that parses to the same number; null if the number
/// is not finite.
std::string json_number(double value);

/// Formats numbers for the page's script as a JSON object, in one of these forms:
///   {"from": a, "step": b, "count": n}   evenly spaced numbers
///   {"values": [1, null]}                few numbers
///   {"f32": base64}                      many numbers in single precision (seven digits)
///   {"f64": base64}                      many numbers in double precision
/// Base64 contains little-endian IEEE 754 numbers. Missing numbers are NaN or null.
std::string json_spaced(const std::vector<double>& values);   ///< for increasing x values
std::string json_numbers(const std::vector<double>& values);  ///< for y values

/// Checks whether the spacing of the values is constant to a millionth of a step.
bool is_evenly_spaced(const std::vector<double>& values);

/// Encodes bytes as Base64 (RFC 4648).
std::string base64(const std::string& bytes);

}  // namespace service
