#include "proto/text/command_line/command_options.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include "tests/support/refusal.hpp"

namespace proto {
namespace {

using test_support::expect_parts;

/// A program like rigcal's: a flag, a file, a choice, and two commands, one of which takes files.
class CommandPages : public ::testing::Test {
 protected:
  CommandPages() {
    app_.footer(
        "Printed below the options.\n"
        "Examples:\n"
        "  tool-x fit a\\b.csv --kind warm\n"
        "\n"
        "Exit status: 0 done,\n"
        "1 bad input.\n"
        "Run tool-x COMMAND --help for help on a command.");
    fit_ = app_.add_subcommand("fit", "Fit it. With more words");
    fit_->add_option("recordings", files_, "What to fit")->required()->type_name("RECORDING");
    fit_->add_option("--rig", rig_, "Rig's file; with a tail")->required()->type_name("FILE");
    fit_->add_option("-k,--kind", kind_, "Which kind")->type_name("warm|cold")->group("Method");
    fit_->add_flag("--quiet", quiet_, "No [progress]: none");
    fit_->add_flag("--secret", secret_, "Hidden")->group("");
    app_.add_subcommand("list", ".begins like a request")
        ->add_option("--out", rig_, "To")
        ->type_name("FILE");
    add_help_output_options(app_);
  }

  /// The completions that bash proposes after these words, sorted, separated by one space.
  static std::string completed(const std::string& script, const std::string& words) {
    static int number = 0;
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() /
        ("rigcal_completion_" + std::to_string(::getpid()) + "_" + std::to_string(number++));
    std::ofstream(file) << script << "\nCOMP_WORDS=(" << words
                        << ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_tool_x\n"
                           "printf '%s\\n' \"${COMPREPLY[@]}\" | sort | tr '\\n' ' '\n";
    std::string out;
    std::FILE* const pipe = ::popen(("cd / && bash -eu " + file.string() + " 2>&1").c_str(), "r");
    std::array<char, 256> part{};
    while (std::fgets(part.data(), part.size(), pipe) != nullptr) out += part.data();
    EXPECT_EQ(::pclose(pipe), 0) << out;
    std::filesystem::remove(file);
    return out;
  }

  CLI::App app_{"Does things. And others", "tool-x"};
  CLI::App* fit_ = nullptr;
  std::vector<std::string> files_;
  std::string rig_, kind_;
  bool quiet_ = false, secret_ = false;
};

TEST_F(CommandPages, ManualOfAProgramListsItsCommandsAndTheParts) {
  const std::string page = make_manual_page(app_, app_);
  EXPECT_TRUE(page.starts_with(".TH \"TOOL\\-X\" 1 ")) << page;
  expect_parts(page, {".SH NAME\ntool\\-x \\- Does things\n",
                      ".TP\n\\fBtool\\-x\\-fit\\fR(1)\nFit it. With more words\n",
                      ".SH DESCRIPTION\nDoes things. And others\nPrinted below the options.\n",
                      ".SH EXAMPLES\n.nf\n  tool\\-x fit a\\eb.csv \\-\\-kind warm\n.fi\n",
                      ".SH EXIT STATUS\n0 done,\n1 bad input.\n.SH"});
  EXPECT_EQ(page.find("for help on"), std::string::npos);
  EXPECT_NE(page.find("\n\\&.begins like a request\n"), std::string::npos)
      << "a line that roff would take for a request of its own";
}

TEST_F(CommandPages, ManualOfACommandListsItsOptions) {
  const std::string page = make_manual_page(app_, *fit_);
  expect_parts(page, {".SH SYNOPSIS\n\\fBtool\\-x\\fR \\fBfit\\fR \\fB\\-\\-rig\\fR \\fIFILE\\fR "
                      "[\\fIOPTIONS\\fR] \\fIrecordings\\fR ...\n",
                      "\\fB\\-\\-rig\\fR \\fIFILE\\fR\nRig's file; with a tail.\nRequired.\n",
                      ".SS Method\n.TP\n\\fB\\-k\\fR, \\fB\\-\\-kind\\fR \\fIwarm|cold\\fR\n"});
  EXPECT_LT(page.find(".SH ARGUMENTS\n"), page.find(".SH OPTIONS\n"));
  EXPECT_EQ(page.find(".SH OPTIONS\n"), page.rfind(".SH OPTIONS\n"))
      << "options of one group stand together";
  EXPECT_EQ(page.find("secret"), std::string::npos);
  EXPECT_EQ(page.find("\\-\\-man"), std::string::npos) << "of a command it is understood";
}

TEST_F(CommandPages, BashCompletesCommandsOptionsChoicesAndFiles) {
  const std::string script = make_completion_script(app_, "bash");
  EXPECT_EQ(completed(script, "tool-x f"), "fit ");
  EXPECT_EQ(completed(script, "tool-x ''"), "--completion --help --man -h fit list ");
  EXPECT_EQ(completed(script, "tool-x fit --"), "--help --kind --quiet --rig ");
  EXPECT_EQ(completed(script, "tool-x fit --kind ''"), "cold warm ");
  EXPECT_EQ(completed(script, "tool-x fit -k c"), "cold ");
  EXPECT_EQ(completed(script, "tool-x fit --rig us"), "usr ");
  EXPECT_EQ(completed(script, "tool-x fit us"), "usr ") << "recordings are files";
  EXPECT_EQ(completed(script, "tool-x list us"), " ") << "list takes none";
  EXPECT_EQ(completed(script, "tool-x --completion z"), "zsh ");
}

TEST_F(CommandPages, OtherShellsListEveryCommandAndOption) {
  for (const std::string shell : {"zsh", "fish"}) {
    const std::string script = make_completion_script(app_, shell);
    expect_parts(script, {"fit", "list", "kind", "rig", "quiet", "warm cold"});
    EXPECT_EQ(script.find("secret"), std::string::npos) << shell;
  }
  EXPECT_NE(make_completion_script(app_, "zsh").find("'--quiet[No progress none]'"),
            std::string::npos)
      << "brackets and colons are syntax";
  EXPECT_NE(make_completion_script(app_, "fish").find("-d 'Rig'\\''s file'"), std::string::npos);
  EXPECT_THROW(make_completion_script(app_, "csh"), std::invalid_argument);
}

TEST_F(CommandPages, HelpOptionsWorkWithoutRequiredArguments) {
  for (const std::string line : {"--man", "fit --man", "--completion bash"}) {
    ::testing::internal::CaptureStdout();
    EXPECT_THROW(app_.parse(line, false), CLI::Success) << line;
    EXPECT_GT(::testing::internal::GetCapturedStdout().size(), 100U) << line;
    app_.clear();
  }
  EXPECT_THROW(app_.parse("--completion csh", false), CLI::ValidationError);
}

}  // namespace
}  // namespace proto
