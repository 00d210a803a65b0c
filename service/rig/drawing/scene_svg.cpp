#include "service/rig/drawing/rig_picture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "proto/text/printable.hpp"
#include "service/rig/drawing/scene.hpp"
#include "service/text/number_format.hpp"
#include "service/text/svg_elements.hpp"

namespace service {
namespace {

using Eigen::Vector2d;

/// Sizes of a picture [px]: the whole width, the space above the panels, the height of the panels
/// and the width of the smaller panels.
struct PictureLayout {
  double width, top, panel_height, side_width;
};
constexpr PictureLayout kFileLayout = {960.0, 44.0, 520.0, 330.0};
constexpr PictureLayout kReportLayout = {640.0, 16.0, 300.0, 200.0};
constexpr double kEdge = 16.0, kMargin = 66.0;
constexpr double kRow = 20.0;
const Vector2d kLetter(7.3, 15.0);  // letter size [px]
constexpr double kAway = 9.0;
constexpr double kKeyRow = 36.0;
constexpr int kLineLetters = 124;  // of the lines of text

const char* const kStyle = R"(<style>
text { font: 13px system-ui, "DejaVu Sans", sans-serif; fill: #1a1d21; }
.title { font-size: 17px; font-weight: 600; } .quiet { fill: #5a636e; }
.panel { fill: #ffffff; stroke: #d5dae0; }
path { fill: none; stroke-linecap: round; stroke-linejoin: round; }
.body { stroke: #3d4752; stroke-width: 7; } .support { stroke: #6b7580; stroke-width: 4; }
.rail { stroke: #6b7580; stroke-width: 3; }
.axis { stroke: #8a9099; stroke-width: 1.2; stroke-dasharray: 9 3 2 3; }
.zero { stroke: #5a636e; stroke-width: 1.4; stroke-dasharray: 5 5; }
.positive { stroke: #00796b; stroke-width: 2.2; } .reading { stroke: #0072b2; stroke-width: 2.2; }
.hatch { stroke: #6b7580; stroke-width: 1.4; } .behind { fill: none; }
.joint { fill: #ffffff; stroke: #3d4752; stroke-width: 2; } .pin { fill: #3d4752; }
.mass { fill: #ffffff; stroke: #1a1d21; stroke-width: 1.2; } .quarter { fill: #1a1d21; }
.encoder { fill: none; stroke: #0072b2; stroke-width: 2.4; stroke-dasharray: 3 2.6; }
.motor { fill: none; stroke: #d55e00; stroke-width: 3; }
.sensor { stroke: #7b3fa0; stroke-width: 1.8; } .case { fill: #f1e6f7; stroke: #7b3fa0; }
.around { fill: none; stroke: #7b3fa0; stroke-width: 2; }
.head-positive, text.positive { fill: #00796b; stroke: none; }
.head-reading, text.reading { fill: #0072b2; stroke: none; }
.head-sensor, text.sensor { fill: #7b3fa0; stroke: none; }
.gravity { fill: none; stroke: #a02c5a; stroke-width: 2; }
.head-gravity, text.gravity { fill: #a02c5a; }
text.zero { fill: #5a636e; stroke: none; font-size: 12px; }
text.body { stroke: none; font-style: italic; fill: #3d4752; }
text.positive, text.reading { font-weight: 600; } text.gravity { stroke: none; font-weight: 600; }
.halo { stroke: #ffffff; stroke-width: 4; stroke-linejoin: round; }
</style>
)";

/// Returns the CSS class of a line role.
const char* name_of(LineRole ink) {
  static const char* const kNames[] = {"body", "support",  "rail",    "axis",
                                       "zero", "positive", "reading", "sensor"};
  return kNames[static_cast<int>(ink)];
}

std::string text_at(const Vector2d& at, const char* css, const char* anchor,
                    const std::string& text) {
  return svg_text(at.x(), at.y(), anchor, css, proto::escape_for_terminal(text));
}

std::string arrow_head(const Vector2d& tip, const Vector2d& along, const char* name) {
  const Vector2d e = along.normalized(), n(-e.y(), e.x());
  const Vector2d back = tip - 8.0 * e, a = back + 4.5 * n, b = back - 4.5 * n,
                 front = tip + 3.0 * e;
  return fmt::format(
      "<path class=\"head-{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}Z\"/>\n", name,
      front.x(), front.y(), a.x(), a.y(), b.x(), b.y());
}

std::string path_of(const std::vector<Vector2d>& points, const char* css) {
  std::string d;
  for (const Vector2d& p : points) {
    d += fmt::format("{}{:.1f} {:.1f}", d.empty() ? "M" : "L", p.x(), p.y());
  }
  return fmt::format("<path class=\"{}\" d=\"{}\"/>\n", css, d);
}

std::string circle(const Vector2d& at, double radius, const char* css) {
  return svg_circle(at.x(), at.y(), radius, css);
}

std::string square(const Vector2d& at, double half, const char* css) {
  return svg_rect(at.x() - half, at.y() - half, 2.0 * half, 2.0 * half, css);
}

/// Returns SVG of a hatched ground plate, or of a plain square if the ground is behind the joint.
std::string draw_ground(const Vector2d& at, const Vector2d& toward) {
  if (toward.norm() < 0.5) return square(at, 12.0, "hatch behind");
  const Vector2d along(-toward.y(), toward.x());
  std::string svg = path_of({at - 17.0 * along, at + 17.0 * along}, "support");
  for (double s = -15.0; s <= 16.0; s += 7.5) {
    const Vector2d begin = at + s * along;
    svg += path_of({begin, begin + 8.0 * toward - 6.0 * along}, "hatch");
  }
  return svg;
}

/// Returns SVG of the quartered circle that marks a centre of mass.
std::string draw_mass(const Vector2d& at) {
  constexpr double r = 6.5;
  const double x = at.x(), y = at.y();
  return circle(at, r, "mass") +
         fmt::format(
             "<path class=\"quarter\" d=\"M{0:.1f} {1:.1f}V{2:.1f}A{6} {6} 0 0 1 {4:.1f} {1:.1f}Z"
             "M{0:.1f} {1:.1f}V{3:.1f}A{6} {6} 0 0 1 {5:.1f} {1:.1f}Z\"/>\n",
             x, y, y - r, y + r, x + r, x - r, r);
}

std::string draw_sign(Symbol symbol, const Vector2d& at, const Vector2d& toward) {
  switch (symbol) {
    case Symbol::kJoint:
      return circle(at, 6.0, "joint") + circle(at, 1.8, "pin");
    case Symbol::kMass:
      return draw_mass(at);
    case Symbol::kEncoder:
      return circle(at, 10.5, "encoder");
    case Symbol::kMotor:
      return circle(at, 15.0, "motor");
    case Symbol::kGround:
      return draw_ground(at, toward);
    case Symbol::kSensor:
      return square(at, 9.0, "case");
    case Symbol::kLoadSensor:
      return square(at, 18.0, "around");
  }
  return "";
}

std::string draw_line(const ProjectedScene::ProjectedLine& line) {
  double length = 0.0;
  for (std::size_t k = 1; k < line.points.size(); ++k) {
    length += (line.points[k] - line.points[k - 1]).norm();
  }
  if (length < 4.0) return "";  // it points at the viewer
  std::string svg = path_of(line.points, name_of(line.ink));
  if (line.arrow) {
    const Vector2d tip = line.points.back();
    svg += arrow_head(tip, tip - line.points[line.points.size() - 2], name_of(line.ink));
  }
  return svg;
}

std::string draw_gravity(const Vector2d& corner, const Vector2d& direction, bool acts) {
  const bool along_view = direction.norm() < 0.3;
  if (!acts) return text_at(corner + Vector2d(24.0, 0.0), "quiet", "end", "no gravity");
  if (along_view) {
    return circle(corner, 7.0, "gravity") + circle(corner, 2.0, "head-gravity") +
           text_at(corner + Vector2d(14.0, 5.0), "gravity", "start", "g");
  }
  const Vector2d end = corner + 30.0 * direction;
  return path_of({corner, end}, "gravity") + arrow_head(end, direction, "gravity") +
         text_at(0.5 * (corner + end) + Vector2d(10.0, 5.0), "gravity", "start", "g");
}

/// Returns SVG of the world axes in a view, without an axis that points at the viewer.
std::string draw_triad(const Vector2d& corner, const SceneView& view) {
  std::string svg;
  const char* const names[3] = {"x", "y", "z"};
  for (int k = 0; k < 3; ++k) {
    const Vector2d flat = view.flat(Eigen::Vector3d::Unit(k));
    if (flat.norm() < 0.2) continue;
    const Vector2d end = corner + 26.0 * Vector2d(flat.x(), -flat.y());
    svg += path_of({corner, end}, "hatch");
    svg += text_at(end + 8.0 * Vector2d(flat.x(), -flat.y()) + Vector2d(0.0, 4.0), "quiet",
                   "middle", names[k]);
  }
  return svg;
}

std::string draw_panel(const Scene& scene, const SceneView& view, const Vector2d& size) {
  const Vector2d margin = Vector2d::Constant(std::min(kMargin, 0.2 * size.minCoeff()));
  const ProjectedScene picture = project_scene(scene, view, margin, size - margin);
  std::string svg = fmt::format(
      "<rect class=\"panel\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"6\"/>\n", size.x(), size.y());
  svg += text_at({12.0, 20.0}, "quiet", "start", view.name);
  for (const LineRole ink :
       {LineRole::kSupport, LineRole::kRail, LineRole::kBody, LineRole::kAxis, LineRole::kZero,
        LineRole::kPositive, LineRole::kReading, LineRole::kSensor}) {
    for (const ProjectedScene::ProjectedLine& line : picture.lines) {
      if (line.ink == ink) svg += draw_line(line);
    }
  }
  for (const Symbol symbol : {Symbol::kGround, Symbol::kMotor, Symbol::kLoadSensor, Symbol::kSensor,
                              Symbol::kEncoder, Symbol::kJoint, Symbol::kMass}) {
    for (const ProjectedScene::ProjectedSymbol& sign : picture.signs) {
      if (sign.symbol == symbol) svg += draw_sign(symbol, sign.at, sign.toward);
    }
  }
  for (const PlacedLabel& label : place_labels(picture, kLetter, kAway, size)) {
    const Vector2d at(0.5 * (label.low.x() + label.high.x()), label.high.y() - 4.0);
    // A white outline keeps letters readable on lines.
    svg += text_at(at, "halo", "middle", label.text);
    svg += text_at(at, name_of(label.ink), "middle", label.text);
  }
  svg += draw_gravity({size.x() - 36.0, 24.0}, picture.gravity, scene.gravity.norm() > 0.0);
  return svg + draw_triad({36.0, size.y() - 34.0}, view);
}

struct Key {
  std::string svg;
  double bottom;  ///< vertical position of the legend's last row
};

Key draw_key(const Scene& scene, double width_max, double y) {
  std::set<Symbol> used;
  for (const SceneSymbol& symbol : scene.symbols) used.insert(symbol.symbol);
  const bool readings = std::ranges::any_of(
      scene.lines, [](const SceneLine& line) { return line.ink == LineRole::kReading; });
  const Vector2d o = Vector2d::Zero(), left(-13.0, 0.0), right(9.0, 0.0);
  const auto arrow = [&](const char* name) {
    return path_of({left, right}, name) + arrow_head(right, right - left, name);
  };
  const auto sign = [&](Symbol symbol) { return draw_sign(symbol, o, o); };
  struct Entry {
    bool is_used;
    std::string drawing;
    const char* text;
  };
  const Entry entries[] = {
      {true, path_of({left, {13.0, 0.0}}, "zero"), "zero"},
      {true, arrow("positive"), "positive direction"},
      {readings, arrow("reading"), "positive direction of an encoder between bodies"},
      {used.contains(Symbol::kEncoder), sign(Symbol::kEncoder), "encoder"},
      {used.contains(Symbol::kMotor), sign(Symbol::kMotor), "motor"},
      {used.contains(Symbol::kSensor), sign(Symbol::kSensor), "sensor"},
      {used.contains(Symbol::kLoadSensor), square(o, 9.0, "around"), "load sensor"},
      {used.contains(Symbol::kMass), sign(Symbol::kMass), "centre of mass"},
      {used.contains(Symbol::kGround), draw_sign(Symbol::kGround, {-2.0, -3.0}, {0.0, 1.0}),
       "ground"}};
  std::string svg;
  double x = kEdge + 20.0;
  for (const Entry& entry : entries) {
    if (!entry.is_used) continue;
    const double width = 24.0 + 7.0 * display_width(entry.text);
    if (x + width > width_max - kEdge) {
      x = kEdge + 20.0;
      y += kKeyRow;
    }
    svg += fmt::format("<g transform=\"translate({:.0f} {:.0f})\">\n{}</g>\n", x, y, entry.drawing);
    svg += text_at({x + 24.0, y + 4.5}, "quiet", "start", entry.text);
    x += width + 38.0;
  }
  return {svg, y};
}

}  // namespace

std::string render_scene_svg(const Scene& scene, PictureSize size, const std::string& title,
                             const std::vector<std::string>& words) {
  const std::vector<SceneView> views = choose_scene_views(scene);
  const PictureLayout layout = size == PictureSize::kFile ? kFileLayout : kReportLayout;
  const double inner = layout.width - 2.0 * kEdge;
  const double main = views.size() > 1 ? inner - layout.side_width - kEdge : inner;
  std::vector<std::string> lines;
  for (const std::string& line : words) {
    std::ranges::move(wrap_text(line, kLineLetters, 4), std::back_inserter(lines));
  }
  const Key key = draw_key(scene, layout.width, layout.top + layout.panel_height + 30.0);
  const double height = key.bottom + 30.0 + kRow * static_cast<double>(lines.size());
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n{2}"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#f6f7f9\"/>\n",
      layout.width, height, kStyle);
  if (!title.empty()) svg += text_at({kEdge, 29.0}, "title", "start", title);
  const auto panel = [&](const SceneView& view, double x, double y, const Vector2d& size) {
    svg += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n{}</g>\n", x, y,
                       draw_panel(scene, view, size));
  };
  panel(views[0], kEdge, layout.top, {main, layout.panel_height});
  const double side = (layout.panel_height - kEdge * static_cast<double>(views.size() - 2)) /
                      static_cast<double>(std::max<std::size_t>(1, views.size() - 1));
  for (std::size_t k = 1; k < views.size(); ++k) {
    panel(views[k], 2.0 * kEdge + main, layout.top + (side + kEdge) * static_cast<double>(k - 1),
          {layout.side_width, side});
  }
  svg += key.svg;
  double y = key.bottom + 34.0;
  for (const std::string& line : lines) {
    const double indent = line.starts_with("    ") ? 22.0 : 0.0;
    svg += text_at({kEdge + indent, y}, "words", "start", line);
    y += kRow;
  }
  return svg + "</svg>\n";
}

}  // namespace service
