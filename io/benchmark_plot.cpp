#include "io/benchmark_report.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "io/plot_axis.hpp"
#include "io/svg_drawing.hpp"

namespace pagerank::io {
namespace {

// Lengths in pixels.
constexpr double picture_width = 1180;
constexpr double title_height = 76;    ///< Above the charts of a table.
constexpr double caption_height = 66;  ///< Below them: ticks, axis titles, room to the next table.
constexpr double bars_left = 206, bars_right = 500;
constexpr double roofline_left = 676, roofline_right = 1150;
constexpr double row_height = 21, tallest_row = 32, least_roofline_height = 330;
constexpr double label_height = 14;

/// Whether a chart can hold it: measured, and far from where arithmetic on it would overflow.
bool plottable(double value) {
  return value > 1e-30 && value < 1e30;
}

/// How a kernel looks in every chart of the picture: with stored values hollow, without filled.
struct Look {
  std::string colour;
  std::string_view marker;
};

/// Of the n-th kernel; the first 28 differ. The colours are those of M. Okabe and K. Ito (Color
/// Universal Design, 2008) but yellow and black.
Look look_of(std::size_t kernel) {
  constexpr std::string_view colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                          "#e69f00", "#56b4e9", "#666666"};
  constexpr std::string_view markers[] = {"M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
                                          "M-4-4h8v8h-8z", "M0-5l5 9h-10z",
                                          "M0-5.5l5.5 5.5l-5.5 5.5l-5.5-5.5z"};
  return {std::string(colours[kernel % std::size(colours)]), markers[kernel % std::size(markers)]};
}

using Kernels = std::vector<std::string>;

Kernels kernels_of(const std::vector<BenchmarkTable>& tables) {
  Kernels kernels;
  for (const BenchmarkTable& table : tables) {
    for (const BenchmarkRow& row : table.rows) {
      if (std::find(kernels.begin(), kernels.end(), row.kernel) == kernels.end()) {
        kernels.push_back(row.kernel);
      }
    }
  }
  return kernels;
}

Look look_of(const Kernels& kernels, const BenchmarkRow& row) {
  const auto place = std::find(kernels.begin(), kernels.end(), row.kernel) - kernels.begin();
  return look_of(static_cast<std::size_t>(place));
}

/// Whether it is about the way from text to matrix, where no flops are counted.
bool is_loading(const BenchmarkTable& table) {
  return table.benchmark == "load" || table.benchmark == "build";
}

bool hollow(const BenchmarkTable& table, const BenchmarkRow& row) {
  return row.values && table.benchmark != "reduce" && !is_loading(table);
}

std::string label_of(const BenchmarkTable& table, const BenchmarkRow& row) {
  return shortened(valid_text(row.kernel), 22) + (hollow(table, row) ? " (values)" : "");
}

double milliseconds(const BenchmarkRow& row) {
  return row.median_seconds * 1e3;
}

bool timed(const BenchmarkRow& row) {
  return row.refusal.empty() && plottable(milliseconds(row));
}

/// In place of the time of a row without one.
std::string missing_time(const BenchmarkRow& row) {
  if (row.refusal.empty()) return "no time";
  const bool wrong = row.max_difference || row.refusal.find("wrong") != std::string::npos;
  return wrong ? "wrong" : "refused";
}

struct Point {
  const BenchmarkRow* row;
  double intensity, gigaflops;
};

std::vector<Point> points_of(const BenchmarkTable& table) {
  std::vector<Point> points;
  for (const BenchmarkRow& row : table.rows) {
    const double flops = static_cast<double>(row.flops);
    const Point point = {&row, flops / static_cast<double>(row.bytes),
                         flops / row.median_seconds / 1e9};
    if (timed(row) && plottable(point.intensity) && plottable(point.gigaflops)) {
      points.push_back(point);
    }
  }
  return points;
}

/// Of both charts of the table.
double chart_height(const BenchmarkTable& table) {
  const double rows = static_cast<double>(table.rows.size());
  if (points_of(table).empty()) return tallest_row * std::max(rows, 1.0);
  return std::max(least_roofline_height, row_height * rows);
}

double table_height(const BenchmarkTable& table) {
  return title_height + chart_height(table) + caption_height;
}

/// Logarithmic where the smallest bars would otherwise be too short to tell apart.
std::optional<Axis> time_axis(const BenchmarkTable& table) {
  double least = 1e300, most = 0;
  for (const BenchmarkRow& row : table.rows) {
    if (!timed(row)) continue;
    least = std::min(least, milliseconds(row));
    most = std::max(most, milliseconds(row));
  }
  if (most == 0) return std::nullopt;
  const bool logarithmic = most > 20 * least;
  return Axis(logarithmic, logarithmic ? least / 2 : 0, most, bars_left, bars_right);
}

void draw_time_axis(Drawing& drawing, const BenchmarkTable& table, const Axis& axis, double top,
                    double bottom) {
  for (const double tick : axis.ticks()) {
    const double x = axis.pixel(tick);
    drawing.line("grid", x, top, x, bottom);
    drawing.text("tick middle", x, bottom + 15, general(tick, 6));
  }
  const std::string what = table.benchmark == "solve"    ? "iteration"
                           : table.benchmark == "reduce" ? "reduction"
                           : is_loading(table)           ? "run"
                                                         : "multiplication";
  drawing.text("middle", (bars_left + bars_right) / 2, bottom + 34,
               "median ms of one " + what + (axis.logarithmic() ? " (logarithmic)" : ""));
}

void draw_baseline(Drawing& drawing, const BenchmarkTable& table, const Axis& axis, double top,
                   double bottom) {
  const double baseline = table.baseline_seconds().value_or(0) * 1e3;
  if (!plottable(baseline)) return;
  const double x = axis.pixel(baseline);
  drawing.line("baseline", x, top - 4, x, bottom);
  drawing.text("tick middle", x, top - 8,
               table.benchmark == "reduce" ? "cuBLAS"
               : table.benchmark == "load" ? "count lines"
                                           : "cuSPARSE");
}

/// Where the rows of a bar chart stand.
struct Bars {
  double top, pitch;
  [[nodiscard]] double middle(std::size_t row) const {
    return top + (static_cast<double>(row) + 0.5) * pitch;
  }
};

void draw_names(Drawing& drawing, const BenchmarkTable& table, const Bars& bars) {
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const BenchmarkRow& row = table.rows[i];
    drawing.text(timed(row) ? "kernel end" : "kernel end missing", bars_left - 8,
                 bars.middle(i) + 4, label_of(table, row));
    if (!timed(row)) {
      drawing.text("missing", bars_left + 6, bars.middle(i) + 4, missing_time(row));
    }
  }
}

void draw_bars(Drawing& drawing, const BenchmarkTable& table, const Kernels& kernels, double top) {
  const double rows = static_cast<double>(table.rows.size());
  const Bars bars = {top, std::min(chart_height(table) / rows, tallest_row)};
  const double bottom = top + bars.pitch * rows;
  const std::optional<Axis> axis = time_axis(table);
  if (axis) draw_time_axis(drawing, table, *axis, top, bottom);
  drawing.line("axis", bars_left, top, bars_left, bottom);
  draw_names(drawing, table, bars);
  if (!axis) return;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const BenchmarkRow& row = table.rows[i];
    if (!timed(row)) continue;
    drawing.bar(bars_left, bars.middle(i) - 7, axis->pixel(milliseconds(row)) - bars_left, 14,
                look_of(kernels, row).colour, hollow(table, row));
  }
  draw_baseline(drawing, table, *axis, top, bottom);
  // Last, so that the baseline runs behind them.
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const BenchmarkRow& row = table.rows[i];
    if (!timed(row)) continue;
    const std::string label = general(milliseconds(row), 3);
    const double left = axis->pixel(milliseconds(row)) + 4;
    drawing.blank(left, bars.middle(i) - 7, 7 * static_cast<double>(label.size()) + 3, 14);
    drawing.text("value", left + 2, bars.middle(i) + 4, label);
  }
}

/// min(copy bandwidth * intensity, multiply-add peak), or the one of them that was measured.
class Roof {
 public:
  explicit Roof(const BenchmarkTable& table)
      : bandwidth_(table.copy_bytes_per_second / 1e9), peak_(table.fma_flops_per_second / 1e9) {}

  [[nodiscard]] bool has_slope() const { return plottable(bandwidth_); }
  [[nodiscard]] bool has_ceiling() const { return plottable(peak_); }
  [[nodiscard]] double bandwidth() const { return bandwidth_; }
  [[nodiscard]] double peak() const { return peak_; }

  /// The intensity at which the slope meets the ceiling, if both are known.
  [[nodiscard]] double ridge() const {
    return has_slope() && has_ceiling() ? peak_ / bandwidth_ : 0;
  }

  /// In Gflop/s; 0 if there is none.
  [[nodiscard]] double at(double intensity) const {
    if (!has_slope()) return has_ceiling() ? peak_ : 0;
    return has_ceiling() ? std::min(bandwidth_ * intensity, peak_) : bandwidth_ * intensity;
  }

 private:
  double bandwidth_, peak_;
};

/// Kernels of one benchmark move much the same bytes, so their points stand one above the other.
/// The room is for their labels, to the right of them.
Axis intensity_axis(const std::vector<Point>& points, const Roof& roof) {
  double least = points[0].intensity, most = least;
  for (const Point& point : points) {
    least = std::min(least, point.intensity);
    most = std::max(most, point.intensity);
  }
  return {true, least / 3, std::max(most * 50, roof.ridge() * 4), roofline_left, roofline_right};
}

Axis gigaflops_axis(const std::vector<Point>& points, double highest_roof, double top,
                    double bottom) {
  double least = points[0].gigaflops, most = std::max(least, highest_roof);
  for (const Point& point : points) {
    least = std::min(least, point.gigaflops);
    most = std::max(most, point.gigaflops);
  }
  return {true, least / 3, most * 3, bottom, top};
}

void draw_roofline_axes(Drawing& drawing, const Axis& x, const Axis& y) {
  const double left = x.from_pixel(), right = x.to_pixel();
  const double bottom = y.from_pixel(), top = y.to_pixel();
  for (const double tick : x.ticks()) {
    drawing.line("grid", x.pixel(tick), top, x.pixel(tick), bottom);
    drawing.text("tick middle", x.pixel(tick), bottom + 15, general(tick, 6));
  }
  for (const double tick : y.ticks()) {
    drawing.line("grid", left, y.pixel(tick), right, y.pixel(tick));
    drawing.text("tick end", left - 6, y.pixel(tick) + 4, general(tick, 6));
  }
  drawing.line("axis", left, top, left, bottom);
  drawing.line("axis", left, bottom, right, bottom);
  drawing.text("middle", (left + right) / 2, bottom + 34, "flops per byte");
  drawing.text("middle", left - 46, (top + bottom) / 2, "Gflop/s", -90);
}

/// Both axes are logarithmic, so each part of the roof is a straight line.
void draw_roof(Drawing& drawing, const Roof& roof, const Axis& x, const Axis& y) {
  const double ridge = roof.ridge();
  if (roof.has_slope()) {
    // Points far above the roof, as of a graph in the caches, may have moved its foot out of sight.
    const double from = std::max(x.from(), y.from() / roof.bandwidth());
    const double to = ridge > 0 ? std::min(ridge, x.to()) : x.to();
    if (from < to) {
      const double x1 = x.pixel(from), y1 = y.pixel(roof.at(from));
      const double x2 = x.pixel(to), y2 = y.pixel(roof.at(to));
      drawing.line("roof", x1, y1, x2, y2);
      const double degrees = std::atan2(y2 - y1, x2 - x1) * 57.29577951308232;
      drawing.text("tick middle", (x1 + x2) / 2, (y1 + y2) / 2 - 8,
                   "copy " + general(roof.bandwidth(), 4) + " GB/s", degrees);
    }
  }
  if (roof.has_ceiling()) {
    const double from = std::max(ridge, x.from());
    const double height = y.pixel(roof.peak());
    if (from < x.to()) drawing.line("roof", x.pixel(from), height, x.to_pixel(), height);
    drawing.text("tick end", x.to_pixel(), height - 7,
                 "FMA " + general(roof.peak(), 6) + " Gflop/s");
  }
}

/// Where labels go that want to stand at `wanted`, which ascends: apart, and above `bottom`.
std::vector<double> pushed_apart(std::vector<double> wanted, double bottom) {
  for (std::size_t i = 1; i < wanted.size(); ++i) {
    wanted[i] = std::max(wanted[i], wanted[i - 1] + label_height);
  }
  double limit = bottom;
  for (std::size_t i = wanted.size(); i-- > 0; limit = wanted[i] - label_height) {
    wanted[i] = std::min(wanted[i], limit);
  }
  return wanted;
}

/// Right of the points; further right if it takes that for the labels to stand under the roof.
double labels_left_edge(const Roof& roof, const Axis& x, const Axis& y, double rightmost_point,
                        double highest_label) {
  constexpr double near = 40, far = 160;
  double edge = rightmost_point + near;
  if (!roof.has_slope()) return edge;
  while (edge < rightmost_point + far &&
         y.pixel(roof.at(x.value(edge))) > highest_label - label_height) {
    edge += 4;
  }
  return edge;
}

void draw_points(Drawing& drawing, const BenchmarkTable& table, const Kernels& kernels,
                 std::vector<Point> points, const Roof& roof, const Axis& x, const Axis& y) {
  std::stable_sort(points.begin(), points.end(),
                   [](const Point& a, const Point& b) { return a.gigaflops > b.gigaflops; });
  std::vector<double> heights;
  double rightmost = 0;
  for (const Point& point : points) {
    heights.push_back(y.pixel(point.gigaflops));
    rightmost = std::max(rightmost, x.pixel(point.intensity));
  }
  const std::vector<double> label_heights =
      pushed_apart(heights, y.from_pixel() - label_height / 2);
  const double labels_left = labels_left_edge(roof, x, y, rightmost, label_heights[0]);
  for (std::size_t i = 0; i < points.size(); ++i) {
    drawing.leader(x.pixel(points[i].intensity), heights[i], labels_left - 4, label_heights[i],
                   look_of(kernels, *points[i].row).colour);
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const BenchmarkRow& row = *points[i].row;
    const Look look = look_of(kernels, row);
    drawing.marker(x.pixel(points[i].intensity), heights[i], look.marker, look.colour,
                   hollow(table, row));
    drawing.text("point", labels_left, label_heights[i] + 4, label_of(table, row));
  }
}

void draw_roofline(Drawing& drawing, const BenchmarkTable& table, const Kernels& kernels,
                   double top) {
  const std::vector<Point> points = points_of(table);
  if (points.empty()) {
    drawing.text("missing", roofline_left, top + row_height, "no kernel for the roofline");
    return;
  }
  const double bottom = top + chart_height(table);
  const Roof roof(table);
  const Axis x = intensity_axis(points, roof);
  const Axis y = gigaflops_axis(points, roof.at(x.to()), top, bottom);
  draw_roofline_axes(drawing, x, y);
  draw_roof(drawing, roof, x, y);
  draw_points(drawing, table, kernels, points, roof, x, y);
}

void draw_table(Drawing& drawing, const BenchmarkTable& table, const Kernels& kernels, double top) {
  drawing.text("title", 24, top + 28,
               shortened(valid_text(table.benchmark + " " + table.graph), 110));
  const std::string size = table.benchmark == "reduce" ? std::to_string(table.links) + " elements"
                                                       : std::to_string(table.nodes) + " nodes, " +
                                                             std::to_string(table.links) + " links";
  drawing.text("", 24, top + 47,
               shortened(valid_text(table.device + ", " + table.precision + ", " + size), 150));
  const double charts_top = top + title_height;
  if (table.rows.empty()) {
    drawing.text("missing", 24, charts_top + row_height, "no kernels");
    return;
  }
  draw_bars(drawing, table, kernels, charts_top);
  if (!is_loading(table)) draw_roofline(drawing, table, kernels, charts_top);
}

constexpr std::string_view style = R"(<style>
text { font: 12px "DejaVu Sans", Verdana, Arial, sans-serif; fill: #222222 }
text.title { font-size: 16px; font-weight: bold }
text.tick, text.point, text.value { font-size: 11px }
text.missing { fill: #888888 }
.middle { text-anchor: middle }
.end { text-anchor: end }
.grid { stroke: #e4e4e4 }
.axis { stroke: #444444 }
.roof { stroke: #222222; stroke-width: 2 }
.baseline { stroke: #222222; stroke-dasharray: 5 3 }
.blank { fill: #ffffff }
.leader { stroke-opacity: 0.5 }
.bar, .marker { stroke-width: 1.5 }
</style>
)";

}  // namespace

void write_benchmark_svg(std::ostream& out, const std::vector<BenchmarkTable>& tables) {
  const Kernels kernels = kernels_of(tables);
  Drawing drawing;
  double height = 0;
  for (const BenchmarkTable& table : tables) {
    draw_table(drawing, table, kernels, height);
    height += table_height(table);
  }
  if (tables.empty()) {
    height = title_height;
    drawing.text("missing", 24, height / 2, "no benchmarks");
  }
  const std::string size = general(picture_width, 8) + "\" height=\"" + general(height, 8);
  const std::string box = general(picture_width, 8) + " " + general(height, 8);
  out << R"(<?xml version="1.0" encoding="UTF-8"?>)" << '\n'
      << R"(<svg xmlns="http://www.w3.org/2000/svg" width=")" << size << R"(" viewBox="0 0 )" << box
      << "\">\n"
      << style << R"(<rect width="100%" height="100%" fill="#ffffff"/>)" << '\n'
      << drawing.svg() << "</svg>\n";
}

}  // namespace pagerank::io
