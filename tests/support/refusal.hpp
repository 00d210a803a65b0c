#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/text/input_error.hpp"

namespace test_support {

/// Message of the proto::InputError that `action` throws. Without one, fails the test and returns
/// "".
template <typename Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const proto::InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "was not refused";
  return "";
}

/// Expects every part to occur in the message.
inline void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "no '" << part << "' in: " << message;
  }
}

}  // namespace test_support
