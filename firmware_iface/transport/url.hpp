#pragma once

#include <map>
#include <string>

#include "firmware_iface/result.hpp"

namespace firmware_iface {

/// Parts of a URL "scheme://address?key=value&key=value", or "scheme:address".
struct Url {
  std::string text;  ///< as given, for messages
  std::string scheme;
  std::string address;
  std::map<std::string, std::string> options;
};

Result<Url> parse_url(const std::string& text);

/// Returns kBadUrl, naming the first option that is not in `known` (comma-separated).
Status check_options(const Url& url, const std::string& known);

/// Returns the integer value of an option within [min, max], or `fallback` if it is not given.
Result<int> int_option(const Url& url, const std::string& key, int fallback, int min, int max);

}  // namespace firmware_iface
