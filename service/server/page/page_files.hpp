#pragma once

#include <string>

namespace service {

/// Returns the content of a file of the web page.
/// @param path  path of the route, e.g. "/live.js"
const std::string& page_file(const std::string& path);

/// Returns the media type of a file of the web page.
const char* page_file_type(const std::string& path);

}  // namespace service
