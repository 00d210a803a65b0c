#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace proto {

/// Range of the size of a session's secret [byte].
inline constexpr std::size_t kSecretSizeMin = 16;
inline constexpr std::size_t kSecretSizeMax = 32;

/// Returns kSecretSizeMax random bytes.
std::string make_secret();

/// Returns whether two secrets are equal, in a time that does not depend on their content.
bool secrets_equal(std::string_view one, std::string_view other);

}  // namespace proto
