#include "tests/architecture/source_rules.hpp"
#include "tests/support/source_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace architecture {
namespace {

const Tree& our_tree() {
  static const Tree kTree = read_tree(test_support::source_folder());
  return kTree;
}

SourceFile file(const std::string& path, const std::string& text) { return {path, {text}}; }

/// Returns 31 files of one folder. The last one, which is reported, comes first.
Tree full_folder() { return Tree(31, file("daq/many/a.cpp", "")); }

// For each rule a tree that violates it exactly once, beside a similar one that obeys it. A rule
// that accepts everything or nothing fails its entry.
const std::map<std::string, Tree>& bad_trees() {
  static const std::map<std::string, Tree> kTrees = {
      {"EstimatorIsPure",
       {file("estimator/math/so3.hpp", "#include <thread>"),
        file("estimator/math/parallel_jobs.cpp", "#include <thread>"),
        file("estimator/math/so2.hpp", "#include <Eigen/Core>")}},
      {"EstimatorIsLayered",
       {file("estimator/optimize/lm.cpp", "#include \"estimator/model/mechanism.hpp\""),
        file("estimator/model/mechanism.hpp", "#include \"estimator/friction/friction_laws.hpp\""),
        file("estimator/dynamics/mlcp.cpp", "#include \"estimator/model/mechanism.hpp\"")}},
      {"FitsKeepApart",
       {file("estimator/fit/physical/shooting.cpp", "#include \"estimator/fit/shadow/step.hpp\""),
        file("estimator/fit/starts.hpp", "#include \"estimator/spook/residual_form.hpp\""),
        file("estimator/fit/shadow/step.hpp", "#include \"estimator/fit/starts.hpp\"")}},
      {"ServiceIsLayered",
       {file("service/rig/rig_file.cpp", "#include \"service/report/charts/page_parts.hpp\""),
        file("service/report/page.cpp", "#include \"service/rig/rig_file.hpp\"")}},
      {"FoldersAreSmall", full_folder()},
      {"ModulesKeepApart",
       {file("firmware_iface/sim/plant.cpp", "#include \"estimator/math/so3.hpp\""),
        file("service/simulation/run.cpp", "#include \"daq/scenario/catalog.hpp\""),
        file("service/unit/unit.cpp", "#include \"firmware_iface/sim/plant.hpp\""),
        file("service/main.cpp", "#include \"estimator/math/so3.hpp\""),
        file("tests/studies/main.cpp", "#include \"service/report/charts/figure.hpp\"")}},
      {"ScenariosStandAlone",
       {file("daq/scenario/step.hpp", "#include \"daq/loop/loop.hpp\""),
        file("daq/scenario/plan.hpp", "#include \"daq/scenario/step.hpp\"")}},
      {"WireIsFreestanding",
       {file("firmware_iface/wire/coding/cobs.c", "#include <string.h>"),
        file("firmware_iface/wire/crc.c", "#include <stdint.h>")}},
      {"ProtobufStaysAtTheEdge",
       {file("daq/loop/loop.cpp", "#include \"proto/sample.pb.h\""),
        file("daq/config/rig.cpp", "#include \"proto/rig.pb.h\"")}},
      {"IncludesAreWrittenFromTheRoot",
       {file("daq/loop/loop.cpp", "#include \"loop.hpp\""),
        file("daq/loop/tick.cpp", "#include \"daq/loop/loop.cpp\"")}},
      {"ConfigsAreLoadedByATest",
       {file("configs/rig-a.textproto", ""), file("configs/rig-b.textproto", ""),
        file("tests/daq/config_test.cpp", "load(\"configs/rig-b.textproto\")")}},
      {"FilesAreShort",
       {{"daq/long.cpp", std::vector<std::string>(501)},
        {"daq/fits.cpp", std::vector<std::string>(500)}}},
      {"LinesFitThePage",
       {{"daq/wide.cpp",
         {std::string(101, 'x'), std::string(100, 'x'), "θ" + std::string(99, 'x')}}}},
      {"WorkIsFinished",
       {file("daq/a.cpp",
             "// TO"
             "DO: later"),
        file("daq/b.cpp", "// to do")}},
      {"MergesAreResolved",
       {file("CHANGELOG.md", std::string(7, '<') + " HEAD"),
        file("daq/a.cpp", "x <<<<<<< y; // " + std::string(7, '>') + " z")}},
      {"WordsArePlain",
       {file("daq/a.cpp", "// Tells of what was untold."),
        file("daq/b.cpp", "// A hotel intelligently retold.")}},
      {"HeadersImposeNoNames",
       {file("daq/a.hpp", "using namespace std;"), file("daq/a.cpp", "using namespace std;")}},
      {"HeadersAreGuarded", {file("daq/a.hpp", "int a();"), file("daq/b.hpp", "#pragma once")}},
      {"SourcesAreListed",
       {file("daq/CMakeLists.txt", "file(GLOB sources *.cpp)"),
        file("daq/loop/CMakeLists.txt", "file(READ a b)")}},
      {"AnonymousFunctionsHideNone",
       {{"service/cli/a.cpp",
         {"namespace {", "bool is_mcap(const std::filesystem::path& file) { return true; }",
          "bool is_mcap(int file) { return true; }", "}  // namespace",
          "bool is_mcap(const fs::path& path) { return false; }"}},
        file("daq/other.hpp", "bool is_mcap(int file);"),
        file("service/rig/a.hpp", "bool is_mcap(const std::filesystem::path& path);")}},
  };
  return kTrees;
}

class SourceRule : public ::testing::TestWithParam<Rule> {};

TEST_P(SourceRule, HoldsInThisTree) {
  const std::vector<Violation> violations = GetParam().check(our_tree());
  EXPECT_TRUE(violations.empty()) << describe(violations);
}

// Otherwise a misspelt folder or pattern would make a rule hold for every tree.
TEST_P(SourceRule, FailsOnATreeThatBreaksIt) {
  ASSERT_TRUE(bad_trees().contains(GetParam().name)) << "write a bad tree for this rule";
  const Tree& bad = bad_trees().at(GetParam().name);
  const std::vector<Violation> violations = GetParam().check(bad);
  ASSERT_EQ(violations.size(), 1U) << describe(violations);
  EXPECT_EQ(violations[0].path, bad[0].path);
}

INSTANTIATE_TEST_SUITE_P(All, SourceRule, ::testing::ValuesIn(source_rules()),
                         [](const auto& entry) { return entry.param.name; });

// The rules above hold trivially for a tree that was not found.
TEST(SourceTree, IsReadFromDiskWithEveryModule) {
  for (const std::string folder : {"estimator/", "proto/", "tests/"}) {
    const auto count = std::count_if(
        our_tree().begin(), our_tree().end(),
        [&](const SourceFile& f) { return f.path.starts_with(folder) && !f.lines.empty(); });
    EXPECT_GT(count, 0) << folder;
  }
}

}  // namespace
}  // namespace architecture
