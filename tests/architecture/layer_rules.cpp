#include "tests/architecture/layer_rules.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "tests/architecture/includes.hpp"

namespace architecture {
namespace {

// The product does not use its tests, which contain the studies.
constexpr std::array kModules = {"daq", "estimator", "firmware_iface", "proto", "service", "tests"};

struct Layer {
  std::string folder;
  std::vector<std::string> may_use;  // besides itself
};

// A file of a layer may include only the allowed layers of its module.
std::vector<Violation> check_layers(const Tree& tree, const std::string& module,
                                    const std::vector<Layer>& layers) {
  std::vector<Violation> violations;
  for (const Layer& layer : layers) {
    const auto found = check_includes(
        tree, {layer.folder},
        [&](const SourceFile&, const Include& include) -> std::optional<std::string> {
          if (!include.target.starts_with(module) || include.target.starts_with(layer.folder) ||
              starts_with_any(include.target, layer.may_use)) {
            return std::nullopt;
          }
          return layer.folder + " must not know " + include.target;
        });
    violations.insert(violations.end(), found.begin(), found.end());
  }
  return violations;
}

}  // namespace

std::vector<Violation> estimator_is_layered(const Tree& tree) {
  static const std::vector<Layer> kLayers = {
      {"estimator/math/", {}},
      {"estimator/signal/", {"estimator/math/"}},
      {"estimator/optimize/", {"estimator/math/"}},
      {"estimator/friction/", {"estimator/math/"}},
      {"estimator/model/", {"estimator/math/", "estimator/friction/"}},
      {"estimator/symbolic/", {}},
      {"estimator/spook/", {"estimator/math/", "estimator/friction/", "estimator/model/"}},
      {"estimator/dynamics/",
       {"estimator/math/", "estimator/friction/", "estimator/model/", "estimator/symbolic/"}},
      {"estimator/simulation/",
       {"estimator/math/", "estimator/signal/", "estimator/model/", "estimator/dynamics/",
        "estimator/symbolic/"}},
      {"estimator/fit/",
       {"estimator/math/", "estimator/signal/", "estimator/optimize/", "estimator/model/",
        "estimator/spook/", "estimator/dynamics/", "estimator/simulation/"}},
      {"estimator/assess/",
       {"estimator/math/", "estimator/signal/", "estimator/optimize/", "estimator/model/",
        "estimator/dynamics/", "estimator/simulation/", "estimator/fit/"}},
      {"estimator/calibrate/",
       {"estimator/math/", "estimator/signal/", "estimator/optimize/", "estimator/friction/",
        "estimator/model/", "estimator/spook/", "estimator/dynamics/", "estimator/simulation/",
        "estimator/fit/", "estimator/assess/"}},
      {"estimator/diagnostics/",
       {"estimator/math/", "estimator/signal/", "estimator/optimize/", "estimator/model/",
        "estimator/dynamics/", "estimator/simulation/", "estimator/fit/", "estimator/assess/",
        "estimator/calibrate/"}},
      {"estimator/design/",
       {"estimator/math/", "estimator/signal/", "estimator/optimize/", "estimator/model/",
        "estimator/dynamics/", "estimator/simulation/", "estimator/fit/", "estimator/assess/",
        "estimator/calibrate/", "estimator/diagnostics/"}}};
  return check_layers(tree, "estimator/", kLayers);
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
      {"estimator/assess/", {"estimator/fit/shadow/", "estimator/spook/"}}};
  std::vector<Violation> violations;
  for (const Wall& wall : kWalls) {
    const auto found = check_includes(
        tree, {wall.folder},
        [&](const SourceFile& file, const Include& include) -> std::optional<std::string> {
          const bool within = file.path.find('/', wall.folder.size()) != std::string::npos;
          if (within || !starts_with_any(include.target, wall.must_not_know)) return std::nullopt;
          return wall.folder + " must not know " + include.target;
        });
    violations.insert(violations.end(), found.begin(), found.end());
  }
  return violations;
}

std::vector<Violation> service_is_layered(const Tree& tree) {
  static const std::vector<Layer> kLayers = {
      {"service/options/", {}},
      {"service/text/", {}},
      {"service/import/", {"service/options/", "service/text/"}},
      {"service/describe/", {"service/options/", "service/text/", "service/import/"}},
      {"service/simulation/", {"service/options/", "service/text/", "service/import/"}},
      {"service/result/", {"service/options/", "service/text/", "service/import/"}},
      {"service/report/",
       {"service/options/", "service/text/", "service/import/", "service/describe/",
        "service/result/"}},
      {"service/calibration/",
       {"service/options/", "service/text/", "service/import/", "service/result/"}},
      {"service/design/",
       {"service/options/", "service/text/", "service/import/", "service/simulation/",
        "service/result/", "service/report/", "service/calibration/"}},
      {"service/server/",
       {"service/options/", "service/text/", "service/import/", "service/result/",
        "service/report/", "service/calibration/"}},
      {"service/client/",
       {"service/options/", "service/text/", "service/import/", "service/describe/",
        "service/simulation/", "service/result/", "service/report/", "service/calibration/",
        "service/design/"}},
      {"service/python/",
       {"service/options/", "service/text/", "service/import/", "service/simulation/",
        "service/result/", "service/report/", "service/calibration/"}}};
  return check_layers(tree, "service/", kLayers);
}

std::vector<Violation> modules_keep_apart(const Tree& tree) {
  struct Module {
    std::string folder;
    std::vector<std::string> may_use;  // besides itself
  };
  static const std::vector<Module> kDependencies = {
      {"estimator/", {"proto/notation/"}},
      {"proto/", {}},
      {"firmware_iface/", {"proto/notation/", "proto/sim.pb.h", "proto/check/", "proto/text/"}},
      {"daq/", {"firmware_iface/", "proto/"}},
      {"service/", {"estimator/", "proto/"}},
  };
  // The only allowed dependency: a simulation, and a design, use the commands of a rig's run.
  static const std::vector<Module> kExceptions = {
      {"service/simulation/", {"daq/scenario/"}},
      {"service/design/", {"daq/scenario/"}},
  };
  std::vector<Violation> violations;
  for (const Module& module : kDependencies) {
    const auto found = check_includes(
        tree, {module.folder},
        [&](const SourceFile& file, const Include& include) -> std::optional<std::string> {
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
