#pragma once

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <string>

namespace test_support {

/// Returns the message in a JSON text. Fails the test if the text is no such message.
template <typename Message>
Message from_json(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(text, &message).ok()) << text;
  return message;
}

}  // namespace test_support
