#include "proto/recording/convert.hpp"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <map>

namespace proto {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

// Gives every field its own value, and lists two entries.
void fill(google::protobuf::Message& message, int& next) {
  const Reflection& in = *message.GetReflection();
  for (int f = 0; f < message.GetDescriptor()->field_count(); ++f) {
    const FieldDescriptor& field = *message.GetDescriptor()->field(f);
    for (int k = 0; k < (field.is_repeated() ? 2 : 1); ++k) {
      const std::string value = std::to_string(next++);
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        fill(field.is_repeated() ? *in.AddMessage(&message, &field)
                                 : *in.MutableMessage(&message, &field),
             next);
        continue;
      }
      const std::map<FieldDescriptor::CppType, std::string> texts = {
          {FieldDescriptor::CPPTYPE_DOUBLE, value + ".5"},
          {FieldDescriptor::CPPTYPE_INT64, "-" + value},
          {FieldDescriptor::CPPTYPE_UINT64, value},
          {FieldDescriptor::CPPTYPE_UINT32, value},
          {FieldDescriptor::CPPTYPE_BOOL, "true"},
          {FieldDescriptor::CPPTYPE_ENUM, "2"},
          {FieldDescriptor::CPPTYPE_STRING, "'text " + value + "'"}};
      ASSERT_TRUE(texts.contains(field.cpp_type()))
          << field.full_name() << " is of a kind that this test does not know";
      ASSERT_TRUE(google::protobuf::TextFormat::ParseFieldValueFromString(
          texts.at(field.cpp_type()), &field, &message));
    }
  }
}

template <typename T>
class Converted : public ::testing::Test {};
using Messages = ::testing::Types<rigcal::v1::Sample, rigcal::v1::Command, rigcal::v1::Gap,
                                  rigcal::v1::Event, rigcal::v1::ClockFit, rigcal::v1::LoopStats>;
TYPED_TEST_SUITE(Converted, Messages);

// Converts structs to messages and back: no field may be lost or end up in another of its type.
TYPED_TEST(Converted, LosesNoField) {
  TypeParam message;
  int next = 1;
  fill(message, next);
  const auto plain = from_message(message);
  ASSERT_TRUE(plain.has_value());
  TypeParam back;
  to_message(*plain, back);
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(message, back))
      << message.DebugString() << "came back as\n"
      << back.DebugString();
}

// Each flag of a sample alone. A sample with all flags set would not reveal exchanged ones.
TEST(ConvertedSample, DistinguishesItsFlags) {
  Sample tripped{.tripped = true}, driving{.driving = true};
  rigcal::v1::Sample message;
  to_message(tripped, message);
  EXPECT_TRUE(message.tripped() && !message.driving());
  EXPECT_TRUE(from_message(message)->tripped && !from_message(message)->driving);
  to_message(driving, message);
  EXPECT_TRUE(!message.tripped() && message.driving());
  EXPECT_TRUE(!from_message(message)->tripped && from_message(message)->driving);
}

// A struct's member must go into the field of the same name.
TEST(ConvertedSample, PutsMembersIntoTheirFields) {
  Sample sample{.timestamp_s = 1.5, .sequence = 2, .device_time_us = 3, .channel_count = 1};
  sample.angle_rad[0] = 4.5;
  sample.encoder_counts[0] = 5;
  sample.valid[0] = true;
  sample.command[0] = 6.5;
  sample.command_sequence = 7;
  sample.fault_flags = 8;
  sample.error_count = 9;
  rigcal::v1::Sample message;
  to_message(sample, message);
  EXPECT_EQ(message.timestamp(), 1.5);
  EXPECT_EQ(message.sequence(), 2u);
  EXPECT_EQ(message.device_time_us(), 3);
  EXPECT_EQ(message.angle_rad(0), 4.5);
  EXPECT_EQ(message.encoder_counts(0), 5);
  EXPECT_EQ(message.command(0), 6.5);
  EXPECT_EQ(message.command_sequence(), 7u);
  EXPECT_EQ(message.fault_flags(), 8u);
  EXPECT_EQ(message.error_count(), 9u);
}

// Messages of another release: an unknown cause, kind or direction is unspecified, and lists of
// unequal length are refused.
TEST(ConvertedMessages, MapUnknownValuesToUnspecified) {
  rigcal::v1::Gap gap;
  gap.set_cause(static_cast<rigcal::v1::Gap::Cause>(kGapCauseCount));
  EXPECT_EQ(from_message(gap)->cause, GapCause::kUnspecified);
  rigcal::v1::Event event;
  event.set_kind(static_cast<rigcal::v1::Event::Kind>(99));
  event.add_last_frames()->set_direction(static_cast<rigcal::v1::LinkFrame::Direction>(9));
  EXPECT_EQ(from_message(event)->kind, EventKind::kUnspecified);
  EXPECT_EQ(from_message(event)->last_frames[0].direction, LinkDirection::kUnspecified);
  for (const auto& change : {+[](rigcal::v1::Sample& s) { s.add_angle_rad(1.0); },
                             +[](rigcal::v1::Sample& s) { s.add_encoder_counts(1); },
                             +[](rigcal::v1::Sample& s) { s.add_valid(true); }}) {
    rigcal::v1::Sample sample;
    for (std::size_t k = 0; k < kChannelCountMax; ++k) {
      sample.add_angle_rad(1.0);
      sample.add_encoder_counts(1);
      sample.add_valid(true);
    }
    ASSERT_TRUE(from_message(sample).has_value());
    rigcal::v1::Sample uneven = sample;
    change(uneven);
    EXPECT_FALSE(from_message(uneven).has_value());
    sample.add_angle_rad(1.0);
    sample.add_encoder_counts(1);
    sample.add_valid(true);
    EXPECT_FALSE(from_message(sample).has_value()) << "seventeen channels";
  }
  rigcal::v1::Sample driven;
  rigcal::v1::Command command;
  for (std::size_t k = 0; k < kMotorCountMax; ++k) {
    for (auto* list : {driven.mutable_command(), command.mutable_command(),
                       command.mutable_command_requested()}) {
      list->Add(0.5 + static_cast<double>(k));
    }
  }
  EXPECT_EQ(from_message(driven)->command[7], 7.5);
  EXPECT_EQ(from_message(command)->command_requested[7], 7.5);
  command.mutable_command_requested()->RemoveLast();
  EXPECT_FALSE(from_message(command).has_value()) << "eight sent, seven asked for";
  command.add_command_requested(1.0);
  command.add_command_requested(1.0);
  EXPECT_FALSE(from_message(command).has_value()) << "nine asked for";
  driven.add_command(1.0);
  EXPECT_FALSE(from_message(driven).has_value()) << "nine motors";
}

// Encoding of one double in a field that is not repeated.
std::string one_double(int field, double value) {
  std::string bytes(1, static_cast<char>((field << 3) | 1));
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  return bytes;
}

// Recordings from before several motors were supported hold one double in the field, or nothing if
// it was zero. They must read as the command of one motor. One motor must still be written as these
// bytes, so that an older program can read it.
TEST(ConvertedSample, ReadsAndWritesTheBytesOfOneCommand) {
  rigcal::v1::Sample message;
  ASSERT_TRUE(message.ParseFromString(one_double(7, -2.5)));
  EXPECT_EQ(from_message(message)->motor_count, 1U);
  EXPECT_EQ(from_message(message)->command[0], -2.5);
  ASSERT_TRUE(message.ParseFromString(""));
  EXPECT_EQ(from_message(message)->motor_count, 1U);
  EXPECT_EQ(from_message(message)->command[0], 0.0);
  to_message(Sample{.command = {-2.5}}, message);
  EXPECT_EQ(message.SerializeAsString(), one_double(7, -2.5));

  rigcal::v1::Command command;
  ASSERT_TRUE(command.ParseFromString(one_double(3, 1.5) + one_double(4, 4.5)));
  EXPECT_EQ(from_message(command)->motor_count, 1U);
  EXPECT_EQ(from_message(command)->command[0], 1.5);
  EXPECT_EQ(from_message(command)->command_requested[0], 4.5);
  ASSERT_TRUE(command.ParseFromString(one_double(4, 4.5)));  // requested, and limited to zero
  EXPECT_EQ(from_message(command)->command[0], 0.0);
  EXPECT_EQ(from_message(command)->command_requested[0], 4.5);
  to_message(Command{.command = {1.5}, .command_requested = {4.5}}, command);
  EXPECT_EQ(command.SerializeAsString(), one_double(3, 1.5) + one_double(4, 4.5));
}

}  // namespace
}  // namespace proto
