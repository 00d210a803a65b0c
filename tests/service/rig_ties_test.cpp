#include "service/rig/parameters/parameter_ties.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "service/rig/parameters/parameter_edits.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using test_support::expect_parts;
using test_support::refusal;

// Two links, whose points are given from the upper joint of each; one statement per line.
const char* const kArms = R"(name: "arms"
body {
  name: "A"
  mass { value: 0.4 }
  inertia { xx { value: 0.01 } yy { value: 0.01 } zz { value: 0.01 free: true } }
  center_of_mass { x { value: 0.08 free: true } y { value: 0.001 } }
}
body {
  name: "B"
  inertia { xx { value: 0.01 } yy { value: 0.01 } }
}
joint {
  name: "1"
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "A" axis { z: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 1e-3 free: true } }
  encoder { }
}
joint {
  name: "2"
  parent { body: "A" point { x { value: 0.2 } } axis { z: 1 } zero_direction { x: 1 } }
  child { body: "B" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  encoder { }
}
quantity { name: "scale reading" unit: "kg" parameter { value: 1.0 } }
dependency { parameter: "B.m" term {parameter: "scale reading"} term {parameter: "A.m" factor:-1}}
dependency { parameter: "B.J_zz" constant: 0.002 term { parameter: "A.J_zz" factor: 0.5 } }
dependency { parameter: "2.b" term { parameter: "1.b" } }
)";

std::string tied_rig(const std::string& from, const std::string& to) {
  return replaced(kArms, from, to);
}

double value_of(const Rig& rig, const std::string& name) {
  const int index = rig.mechanism.find_parameter(name);
  EXPECT_GE(index, 0) << name;
  return index < 0 ? 0.0 : rig.mechanism.parameters[static_cast<std::size_t>(index)].value;
}

TEST(RigTies, GiveTiedParametersTheirValues) {
  const Rig rig = parse_rig("r.textproto", kArms);
  EXPECT_DOUBLE_EQ(value_of(rig, "B.m"), 0.6);
  EXPECT_DOUBLE_EQ(value_of(rig, "B.J_zz"), 0.007);
  EXPECT_DOUBLE_EQ(value_of(rig, "2.b"), 1e-3);
  EXPECT_TRUE(changes_in_fit(rig.mechanism, rig.mechanism.find_parameter("B.J_zz")));
  EXPECT_FALSE(changes_in_fit(rig.mechanism, rig.mechanism.find_parameter("B.m")));
}

// Points are given on the body. The centre of mass shifts all of them together, so the measured
// distance between joints is kept.
TEST(RigTies, CentreOfMassMovesAllPointsOfItsBody) {
  Rig rig = parse_rig("r.textproto", kArms);
  EXPECT_DOUBLE_EQ(value_of(rig, "1.b_x"), -0.08);
  EXPECT_DOUBLE_EQ(value_of(rig, "1.b_y"), -0.001);
  EXPECT_DOUBLE_EQ(value_of(rig, "2.a_x"), 0.12);
  EXPECT_DOUBLE_EQ(value_of(rig, "2.b_x"), -0.1);  // of the other body
  apply_edits({{"A.c_x=0.11"}, {}, {}}, rig.mechanism);
  EXPECT_DOUBLE_EQ(value_of(rig, "1.b_x"), -0.11);
  EXPECT_DOUBLE_EQ(value_of(rig, "2.a_x"), 0.09);
  EXPECT_TRUE(changes_in_fit(rig.mechanism, rig.mechanism.find_parameter("2.a_x")));
  EXPECT_FALSE(changes_in_fit(rig.mechanism, rig.mechanism.find_parameter("2.a_y")));
}

// A point with a dependency, on a body with its own centre of mass, is dependent in that body's
// frame.
TEST(RigTies, PointsMayBeTiedInTheFrameOfTheBody) {
  const Rig rig =
      parse_rig("r.textproto",
                tied_rig("dependency { parameter: \"2.b\"",
                         "quantity { name: \"length\" unit: \"m\" parameter { value: 0.25 } }\n"
                         "dependency { parameter: \"2.a_x\" term { parameter: \"length\" } }\n"
                         "dependency { parameter: \"2.b\""));
  EXPECT_DOUBLE_EQ(value_of(rig, "2.a_x"), 0.25 - 0.08);
}

// Centres of mass are ordinary parameters: those of equal bodies can be dependent.
TEST(RigTies, CentresOfMassMayBeTiedThemselves) {
  Rig rig = parse_rig("r.textproto",
                      tied_rig("  name: \"B\"\n", "  name: \"B\"\n  center_of_mass { }\n") +
                          "dependency { parameter: \"B.c_x\" term { parameter: \"A.c_x\" "
                          "factor: -1 } }\n");
  EXPECT_DOUBLE_EQ(value_of(rig, "2.b_x"), -0.1 + 0.08);
  apply_edits({{"A.c_x=0.11"}, {}, {}}, rig.mechanism);
  EXPECT_DOUBLE_EQ(value_of(rig, "2.b_x"), -0.1 + 0.11);
}

// Two encoders on one bus that were zeroed together.
TEST(RigTies, OffsetsAndDelaysMayBeTied) {
  const Rig rig = parse_rig(
      "r.textproto",
      tied_rig("encoder { }",
               "encoder { offset { value: 0.1 free: true } delay { value: 2e-3 } }") +
          "dependency { parameter: \"2.offset\" term { parameter: \"1.offset\" factor: -1 } }\n"
          "dependency { parameter: \"2.encoder_delay\" constant: 1e-3 "
          "term { parameter: \"1.encoder_delay\" } }\n");
  EXPECT_DOUBLE_EQ(value_of(rig, "2.offset"), -0.1);
  EXPECT_DOUBLE_EQ(value_of(rig, "2.encoder_delay"), 3e-3);
  EXPECT_TRUE(changes_in_fit(rig.mechanism, rig.mechanism.find_parameter("2.offset")));
  EXPECT_FALSE(changes_in_fit(rig.mechanism, rig.mechanism.find_parameter("2.encoder_delay")));
}

TEST(RigTies, TiedParametersAreNotEdited) {
  Rig rig = parse_rig("r.textproto", kArms);
  for (const ParameterEdits& edits :
       {ParameterEdits{{"2.b=1"}, {}, {}}, ParameterEdits{{}, {"2.b"}, {}},
        ParameterEdits{{}, {}, {"2.b=0"}}}) {
    expect_parts(refusal([&] { apply_edits(edits, rig.mechanism); }),
                 {"2.b", "depends on other parameters", "Change those"});
  }
}

struct BadTies {
  const char* name;
  const char* from;
  const char* to;
  std::vector<std::string> message;
};

class RigTiesRefuse : public ::testing::TestWithParam<BadTies> {};

TEST_P(RigTiesRefuse, WithPlaceCauseAndRemedy) {
  const BadTies& bad = GetParam();
  expect_parts(refusal([&] { (void)parse_rig("r.textproto", tied_rig(bad.from, bad.to)); }),
               bad.message);
}

const BadTies kBadTies[] = {
    {"UnknownTarget",
     "dependency { parameter: \"2.b\"",
     "dependency { parameter: \"2.bb\"",
     {"r.textproto:28:14", "no parameter is called \"2.bb\""}},
    {"UnknownTerm",
     "term { parameter: \"1.b\" }",
     "term { parameter: \"1.bb\" }",
     {"r.textproto:28:", "no parameter is called \"1.bb\""}},
    {"Circle",
     "dependency { parameter: \"2.b\" term { parameter: \"1.b\" } }",
     "dependency { parameter: \"2.b\" term { parameter: \"2.c\" } }\n"
     "dependency { parameter: \"2.c\" term { parameter: \"2.b\" } }",
     {"r.textproto:28:1", "\"2.b\" depends on itself", "Remove the circular dependency"}},
    {"NoTerm",
     "dependency { parameter: \"2.b\" term { parameter: \"1.b\" } }",
     "dependency { parameter: \"2.b\" constant: 1 }",
     {"r.textproto:28:1", "a dependency without terms", "Add term"}},
    {"Twice",
     "dependency { parameter: \"2.b\"",
     "dependency { parameter: \"2.b\" term { parameter: \"1.b\" } }\ndependency { parameter: "
     "\"2.b\"",
     {"r.textproto:29:1", "has two dependencies"}},
    {"FreeToo",
     "dependency { parameter: \"2.b\"",
     "dependency { parameter: \"A.J_zz\"",
     {"r.textproto:28:1", "\"A.J_zz\"", "cannot be free as well", "remove"}},
    {"OtherValue",
     "dependency { parameter: \"B.m\"",
     "dependency { parameter: \"A.m\"",
     {"r.textproto", "needs a mass"}},
    {"ContradictingValue",
     "inertia { xx { value: 0.01 } yy { value: 0.01 } }",
     "inertia { xx { value: 0.01 } yy { value: 0.01 } zz { value: 0.008 } }",
     {"r.textproto:27:1", "\"B.J_zz\"", "0.008", "0.007", "correct the dependency"}},
    {"ContradictingValueOfATieToATie",
     "dependency { parameter: \"2.b\"",
     "dependency { parameter: \"B.J_xx\" term { parameter: \"B.J_zz\" } term { parameter: \"A.m\" "
     "} }\n"
     "dependency { parameter: \"2.b\"",
     {"r.textproto:28:1", "\"B.J_xx\"", "0.01", "0.407", "correct the dependency"}},
    {"QuantityWithoutValue",
     " parameter { value: 1.0 }",
     "",
     {"r.textproto:25:1", "\"scale reading\" needs a value"}},
    {"OutsideBounds",
     "parameter { value: 1.0 }",
     "parameter { value: 0.3 }",
     {"r.textproto:26:1", "\"B.m\"", "-0.1", "outside its bounds"}},
    {"FreePointBesideCentre",
     "point { x { value: 0.2 } }",
     "point { x { value: 0.2 free: true } }",
     {"r.textproto:6:", "\"2.a_x\" is free", "Fix the point"}},
    {"QuantityNamedAlike",
     "quantity { name: \"scale reading\"",
     "quantity { name: \"A.m\"",
     {"r.textproto:25:12", "\"A.m\"", "the name is used by a parameter"}},
    {"NotFinite", "constant: 0.002", "constant: nan", {"r.textproto:27:", "constant"}},
    {"MasslessWithCentre",
     "mass { value: 0.4 }\n  inertia { xx { value: 0.01 } yy { value: 0.01 } zz { value: 0.01 "
     "free: true } }",
     "massless: true",
     {"r.textproto:5:", "massless", "center_of_mass"}},
};

INSTANTIATE_TEST_SUITE_P(All, RigTiesRefuse, ::testing::ValuesIn(kBadTies),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace service
