#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace proto {

/// Sizes of the secret of a session that a sender may choose [byte].
inline constexpr std::size_t kSecretSizeMin = 16;
inline constexpr std::size_t kSecretSizeMax = 32;

/// A secret of kSecretSizeMax random bytes.
std::string make_secret();

/// Whether they are the same, in a time that does not tell how far they agree.
bool same_secret(std::string_view one, std::string_view other);

}  // namespace proto
