#include "proto/text/renamed_fields.hpp"

#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <memory>

#include "proto/calibration.pb.h"
#include "proto/commission.pb.h"
#include "proto/rig.pb.h"
#include "proto/scenario.pb.h"
#include "proto/text/text_file.hpp"
#include "proto/validation.pb.h"
#include "tests/studies/study.pb.h"
#include "tests/support/refusal.hpp"

namespace proto {
namespace {

using google::protobuf::Descriptor;
namespace v1 = rigcal::v1;

constexpr const char* kPath = "old.file";

/// Returns a message's type by its full name; null if no schema of a file has it.
const Descriptor* find_type(std::string_view name) {
  for (const Descriptor* linked :
       {v1::Rig::descriptor(), v1::Scenario::descriptor(), v1::Study::descriptor(),
        v1::CalibrationResult::descriptor(), v1::ValidationResult::descriptor(),
        v1::CommissionRecord::descriptor()}) {
    const Descriptor* type = linked->file()->pool()->FindMessageTypeByName(std::string(name));
    if (type != nullptr) return type;
  }
  return nullptr;
}

std::string text_refusal(const Descriptor& type, const std::string& text) {
  const std::unique_ptr<google::protobuf::Message> message(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type)->New());
  return test_support::refusal([&] {
    TextLocator::Tree tree;
    parse_text(kPath, text, *message, tree);
  });
}

std::string sentence(std::string_view old_name, std::string_view new_name) {
  return "field \"" + std::string(old_name) + "\" is now called \"" + std::string(new_name) +
         "\"; run scripts/convert_old_files.py --in-place old.file to convert the file";
}

// Detects a row with a misspelled message or field, and a field that was not renamed.
TEST(RenamedFields, EachRowAgreesWithTheSchema) {
  for (const RenamedField& field : renamed_fields()) {
    SCOPED_TRACE(std::string(field.message) + "." + std::string(field.old_name));
    const Descriptor* type = find_type(field.message);
    ASSERT_NE(type, nullptr);
    EXPECT_NE(type->FindFieldByName(std::string(field.new_name)), nullptr);
    EXPECT_EQ(type->FindFieldByName(std::string(field.old_name)), nullptr);
  }
}

// Detects an old name that is reported as unknown, or at another place than its own.
TEST(RenamedFields, TextWithEachOldNameIsRefusedWithTheNewName) {
  for (const RenamedField& field : renamed_fields()) {
    SCOPED_TRACE(std::string(field.message) + "." + std::string(field.old_name));
    const Descriptor* type = find_type(field.message);
    ASSERT_NE(type, nullptr);
    EXPECT_EQ(text_refusal(*type, "# hinge\n  " + std::string(field.old_name) + " # hinge\n: 1"),
              "old.file:2:3: " + sentence(field.old_name, field.new_name));
  }
}

// Detects an old name that results may still contain without an error.
TEST(RenamedFields, JsonWithEachOldNameIsRefusedWithTheNewName) {
  for (const RenamedField& field : renamed_fields()) {
    SCOPED_TRACE(std::string(field.message) + "." + std::string(field.old_name));
    const Descriptor* type = find_type(field.message);
    ASSERT_NE(type, nullptr);
    // A name in one word is taken for the usual spelling of JSON, "likeThis".
    const bool words = field.old_name.find('_') != std::string_view::npos;
    const auto* renamed = type->FindFieldByName(std::string(field.new_name));
    ASSERT_NE(renamed, nullptr);
    EXPECT_EQ(
        find_renamed_json_field(kPath, "{\"" + std::string(field.old_name) + "\": 1}", *type),
        "old.file: " + sentence(field.old_name, words ? renamed->name() : renamed->json_name()));
  }
}

// Detects a search that ignores the message.
TEST(RenamedFields, OldNameOfAnotherMessageIsAnUnknownField) {
  const std::string error = text_refusal(*v1::Rig::descriptor(), "name: \"r\" quantise: true");
  EXPECT_TRUE(error.starts_with("old.file:1:11: unknown field \"quantise\" in a Rig; use one of"))
      << error;
  const std::string nested =
      text_refusal(*v1::Rig::descriptor(), "body {\n\tmass { } hinge: \"1\" }");
  EXPECT_TRUE(nested.starts_with("old.file:2:18: unknown field \"hinge\" in a Body")) << nested;
}

TEST(RenamedFields, NestedFieldOfJsonIsFoundInItsSpelling) {
  const Descriptor& type = *v1::CalibrationResult::descriptor();
  EXPECT_EQ(find_renamed_json_field(kPath, R"({"recordings": [{}, {"heldRows": 0}]})", type),
            "old.file: " + sentence("heldRows", "rowsBeforeRelease"));
}

// A contradiction has a field "kept" to this day; a result no longer has one.
TEST(RenamedFields, JsonWithoutOldNamesIsNotReported) {
  const Descriptor& type = *v1::CalibrationResult::descriptor();
  EXPECT_EQ(find_renamed_json_field(kPath, R"({"contradictions": [{"kept": 1}]})", type), "");
  EXPECT_EQ(find_renamed_json_field(kPath, R"({"rig": "hinge", "laterField": {"hinge": 1}})", type),
            "");
  EXPECT_EQ(find_renamed_json_field(kPath, "{", type), "");
}

}  // namespace
}  // namespace proto
