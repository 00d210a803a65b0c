#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace service {

/// Formats text as a JSON string, with quotes. Escapes HTML's special characters as \u003c etc., so
/// that no text can end the script element that contains it.
std::string json_string(const std::string& text);

/// Formats a number as JSON, in the shortest form that reads back equal; null if it is not finite.
std::string json_number(double value);

/// Numbers that the page's script reads, as a JSON object:
///   {"from": a, "step": b, "count": n}   evenly spaced
///   {"values": [1, null]}                few
///   {"f32": base64}                      many, in single precision: seven digits
///   {"f64": base64}                      many, in double precision
/// Base64 contains little-endian IEEE 754; NaN means no value.
std::string json_spaced(const std::vector<double>& values);   ///< for x; increasing
std::string json_numbers(const std::vector<double>& values);  ///< for y

/// True if the spacing is constant to a millionth of a step.
bool is_evenly_spaced(const std::vector<double>& values);

/// Encodes bytes as Base64 (RFC 4648).
std::string base64(const std::string& bytes);

}  // namespace service
