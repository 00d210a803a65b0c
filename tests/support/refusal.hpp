#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/text/input_error.hpp"

namespace test_support {

/// Returns the message of the error that `action` throws. If `action` throws none, fails the test
/// and returns an empty text.
template <typename Error = proto::InputError, typename Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "was not refused";
  return "";
}

/// Expects that the message contains each of the parts.
inline void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "no '" << part << "' in: " << message;
  }
}

}  // namespace test_support
