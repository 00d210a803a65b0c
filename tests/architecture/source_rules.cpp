#include "tests/architecture/source_rules.hpp"

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace architecture {
namespace {

namespace fs = std::filesystem;

constexpr int kLinesMax = 500;
constexpr int kColumnsMax = 100;

std::vector<Violation> estimator_is_pure(const Tree& tree) {
  static const std::set<std::string> kForbidden = {"iostream",   "fstream",   "cstdio",
                                                   "filesystem", "thread",    "mutex",
                                                   "chrono",     "future",    "condition_variable",
                                                   "ctime",      "syncstream"};
  // Only one place distributes work to threads.
  static const std::string kThreads = "estimator/math/parallel_jobs.cpp";
  return check_includes(
      tree, {"estimator/", "proto/notation/"},
      [](const SourceFile& file, const Include& include) -> Reason {
        if (file.path == kThreads && (include.target == "thread" || include.target == "mutex")) {
          return std::nullopt;
        }
        const bool own =
            include.quoted &&
            (include.target.starts_with("proto/notation/") ||
             (file.path.starts_with("estimator/") && include.target.starts_with("estimator/")));
        const bool eigen = !include.quoted && (include.target.starts_with("Eigen/") ||
                                               include.target.starts_with("unsupported/Eigen/"));
        const bool standard = !include.quoted &&
                              include.target.find_first_of("/.") == std::string::npos &&
                              !kForbidden.contains(include.target);
        if (own || eigen || standard) return std::nullopt;
        return "estimator and proto/notation may include the standard library without I/O, threads "
               "and clocks, Eigen and themselves, not " +
               include.target;
      });
}

std::vector<Violation> scenarios_stand_alone(const Tree& tree) {
  return check_includes(
      tree, {"daq/scenario/"}, [](const SourceFile&, const Include& include) -> Reason {
        static const std::vector<std::string> kMayUse = {"daq/scenario/", "proto/notation/",
                                                         "proto/text/", "proto/scenario.pb.h"};
        if (!include.quoted || starts_with_any(include.target, kMayUse)) return std::nullopt;
        return "daq/scenario serves simulations too: only itself, proto/notation, proto/text and "
               "the schema of scenarios, not " +
               include.target;
      });
}

std::vector<Violation> wire_is_freestanding(const Tree& tree) {
  static const std::set<std::string> kFreestanding = {"stdint.h", "stddef.h", "stdbool.h",
                                                      "limits.h"};
  return check_includes(
      tree, {"firmware_iface/wire/"}, [](const SourceFile&, const Include& include) -> Reason {
        if (include.quoted ? include.target.starts_with("firmware_iface/wire/")
                           : kFreestanding.contains(include.target)) {
          return std::nullopt;
        }
        return "wire runs on the unit: only wire itself and freestanding C11 headers, not " +
               include.target;
      });
}

std::vector<Violation> protobuf_stays_at_the_edge(const Tree& tree) {
  static const std::vector<std::string> kEdge = {"proto/",
                                                 "daq/commission/commission_json.",
                                                 "daq/config/",
                                                 "daq/scenario/scenario_message.",
                                                 "daq/stream/",
                                                 "firmware_iface/sim/config/",
                                                 "service/options/option_message.",
                                                 "service/options/parameter_values.",
                                                 "service/recordings/",
                                                 "service/rig/",
                                                 "service/calibration/",
                                                 "service/result/",
                                                 "service/simulation/scenario_file.",
                                                 "service/server/",
                                                 "service/cli/remote/",
                                                 "tests/"};
  return check_includes(
      tree, {"daq/", "estimator/", "firmware_iface/", "proto/", "service/", "tests/"},
      [](const SourceFile& file, const Include& include) -> Reason {
        const bool protobuf =
            include.target.ends_with(".pb.h") || include.target.starts_with("google/protobuf/");
        if (!protobuf || starts_with_any(file.path, kEdge)) return std::nullopt;
        return "Protobuf types stop at proto/, daq/config, daq/scenario/scenario_message, "
               "daq/stream, firmware_iface/sim/config, service/options/option_message and "
               "parameter_values, service/recordings, service/rig, service/calibration, "
               "service/result, files of scenarios, service/server and service/cli/remote: " +
               include.target;
      });
}

std::vector<Violation> includes_are_written_from_the_root(const Tree& tree) {
  std::set<std::string> paths;
  for (const SourceFile& file : tree) paths.insert(file.path);
  return check_includes(tree,
                        {"daq/", "estimator/", "firmware_iface/", "proto/", "service/", "tests/"},
                        [&](const SourceFile&, const Include& include) -> Reason {
                          const bool generated = include.target.ends_with(".pb.h");
                          if (!include.quoted || generated || paths.contains(include.target))
                            return std::nullopt;
                          return "no file of this tree: \"" + include.target + "\"";
                        });
}

// Every config must be named in a test that loads it, so that none becomes outdated.
std::vector<Violation> configs_are_loaded_by_a_test(const Tree& tree) {
  std::vector<Violation> violations;
  static const std::vector<std::string> kFolders = {"configs/", "tests/studies/configs/"};
  for (const SourceFile& config : tree) {
    if (!starts_with_any(config.path, kFolders)) continue;
    const std::string name = config.path.substr(config.path.rfind('/') + 1);
    const bool named = std::any_of(tree.begin(), tree.end(), [&](const SourceFile& file) {
      return file.path.starts_with("tests/") && !starts_with_any(file.path, kFolders) &&
             !file.path.starts_with("tests/architecture/") &&
             std::any_of(file.lines.begin(), file.lines.end(), [&](const std::string& line) {
               return line.find(name) != std::string::npos;
             });
    });
    if (!named) violations.push_back({config.path, 0, "no test below tests/ loads it by name"});
  }
  return violations;
}

std::vector<Violation> files_are_short(const Tree& tree) {
  std::vector<Violation> violations;
  for (const SourceFile& file : tree) {
    const auto count = static_cast<int>(file.lines.size());
    if (count > kLinesMax && !has_extension(file, {".md", ".py"})) {
      violations.push_back({file.path, count, "longer than " + std::to_string(kLinesMax)});
    }
  }
  return violations;
}

// Columns as in an editor: UTF-8 continuation bytes take none.
int columns_of(std::string_view line) {
  return static_cast<int>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::vector<Violation> check_lines(
    const Tree& tree,
    const std::function<Reason(const SourceFile&, const std::string&)>& reason_against) {
  std::vector<Violation> violations;
  for (const SourceFile& file : tree) {
    for (std::size_t k = 0; k < file.lines.size(); ++k) {
      if (const auto reason = reason_against(file, file.lines[k])) {
        violations.push_back({file.path, static_cast<int>(k) + 1, *reason});
      }
    }
  }
  return violations;
}

std::vector<Violation> lines_fit_the_page(const Tree& tree) {
  return check_lines(tree, [](const SourceFile& file, const std::string& line) -> Reason {
    if (!is_code(file) || columns_of(line) <= kColumnsMax) return std::nullopt;
    return std::to_string(columns_of(line)) + " columns";
  });
}

std::vector<Violation> work_is_finished(const Tree& tree) {
  static const std::regex kMarker(
      "TO"
      "DO|FIX"
      "ME|XX"
      "X|DIS"
      "ABLED_|not impl"
      "emented");
  return check_lines(tree, [](const SourceFile&, const std::string& line) -> Reason {
    std::smatch match;
    if (!std::regex_search(line, match, kMarker)) return std::nullopt;
    return "unfinished: " + match.str();
  });
}

std::vector<Violation> merges_are_resolved(const Tree& tree) {
  static const std::regex kMarker("^(<{7}|>{7}) ");
  return check_lines(tree, [](const SourceFile&, const std::string& line) -> Reason {
    if (!std::regex_search(line, kMarker)) return std::nullopt;
    return "conflict of a merge";
  });
}

// Words that readers have to decode; the field has terms for each meaning: report, flag, identify.
std::vector<Violation> words_are_plain(const Tree& tree) {
  static const std::regex kWords(R"(\b(tell|tells|told|untold|telling)\b)", std::regex::icase);
  static const std::vector<std::string> kExceptions = {
      "tests/studies/arm/arm_experiment.cpp",  // a key of stored runs
      "tests/architecture/"};
  return check_lines(tree, [](const SourceFile& file, const std::string& line) -> Reason {
    std::smatch match;
    if (starts_with_any(file.path, kExceptions)) return std::nullopt;
    if (!std::regex_search(line, match, kWords)) return std::nullopt;
    return "use the field's term in place of \"" + match.str() + "\"";
  });
}

std::vector<Violation> headers_impose_no_names(const Tree& tree) {
  static const std::regex kDirective(R"(^\s*using\s+namespace\b)");
  return check_lines(tree, [](const SourceFile& file, const std::string& line) -> Reason {
    if (!is_header(file) || !std::regex_search(line, kDirective)) return std::nullopt;
    return "using-directive in a header";
  });
}

std::vector<Violation> headers_are_guarded(const Tree& tree) {
  std::vector<Violation> violations;
  for (const SourceFile& file : tree) {
    if (!is_header(file)) continue;
    const bool guarded =
        std::find(file.lines.begin(), file.lines.end(), "#pragma once") != file.lines.end();
    if (!guarded) violations.push_back({file.path, 0, "no #pragma once"});
  }
  return violations;
}

std::vector<Violation> sources_are_listed(const Tree& tree) {
  static const std::regex kGlob(R"(^\s*file\s*\(\s*GLOB)", std::regex::icase);
  return check_lines(tree, [](const SourceFile& file, const std::string& line) -> Reason {
    const bool cmake = has_extension(file, {"CMakeLists.txt", ".cmake"});
    if (!cmake || !std::regex_search(line, kGlob)) return std::nullopt;
    return "files are listed in CMake, not globbed";
  });
}

SourceFile read_file(const fs::path& path, const fs::path& root) {
  SourceFile file{fs::relative(path, root).generic_string(), {}};
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) file.lines.push_back(line);
  return file;
}

}  // namespace

Tree read_tree(const fs::path& root) {
  static const std::set<std::string> kExtensions = {".cpp", ".hpp", ".c",    ".h",
                                                    ".md",  ".py",  ".proto", ".txt",
                                                    ".cmake", ".textproto"};
  Tree tree;
  for (auto it = fs::recursive_directory_iterator(root); it != fs::end(it); ++it) {
    const std::string name = it->path().filename().string();
    if (it->is_directory()) {
      const bool skipped = name.starts_with(".") || name == "node_modules" || name == "out" ||
                           (it.depth() == 0 && name.starts_with("build"));
      if (skipped) it.disable_recursion_pending();
    } else if (kExtensions.contains(it->path().extension().string())) {
      tree.push_back(read_file(it->path(), root));
    }
  }
  std::sort(tree.begin(), tree.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return tree;
}

const std::vector<Rule>& source_rules() {
  static const std::vector<Rule> kRules = {
      {"EstimatorIsPure", estimator_is_pure},
      {"EstimatorIsLayered", estimator_is_layered},
      {"FitsKeepApart", fits_keep_apart},
      {"ServiceIsLayered", service_is_layered},
      {"FoldersAreSmall", folders_are_small},
      {"ModulesKeepApart", modules_keep_apart},
      {"ScenariosStandAlone", scenarios_stand_alone},
      {"WireIsFreestanding", wire_is_freestanding},
      {"ProtobufStaysAtTheEdge", protobuf_stays_at_the_edge},
      {"IncludesAreWrittenFromTheRoot", includes_are_written_from_the_root},
      {"ConfigsAreLoadedByATest", configs_are_loaded_by_a_test},
      {"FilesAreShort", files_are_short},
      {"LinesFitThePage", lines_fit_the_page},
      {"WorkIsFinished", work_is_finished},
      {"MergesAreResolved", merges_are_resolved},
      {"WordsArePlain", words_are_plain},
      {"HeadersImposeNoNames", headers_impose_no_names},
      {"HeadersAreGuarded", headers_are_guarded},
      {"SourcesAreListed", sources_are_listed},
      {"AnonymousFunctionsHideNone", anonymous_functions_hide_none},
  };
  return kRules;
}

std::string describe(const std::vector<Violation>& violations) {
  std::ostringstream out;
  for (const Violation& violation : violations) {
    out << violation.path << ':' << violation.line << ": " << violation.reason << '\n';
  }
  return out.str();
}

}  // namespace architecture
