// Replaces the static pictures of a page, which serve paper and readers without scripts, by
// zoomable charts. Saves the data of figures as CSV, and the static pictures as SVG.
"use strict";
const charts = (() => {
  const kDigits = { f32: 7, f64: 12 };  // decimal digits of each precision
  const kNear = 4;  // [px] distance at which a mark counts as pointed at
  const kCursorStep = 1, kCursorLeap = 20;  // [px] per arrow key, and with Shift
  const kZoom = 0.5;  // share of the range that remains after "+"
  // Style properties of drawings that must be copied into saved ones.
  const kDrawn = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray",
                  "stroke-linejoin", "opacity", "font-size", "font-weight"];

  const shorter = (value, digits) => Number(value.toPrecision(digits));

  // The following functions format numbers as notation/number_format and notation/axis_ticks do.
  const kPlainDecimals = 6, kTickLength = 7;

  const mayBePlain = (size, decimals) => size === 0 ||
      (size >= 1e-3 && size < 1e5 && (decimals <= kPlainDecimals || size >= 1));
  const engineering = size => 3 * Math.floor(Math.log10(size) / 3);
  const suffix = exponent => exponent === 0 ? "" : "e" + exponent;

  function digitsOf(value, digits) {
    return String(Math.abs(value) >= 10 ** digits ? Math.round(value) : shorter(value, digits));
  }

  function number(value, digits = 4) {
    if (value == null || Number.isNaN(value)) return "-";
    if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
    const size = Math.abs(value);
    if (size === 0) return "0";
    if (size >= 5e-4 && size < 1e5) {
      const text = digitsOf(value, digits);
      if (mayBePlain(Math.abs(+text), (text.split(".")[1] || "").length)) return text;
    }
    for (let exponent = engineering(size);; exponent += 3) {
      const mantissa = digitsOf(value / 10 ** exponent, digits);
      if (Math.abs(+mantissa) < 1e3) return mantissa + suffix(exponent);
    }
  }

  function writeTicks(ticks, spacing) {
    const largest = Math.max(...ticks.map(Math.abs));
    const decimals = exponent =>
        Math.max(0, -Math.floor(Math.log10(spacing / 10 ** exponent) + 1e-9));
    const exponent = mayBePlain(largest, decimals(0)) ? 0 : engineering(largest);
    return ticks.map(tick => {
      const text = (tick / 10 ** exponent).toFixed(Math.min(decimals(exponent), 20));
      return +text === 0 ? "0" : text + suffix(exponent);
    });
  }

  // Returns the texts of an axis's ticks and the offset common to all.
  function tickTexts(ticks) {
    const gaps = ticks.slice(1).map((tick, k) => Math.abs(tick - ticks[k])).filter(gap => gap > 0);
    if (!gaps.length) return { texts: ticks.map(tick => number(tick)), offset: "" };
    const spacing = Math.min(...gaps);
    const longest = texts => Math.max(...texts.map(text => text.length));
    const whole = writeTicks(ticks, spacing);
    if (longest(whole) <= kTickLength) return { texts: whole, offset: "" };
    const first = ticks[0], last = ticks[ticks.length - 1];
    const power = Math.ceil(Math.log10(Math.abs(last - first)) - 1e-9);
    const nearest = Math.abs(first) < Math.abs(last) ? first : last;
    const offset = power < 0 ? Math.trunc(nearest * 10 ** -power) / 10 ** -power
                             : Math.trunc(nearest / 10 ** power) * 10 ** power;
    const texts = writeTicks(ticks.map(tick => tick - offset), spacing);
    return longest(texts) < longest(whole) ? { texts, offset: number(offset, 17) }
                                           : { texts: whole, offset: "" };
  }

  // Formats a tick of a logarithmic axis: plain from 0.001 to 9999, else "5·10⁴".
  function decadeText(value) {
    const exponent = Math.floor(Math.log10(value) + 1e-9);
    if (exponent >= -3 && exponent < 4) return number(value);
    const factor = number(value / 10 ** exponent, 1);
    const power = "10" + String(exponent).replace("-", "⁻").replace(/\d/g, d => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]);
    return factor === "1" ? power : factor + "·" + power;
  }

  // Returns an axis label with the ticks' common offset: "angle − 1.5 [rad]".
  function labelWithOffset(label, offset) {
    if (!offset) return label;
    const text = offset.startsWith("-") ? " + " + offset.slice(1) : " − " + offset;
    const unit = label.lastIndexOf(" [");
    return unit < 0 ? label + text : label.slice(0, unit) + text + label.slice(unit);
  }

  // Decodes numbers written by service/report/charts/chart_figure; null means no value.
  function decode(data) {
    if (data.values) return data.values;
    if (data.count) {
      return Array.from({ length: data.count },
                        (_, k) => shorter(data.from + k * data.step, kDigits.f64));
    }
    const bytes = Uint8Array.from(atob(data.f32 || data.f64), letter => letter.charCodeAt(0));
    const values = data.f32 ? new Float32Array(bytes.buffer) : new Float64Array(bytes.buffer);
    const digits = data.f32 ? kDigits.f32 : kDigits.f64;
    return Array.from(values, value => Number.isFinite(value) ? shorter(value, digits) : null);
  }

  const cell = text => /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;

  function csv(figure) {
    if (figure.csv !== undefined) return figure.csv;
    const columns = figure.columns.map(column => decode(column.data));
    const rows = columns[0].map((_, k) => columns.map(column => column[k] ?? "").join(","));
    return [figure.columns.map(column => cell(column.name)).join(","), ...rows, ""].join("\n");
  }

  // Copies a drawing with its style inlined.
  function styled(node) {
    const copy = node.cloneNode(false);
    if (node.nodeType !== Node.ELEMENT_NODE) return copy;
    const style = getComputedStyle(node);
    copy.removeAttribute("class");
    if (node.tagName !== "title") {
      for (const name of kDrawn) copy.setAttribute(name, style.getPropertyValue(name));
    }
    copy.append(...[...node.childNodes].map(styled));
    return copy;
  }

  // Combines all pictures of a figure as laid out on paper.
  function svg(element) {
    const space = element.querySelector("svg").namespaceURI;
    const make = (name, attributes) => {
      const made = document.createElementNS(space, name);
      for (const key in attributes) made.setAttribute(key, attributes[key]);
      return made;
    };
    element.classList.add("on-paper");
    const shown = [...element.querySelectorAll("svg")]
        .map(picture => ({ picture, box: picture.getBoundingClientRect() }))
        .filter(one => one.box.width > 0);
    const least = side => Math.min(...shown.map(one => one.box[side]));
    const most = side => Math.max(...shown.map(one => one.box[side]));
    const left = least("left"), top = least("top");
    const width = most("right") - left, height = most("bottom") - top;
    const whole = make("svg", { width, height, viewBox: [0, 0, width, height].join(" "),
                                "font-family": "sans-serif" });
    whole.append(make("rect", { width, height, fill: "#ffffff" }));
    for (const { picture, box } of shown) {
      const scale = box.width / picture.viewBox.baseVal.width;
      const group = make("g", { transform: "translate(" + (box.left - left) + " " +
                                           (box.top - top) + ") scale(" + scale + ")" });
      group.append(...[...picture.childNodes].map(styled));
      whole.append(group);
    }
    element.classList.remove("on-paper");
    return new XMLSerializer().serializeToString(whole);
  }

  function save(text, name, type) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // Calls `use` with the picture as a PNG file, at twice its size on the page.
  function png(picture, use) {
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = 2 * image.width;
      canvas.height = 2 * image.height;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      URL.revokeObjectURL(image.src);
      canvas.toBlob(use, "image/png");
    };
    image.src = URL.createObjectURL(new Blob([picture], { type: "image/svg+xml" }));
  }

  const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const variable = style => style === "control" ? "--ink" : "--" + style.split(" ")[0];

  const marksAt = (marks, x, slack) =>
      marks.filter(mark => x >= mark.from - slack && x <= mark.to + slack);

  function paintMarks(plot, marks) {
    const { left, top, width, height } = plot.bbox;
    plot.ctx.save();
    for (const mark of marks) {
      plot.ctx.fillStyle = colour(mark.note ? "--quiet" : "--warn");
      plot.ctx.globalAlpha = mark.note ? 0.12 : 0.25;
      const from = Math.max(plot.valToPos(mark.from, "x", true), left);
      const to = Math.min(plot.valToPos(mark.to, "x", true), left + width);
      if (from <= left + width && to >= left) {
        plot.ctx.fillRect(from, top, Math.max(to - from, 3), height);
      }
    }
    plot.ctx.restore();
  }

  function axis(label, wholeOnly, logarithmic) {
    let offset = "";
    return {
      label: () => labelWithOffset(label, offset), labelSize: 18,
      font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
      stroke: () => colour("--quiet"),
      ...(wholeOnly ? { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] } : {}),
      grid: { stroke: () => colour("--grid"), width: 1 },
      ticks: { stroke: () => colour("--grid"), width: 1, size: 4 },
      values: (_, splits) => {
        if (logarithmic) return splits.map(at => at == null ? "" : decadeText(at));
        const ticks = tickTexts(splits);
        offset = ticks.offset;
        return ticks.texts;
      },
    };
  }

  function line(one, chart) {
    return {
      label: one.label || chart.y.replace(/ \[.*/, ""),
      stroke: () => colour(variable(one.style)),
      width: one.aside ? 0 : one.style === "measured" ? 3 : 1.4,
      points: { show: one.points, size: 6, fill: () => colour(variable(one.style)) },
      auto: !one.aside,
      ...(one.aside ? { paths: () => null } : {}),
      value: (_, value) => number(value, 5),
    };
  }

  // Whether values span a decade; on a logarithmic axis a smaller range would look flat.
  function spansDecade(columns) {
    let low = Infinity, high = 0;
    for (const value of columns.flat()) {
      if (value > 0) { low = Math.min(low, value); high = Math.max(high, value); }
    }
    return high >= 10 * low;
  }

  // Draws one chart; `linked` are the charts that zoom with it.
  function draw(chart, figure, columns, place, linked) {
    const said = document.createElement("p");
    said.className = "said";
    const view = document.createElement("div");
    view.className = "view";
    view.tabIndex = 0;
    view.setAttribute("role", "group");
    view.setAttribute("aria-label", chart.title +
        ": arrow keys move the readout, plus and minus zoom, Escape shows all");
    const title = document.createElement("p");
    title.className = "chart-title";
    title.textContent = chart.title;
    const xName = figure.columns[0].name;
    const data = [columns[0], ...chart.series.map(one => columns[one.column + 1])];
    const logY = chart.logY && spansDecade(data.slice(1));
    const options = {
      width: place.clientWidth, height: chart.height, padding: [8, 14, 0, 0],
      scales: { x: { time: false, distr: chart.logX ? 3 : 1 }, y: { distr: logY ? 3 : 1 } },
      axes: [{ ...axis(xName, chart.wholeX, chart.logX), size: 34 },
             { ...axis(chart.y, false, logY), size: 58 }],
      series: [{ label: xName, value: (_, value) => number(value, 7) },
               ...chart.series.map(one => ({ ...line(one, chart), spanGaps: figure.united }))],
      legend: { markers: { stroke: (_, k) => "var(" + variable(chart.series[k - 1].style) + ")" } },
      cursor: { sync: { key: figure.key, setSeries: false, filters: {
        pub: type => type === "mousemove" || type === "mouseleave" } } },
      hooks: {
        drawClear: [plot => paintMarks(plot, chart.marks)],
        setScale: [(plot, key) => {
          if (key !== "x" || linked.busy) return;
          linked.busy = true;
          const { min, max } = plot.scales.x;
          for (const other of linked.plots) if (other !== plot) other.setScale("x", { min, max });
          linked.range = { min, max };
          linked.busy = false;
        }],
        setCursor: [plot => {
          const at = plot.posToVal(plot.cursor.left, "x");
          const slack = Math.abs(plot.posToVal(plot.cursor.left + kNear, "x") - at);
          const pointed = plot.cursor.left < 0 ? [] : marksAt(chart.marks, at, slack);
          said.textContent = pointed.map(mark => mark.text).join("; ");
        }],
      },
    };
    place.append(view);
    view.append(title);
    const plot = new uPlot(options, data, view);
    if (chart.marks.length) view.append(said);
    place.classList.add("live");
    linked.plots.push(plot);
    if (linked.range) plot.setScale("x", linked.range);
    view.addEventListener("keydown", event => steer(plot, event));
    new ResizeObserver(() => {
      if (place.clientWidth > 0 && place.clientWidth !== plot.width) {
        plot.setSize({ width: place.clientWidth, height: chart.height });
      }
    }).observe(place);
  }

  function steer(plot, event) {
    const width = plot.over.clientWidth;
    const step = event.shiftKey ? kCursorLeap : kCursorStep;
    const at = plot.cursor.left >= 0 ? plot.cursor.left : width / 2;
    const move = left => plot.setCursor(
        { left: Math.min(Math.max(left, 0), width - 1), top: plot.over.clientHeight / 2 });
    const zoom = share => {
      const middle = plot.posToVal(at, "x");
      const { min, max } = plot.scales.x;
      const all = plot.data[0];
      plot.setScale("x", {
        min: Math.max(middle - (middle - min) * share, all[0]),
        max: Math.min(middle + (max - middle) * share, all[all.length - 1]),
      });
    };
    const all = plot.data[0];
    const actions = {
      ArrowLeft: () => move(at - step),
      ArrowRight: () => move(at + step),
      "+": () => zoom(kZoom),
      "-": () => zoom(1 / kZoom),
      Escape: () => plot.setScale("x", { min: all[0], max: all[all.length - 1] }),
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  }

  // Draws charts when they come near the window: a page may have a hundred.
  function make_interactive(element, index) {
    const figure = JSON.parse(element.querySelector("script.data").textContent);
    const caption = element.querySelector("figcaption");
    const offer = (text, action) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.addEventListener("click", action);
      caption.append(" ", button);
    };
    offer("Save data (CSV)", () => save(csv(figure), figure.name + ".csv", "text/csv"));
    offer("Save PNG", () => png(svg(element), file => save(file, figure.name + ".png",
                                                           "image/png")));
    offer("Save SVG", () => save(svg(element), figure.name + ".svg", "image/svg+xml"));
    if (!figure.charts) return;
    figure.key = "figure-" + index;
    const hint = document.createElement("span");
    hint.className = "hint";
    hint.textContent = " Drag to zoom" + (figure.charts.length > 1 ? ", all of these together" : "") +
        "; double click for all.";
    caption.append(hint);
    const linked = { plots: [], busy: false, range: null };
    const places = [...element.querySelectorAll(".chart")];
    let columns = null;
    const observer = new IntersectionObserver(entries => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        observer.unobserve(entry.target);
        columns = columns || figure.columns.map(column => decode(column.data));
        draw(figure.charts[places.indexOf(entry.target)], figure, columns, entry.target, linked);
      }
    }, { rootMargin: "600px" });
    for (const place of places) observer.observe(place);
    matchMedia("(prefers-color-scheme: dark)")
        .addEventListener("change", () => linked.plots.forEach(plot => plot.redraw()));
  }

  return { number, tickTexts, decadeText, spansDecade, labelWithOffset, decode, csv, svg, marksAt,
    make_interactive };
})();

if (typeof document !== "undefined") {
  [...document.querySelectorAll("figure")]
      .filter(figure => figure.querySelector("script.data"))
      .forEach(charts.make_interactive);
}
if (typeof module !== "undefined") module.exports = charts;
