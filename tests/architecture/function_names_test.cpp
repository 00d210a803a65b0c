#include "tests/architecture/source_rules.hpp"

#include <gtest/gtest.h>

namespace architecture {
namespace {

std::string only_function(const std::vector<std::string>& lines) {
  const std::vector<Function> found = functions_of({"daq/a.cpp", lines});
  if (found.size() != 1) return std::to_string(found.size()) + " functions";
  return found[0].name + '(' + found[0].parameters + ')';
}

TEST(FunctionNames, AreReadWithTheTypesOfParameters) {
  EXPECT_EQ(only_function({"int f();"}), "f()");
  EXPECT_EQ(only_function({"a::B& f(const a::B& b, std::vector<a::C> c = {}, double* d) {"}),
            "f(constB&,vector<C>,double*)");
  EXPECT_EQ(only_function({"Eigen::MatrixXd f(const Eigen::MatrixXd&, unsigned int,",
                           "                  const std::function<void(int, double)>& g);"}),
            "f(constMatrixXd&,unsignedint,constfunction<void(int,double)>&)");
}

TEST(FunctionNames, DoNotIncludeMembersTypesOrVariables) {
  EXPECT_EQ(only_function({"A::A(int b) {"}), "0 functions");
  EXPECT_EQ(only_function({"int A::f(int b) {"}), "0 functions");
  EXPECT_EQ(only_function({"struct A { int f(int b); };"}), "0 functions");
  EXPECT_EQ(only_function({"constexpr int kA = f(1);"}), "0 functions");
  EXPECT_EQ(only_function({"  int f(int b);"}), "0 functions");
}

TEST(FunctionNames, AreAnonymousBetweenTheBordersAlone) {
  const std::vector<Function> found = functions_of(
      {"daq/a.cpp", {"int a();", "namespace {", "int b();", "}  // namespace", "int c();"}});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_FALSE(found[0].anonymous);
  EXPECT_TRUE(found[1].anonymous);
  EXPECT_FALSE(found[2].anonymous);
  EXPECT_EQ(found[1].line, 3);
}

}  // namespace
}  // namespace architecture
