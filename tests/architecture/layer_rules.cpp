#include "tests/architecture/source_rules.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <regex>

namespace architecture {
namespace {

std::vector<Include> includes_of(const SourceFile& file) {
  static const std::regex kPattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
  std::vector<Include> includes;
  for (std::size_t k = 0; k < file.lines.size(); ++k) {
    std::smatch match;
    if (std::regex_match(file.lines[k], match, kPattern)) {
      includes.push_back({match[2], match[1] == "\"", static_cast<int>(k) + 1});
    }
  }
  return includes;
}

}  // namespace

bool starts_with_any(std::string_view text, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return text.starts_with(prefix); });
}

bool has_extension(const SourceFile& file, std::initializer_list<std::string_view> extensions) {
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](std::string_view extension) { return file.path.ends_with(extension); });
}

bool is_header(const SourceFile& file) { return has_extension(file, {".hpp", ".h"}); }

bool is_code(const SourceFile& file) { return has_extension(file, {".cpp", ".hpp", ".c", ".h"}); }

std::vector<Violation> check_includes(
    const Tree& tree, const std::vector<std::string>& folders,
    const std::function<Reason(const SourceFile&, const Include&)>& reason_against) {
  std::vector<Violation> violations;
  for (const SourceFile& file : tree) {
    if (!is_code(file) || !starts_with_any(file.path, folders)) continue;
    for (const Include& include : includes_of(file)) {
      if (const auto reason = reason_against(file, include)) {
        violations.push_back({file.path, include.line, *reason});
      }
    }
  }
  return violations;
}

namespace {

// The product does not use its tests, which contain the studies.
constexpr std::array kModules = {"daq", "estimator", "firmware_iface", "proto", "service", "tests"};

// Returns the position in `order` of the folder that contains a file: the longest prefix of its
// path.
std::optional<std::size_t> place_of(const std::vector<std::string>& order,
                                    const std::string& path) {
  std::optional<std::size_t> place;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (path.starts_with(order[i]) && (!place || order[i].size() > order[*place].size())) place = i;
  }
  return place;
}

// A file may include files of its own folder and of folders earlier in the order.
std::vector<Violation> check_order(const Tree& tree, const std::string& module,
                                   const std::vector<std::string>& order) {
  return check_includes(
      tree, {module}, [&](const SourceFile& file, const Include& include) -> Reason {
        if (!include.target.starts_with(module)) return std::nullopt;
        const auto from = place_of(order, file.path), to = place_of(order, include.target);
        if (from && to && *to <= *from) return std::nullopt;
        return "the order of folders in layer_rules.cpp forbids " + include.target;
      });
}

}  // namespace

std::vector<Violation> estimator_is_layered(const Tree& tree) {
  static const std::vector<std::string> kOrder = {
      "estimator/messages/",
      "estimator/math/",
      "estimator/signal/",
      "estimator/optimize/",
      "estimator/symbolic/",
      "estimator/friction/",
      "estimator/model/",
      "estimator/model/inertia/",
      "estimator/model/kinematics/",
      "estimator/spook/",
      "estimator/dynamics/",
      "estimator/simulation/",
      "estimator/simulation/loops/",
      "estimator/simulation/interval/",
      "estimator/simulation/statics/",
      "estimator/fit/",
      "estimator/fit/physical/shooting/",
      "estimator/fit/physical/",
      "estimator/fit/shadow/",
      "estimator/assessment/",
      "estimator/assessment/identifiability/",
      "estimator/assessment/intervals/",
      "estimator/assessment/model_test/",
      "estimator/calibrate/",
      "estimator/diagnostics/description/",
      "estimator/diagnostics/jumps/",
      "estimator/diagnostics/misfit/",
      "estimator/diagnostics/signal/",
      "estimator/diagnostics/repair/",
      "estimator/design/",
  };
  return check_order(tree, "estimator/", kOrder);
}

std::vector<Violation> folders_are_small(const Tree& tree) {
  constexpr int kFilesMax = 30;
  std::map<std::string, int> counts;
  std::vector<Violation> violations;
  for (const SourceFile& file : tree) {
    if (!is_code(file) || file.path.starts_with("tests/")) continue;
    const std::string folder = file.path.substr(0, file.path.rfind('/'));
    if (++counts[folder] == kFilesMax + 1) {
      violations.push_back(
          {file.path, 0,
           folder + " has more than " + std::to_string(kFilesMax) + " files; split it by subject"});
    }
  }
  return violations;
}

// The fit of the physical system and that of a SPOOK simulator share estimator/fit and do not use
// one another; estimator/calibrate chains and compares them.
std::vector<Violation> fits_keep_apart(const Tree& tree) {
  struct Wall {
    std::string folder;  // without its subfolders
    std::vector<std::string> must_not_know;
  };
  static const std::vector<Wall> kWalls = {
      {"estimator/fit/", {"estimator/fit/physical/", "estimator/fit/shadow/"}},
      {"estimator/fit/physical/", {"estimator/fit/shadow/", "estimator/spook/"}},
      {"estimator/fit/shadow/", {"estimator/fit/physical/"}},
      {"estimator/assessment/", {"estimator/fit/shadow/", "estimator/spook/"}}};
  std::vector<Violation> violations;
  for (const Wall& wall : kWalls) {
    const auto found = check_includes(
        tree, {wall.folder}, [&](const SourceFile& file, const Include& include) -> Reason {
          const bool within = file.path.find('/', wall.folder.size()) != std::string::npos;
          if (within || !starts_with_any(include.target, wall.must_not_know)) return std::nullopt;
          return wall.folder + " must not know " + include.target;
        });
    violations.insert(violations.end(), found.begin(), found.end());
  }
  return violations;
}

std::vector<Violation> service_is_layered(const Tree& tree) {
  static const std::vector<std::string> kOrder = {
      "service/messages/",
      "service/text/",
      "service/rig/parameters/",
      "service/rig/",
      "service/recordings/",
      "service/recordings/formats/",
      "service/simulation/",
      "service/rig/drawing/",
      "service/rig/init/",
      "service/rig/robot/",
      "service/rig/code/",
      "service/options/",
      "service/work/",
      "service/work/slurm/",
      "service/result/",
      "service/calibration/",
      "service/report/charts/",
      "service/report/sections/",
      "service/design/",
      "service/report/",
      "service/server/storage/",
      "service/server/sessions/",
      "service/server/jobs/",
      "service/server/",
      "service/cli/",
      "service/cli/remote/",
      "service/cli/commands/",
      "service/python/",
      "service/unit/",
      "service/",
  };
  return check_order(tree, "service/", kOrder);
}

std::vector<Violation> modules_keep_apart(const Tree& tree) {
  struct Module {
    std::string folder;
    std::vector<std::string> may_use;  // besides itself
  };
  static const std::vector<Module> kDependencies = {
      {"estimator/", {"proto/notation/"}},
      {"proto/", {}},
      {"firmware_iface/",
       {"proto/notation/", "proto/result.", "proto/sim.pb.h", "proto/check/", "proto/text/"}},
      {"daq/", {"firmware_iface/", "proto/"}},
      {"service/", {"estimator/", "proto/"}},
  };
  // A simulation, and a design, use the commands of a rig's run. rigcal-sim simulates a unit with
  // the rig of a rig file, as rigcal-daq reads it.
  static const std::vector<Module> kExceptions = {
      {"service/simulation/", {"daq/scenario/"}},
      {"service/design/", {"daq/scenario/"}},
      {"service/unit/", {"daq/config/", "firmware_iface/"}},
  };
  std::vector<Violation> violations;
  for (const Module& module : kDependencies) {
    const auto found = check_includes(
        tree, {module.folder}, [&](const SourceFile& file, const Include& include) -> Reason {
          const std::string first = include.target.substr(0, include.target.find('/'));
          const bool ours = std::find(kModules.begin(), kModules.end(), first) != kModules.end();
          if (!ours || include.target.starts_with(module.folder) ||
              starts_with_any(include.target, module.may_use)) {
            return std::nullopt;
          }
          for (const Module& exception : kExceptions) {
            if (file.path.starts_with(exception.folder) &&
                starts_with_any(include.target, exception.may_use)) {
              return std::nullopt;
            }
          }
          return module.folder + " must not know " + include.target;
        });
    violations.insert(violations.end(), found.begin(), found.end());
  }
  return violations;
}

}  // namespace architecture
