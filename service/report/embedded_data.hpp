#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace service {

/// Text as a JSON string, quotes included. Characters that mean something in HTML are written as
/// \u003c and the like: whatever a name holds, it cannot end the script element it stands in.
std::string json_string(const std::string& text);

/// A number as JSON, the shortest that reads back as the same; null where it is not finite.
std::string json_number(double value);

/// Numbers that the page's script reads, as a JSON object:
///   {"from": a, "step": b, "count": n}   evenly spaced
///   {"values": [1, null]}                few
///   {"f32": base64}                      many, in single precision: seven digits
///   {"f64": base64}                      many, in double precision
/// Base64 holds little-endian IEEE 754; NaN is "no value".
std::string json_spaced(const std::vector<double>& values);   ///< x: increasing
std::string json_numbers(const std::vector<double>& values);  ///< y

/// Evenly spaced to a millionth of a step.
bool is_evenly_spaced(const std::vector<double>& values);

/// Bytes in the letters of RFC 4648.
std::string base64(const std::string& bytes);

}  // namespace service
