#include "proto/check/number_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <set>

#include "proto/daemon.pb.h"
#include "proto/rig.pb.h"
#include "proto/scenario.pb.h"
#include "proto/service.pb.h"
#include "proto/sim.pb.h"
#include "proto/stream.pb.h"
#include "proto/text/text_file.hpp"
#include "tests/proto/schema_fields.hpp"
#include "tests/support/refusal.hpp"

namespace proto {
namespace {

using namespace test_support;
using google::protobuf::Message;
namespace v1 = rigcal::v1;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kHuge = 1e300;

// All messages from files or sockets that control something.
std::vector<const Message*> inputs() {
  return {&v1::Rig::default_instance(),           &v1::Scenario::default_instance(),
          &v1::Simulation::default_instance(),    &v1::Daemon::default_instance(),
          &v1::StreamRequest::default_instance(), &v1::StreamReply::default_instance(),
          &v1::ServiceRequest::default_instance()};
}

// Their ranges are those of the estimation options (service/options).
bool has_no_range(const FieldPath& path) {
  const google::protobuf::Descriptor& type = *path.back()->containing_type();
  return type.name() == "JobOptions" || is_result_message(type);
}

// A row with an outdated field name would check nothing.
TEST(NumberRanges, NameExistingFields) {
  std::set<std::string_view> seen;
  for (const NumberRange& range : number_ranges()) {
    SCOPED_TRACE(range.field);
    const auto* field = google::protobuf::DescriptorPool::generated_pool()->FindFieldByName(
        "rigcal.v1." + std::string(range.field));
    ASSERT_NE(field, nullptr);
    EXPECT_TRUE(is_number(*field));
    EXPECT_TRUE(seen.insert(range.field).second) << "has two rows";
    EXPECT_EQ(find_range(*field), &range);
    EXPECT_LT(range.min, range.max);
  }
}

// Every new number of an input schema must have a range.
TEST(NumberRanges, HaveARowForEveryInputNumber) {
  for (const Message* input : inputs()) {
    for (const FieldPath& path : numeric_fields(*input->GetDescriptor())) {
      if (has_no_range(path)) continue;
      EXPECT_NE(find_range(*path.back()), nullptr)
          << path.back()->full_name() << ": give it a row in proto/check/number_ranges.cpp";
    }
  }
}

// Every number of every message: values outside its row are refused with the field's path, values
// inside pass, on both sides of both bounds.
TEST(NumberCheck, ChecksEveryNumberAgainstItsRow) {
  int fields = 0;
  for (const Message* input : inputs()) {
    for (const FieldPath& path : numeric_fields(*input->GetDescriptor())) {
      if (has_no_range(path)) continue;
      SCOPED_TRACE(input->GetDescriptor()->name() + " " + name_of(path));
      const NumberRange* range = find_range(*path.back());
      ASSERT_NE(range, nullptr);
      ++fields;
      for (const double value :
           {kNaN, kInf, -kInf, kHuge, -kHuge, -1.0, 0.0, range->min, range->max,
            std::nextafter(range->min, -kInf), std::nextafter(range->max, kInf)}) {
        const std::unique_ptr<Message> message(input->New());
        const double there = put_number(*message, path, value);
        SCOPED_TRACE(there);
        const bool unset =
            there == 0.0 && !path.back()->has_presence() && !path.back()->is_repeated();
        const auto fault = find_number_error(*message);
        ASSERT_EQ(!fault.has_value(), unset || range->holds(there));
        if (!fault) continue;
        ASSERT_EQ(fault->path.size(), path.size());
        expect_parts(fault->sentence, {name_of(path) + " is ", "it must be ", range->text()});
      }
    }
  }
  EXPECT_GT(fields, 300);
}

// Numbers without a row must at least be numbers. A row may allow NaN for "none".
TEST(NumberRange, IncludesItsBoundsUnlessExcluded) {
  const NumberRange closed{"f", -1.0, 2.0};
  for (const double value : {-1.0, 0.0, 2.0}) EXPECT_TRUE(closed.holds(value)) << value;
  for (const double value : {-1.01, 2.01, kInf, -kInf, kNaN}) {
    EXPECT_FALSE(closed.holds(value)) << value;
  }
  const NumberRange open{"f", 0.0, 2.0, true};
  EXPECT_FALSE(open.holds(0.0));
  EXPECT_TRUE(open.holds(5e-324));
  const NumberRange optional{"f", 0.0, 2.0, false, true};
  EXPECT_TRUE(optional.holds(kNaN));
  EXPECT_FALSE(optional.holds(kInf));
}

// In results, an infinite standard deviation means "not identifiable", and NaN a missing angle.
TEST(NumberCheck, AcceptsMarkersOfMissingNumbers) {
  v1::ServiceReply reply;
  auto* parameter = reply.mutable_job_result()->mutable_result()->add_parameters();
  parameter->set_standard_deviation(kInf);
  parameter->set_half_interval(kNaN);
  EXPECT_FALSE(find_number_error(reply));
  reply.mutable_job_info()->mutable_progress()->set_gradient_norm(kInf);
  EXPECT_FALSE(find_number_error(reply));
  v1::StreamRequest request;
  auto* sample = request.mutable_sample_batch()->add_samples();
  sample->add_angle_rad(1.0);
  sample->add_angle_rad(kNaN);
  EXPECT_FALSE(find_number_error(request));
  sample->add_angle_rad(kInf);
  const auto fault = find_number_error(request);
  ASSERT_TRUE(fault);
  expect_parts(fault->sentence, {"sample_batch.samples[0].angle_rad[2] is inf"});
}

std::string text_refusal(const std::string& text) {
  return refusal([&] {
    v1::Rig rig;
    TextLocator::Tree tree;
    parse_text("r.textproto", text, rig, tree);
  });
}

// The reported place is that of the number itself, also in the second entry of a list.
TEST(ParseText, ReportsThePlaceOfTheNumber) {
  expect_parts(text_refusal("unit {\n  channel { joint: \"1\" }\n"
                            "  channel { joint: \"2\" offset_rad: nan }\n}"),
               {"r.textproto:3:24: unit.channel[1].offset_rad is nan; it must be a finite number, "
                "from -1e6 to 1e6"});
  expect_parts(text_refusal("safety { command_max: 1\n staleness_ms_max: inf }"),
               {"r.textproto:2:2: safety.staleness_ms_max is inf"});
  expect_parts(text_refusal("safety { command_max: -1 }"),
               {"r.textproto:1:10: safety.command_max is -1", "above 0"});
  expect_parts(text_refusal("safety { joint { angle_rad_min: -inf } }"),
               {"safety.joint[0].angle_rad_min is -inf"});
  expect_parts(text_refusal("body { mass { value: 1e13 } }"), {"body[0].mass.value is 10e12"});
  expect_parts(text_refusal("unit { ttl_ms: 256 }"), {"unit.ttl_ms is 256", "from 1 to 255"});
  expect_parts(text_refusal("joint { constraint { stick_speed: 0 } }"),
               {"joint[0].constraint.stick_speed is 0"});
}

// Editors on Windows put a byte order mark before UTF-8. Reported columns do not count it.
TEST(ParseText, AcceptsAByteOrderMark) {
  v1::Rig rig;
  TextLocator::Tree tree;
  parse_text("r.textproto", "\xEF\xBB\xBFname: \"r\"", rig, tree);
  EXPECT_EQ(rig.name(), "r");
  expect_parts(text_refusal("\xEF\xBB\xBFnme: \"r\""), {"r.textproto:1:", "unknown field \"nme\""});
}

// A decimal comma separates fields, so the digits after it read as the next field.
TEST(ParseText, RequiresADecimalPoint) {
  expect_parts(text_refusal("body { mass { value: 0,597 } }"),
               {"r.textproto:1:24: \"0,597\" is not a number; write a decimal point: 0.597"});
  expect_parts(text_refusal("\xEF\xBB\xBF"
                            "body {\n\tmass {\tvalue: -12,5 } }"),
               {"\"12,5\" is not a number; write a decimal point: 12.5"});
  for (const char* other : {"body { mass { value: 1, 597 } }", "body { name: \"a\",5 }"}) {
    EXPECT_EQ(text_refusal(other).find("decimal"), std::string::npos) << other;
  }
}

// Lists the units of the message in question, not of every one with a field of that name.
TEST(ParseText, ListsTheAllowedValues) {
  const std::string reported =
      text_refusal("recording {\n  time { column: \"t\" }\n\tangle { unit: DEGREES }\n}");
  expect_parts(reported, {"r.textproto:3:",
                          "\"DEGREES\" is not a value of \"unit\" in an AngleColumn; use one "
                          "of RADIAN, DEGREE, ",
                          "; did you mean \"DEGREE\"?"});
  EXPECT_EQ(reported.find("SECOND"), std::string::npos) << reported;
  EXPECT_EQ(reported.find("METER"), std::string::npos) << reported;
  expect_parts(
      text_refusal("recording { time { unit: HOUR\n}\n}"),
      {"\"HOUR\" is not a value of \"unit\" in a TimeColumn; use one of SECOND, MILLISECOND"});
}

// A missing brace shows only at the end of the file, far from its place.
TEST(ParseText, ReportsTheUnclosedMessage) {
  expect_parts(
      text_refusal("name: \"r\"\nbody {\n  mass { value: 1\n"),
      {"r.textproto:4:1: the file is incomplete", "mass { of line 3 is not closed", "'}'"});
  expect_parts(text_refusal("body {\n  name: \"{\" # } {\n  mass: <value: 1>\n"),
               {"body { of line 1 is not closed"});
  expect_parts(text_refusal("name: \"r\" body { name: 'a\\'{' }\njoint\n{ friction { } "),
               {"joint { of line 3 is not closed"});
  expect_parts(text_refusal("name: \"r\"\nbody { mass { value:"),
               {"the file is incomplete", "mass { of line 2"});
  // Cut in the middle of a word, which alone would be an unknown field.
  expect_parts(text_refusal("body {\n  name: \"b\"\n  iner\n"),
               {"the file is incomplete", "body { of line 1"});
  expect_parts(text_refusal("body {\n  iner\n  { }\n"), {"unknown field \"iner\""});
  expect_parts(text_refusal("name:"), {"the file is incomplete: the last value is missing"});
  // An extra brace is not reported as a missing one.
  expect_parts(text_refusal("body { } }"), {"r.textproto:1:10", "correct the text"});
}

}  // namespace
}  // namespace proto
