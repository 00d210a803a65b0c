// Keeps ten minutes of decimated samples, and plots them on a canvas.
"use strict";

// Returns the colours of the page, in light or dark or for paper.
function pageColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

const kSeriesDashes = [[], [7, 3], [2, 2], [8, 3, 2, 3], [11, 4], [4, 4]];

// Least and greatest values of several series in short intervals. The oldest are overwritten.
class History {
  constructor(seriesCount, capacity = 60000) {
    this.capacity = capacity;
    this.times = new Float64Array(capacity);
    const columns = () => Array.from({ length: seriesCount }, () => new Float32Array(capacity));
    this.low = columns();
    this.high = columns();
    this.begin = 0;  // number of the oldest interval
    this.end = 0;
  }

  push(time, low, high) {
    const slot = this.end % this.capacity;
    const last = (this.end - 1 + this.capacity) % this.capacity;
    if (this.end > this.begin && this.times[last] === time) {  // two parts of one interval
      this.low.forEach((column, k) => { column[last] = Math.min(column[last], low[k] ?? NaN); });
      this.high.forEach((column, k) => { column[last] = Math.max(column[last], high[k] ?? NaN); });
      return;
    }
    this.times[slot] = time;
    this.low.forEach((column, k) => { column[slot] = low[k] ?? NaN; });
    this.high.forEach((column, k) => { column[slot] = high[k] ?? NaN; });
    this.end += 1;
    this.begin = Math.max(this.begin, this.end - this.capacity);
  }

  get latestTime() {
    return this.end > this.begin ? this.times[(this.end - 1) % this.capacity] : NaN;
  }

  // Returns the number of the first interval at or after a time.
  find(time) {
    let low = this.begin, high = this.end;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle % this.capacity] < time) low = middle + 1; else high = middle;
    }
    return low;
  }

  // Returns the values of all series at a time, by linear interpolation.
  at(time) {
    const after = Math.min(Math.max(this.find(time), this.begin + 1), this.end - 1);
    const a = (after - 1) % this.capacity, b = after % this.capacity;
    if (this.end - this.begin < 2) return [];
    const span = this.times[b] - this.times[a];
    const share = span > 0 && span < 0.1 ? Math.min(Math.max((time - this.times[a]) / span, 0), 1)
                                         : 1;
    return this.low.map((low, k) => {
      const high = this.high[k];
      return 0.5 * ((low[a] + high[a]) * (1 - share) + (low[b] + high[b]) * share);
    });
  }
}

// Returns a spacing of ticks (1, 2 or 5 times a power of ten) for at most `count` of them.
function tickSpacing(range, count) {
  const rough = range / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map(factor => factor * power).find(spacing => spacing >= rough);
}

// Adapts a canvas to its size on the page, and returns its context in units of CSS pixels.
function prepareCanvas(canvas) {
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

// Plots some series of a history against time.
class LiveChart {
  constructor(canvas, history, series, scale) {
    this.canvas = canvas;
    this.history = history;
    this.series = series;  // numbers of the series in the history
    this.scale = scale;    // factor of each series from the unit of the data
    this.range = null;     // of the vertical axis, which changes in steps
  }

  // Returns the least and greatest value of a series in each column of pixels.
  columnsOf(number, factor, from, perSecond, width) {
    const { times, capacity, end } = this.history;
    const low = this.history.low[number], high = this.history.high[number];
    const columns = [];
    for (let k = this.history.find(from); k < end; ++k) {
      const slot = k % capacity;
      const x = (times[slot] - from) * perSecond;
      if (x > width) break;
      if (Number.isNaN(low[slot])) continue;
      const last = columns[columns.length - 1];
      if (last && Math.floor(last.x) === Math.floor(x)) {
        last.low = Math.min(last.low, low[slot] * factor);
        last.high = Math.max(last.high, high[slot] * factor);
      } else {
        columns.push({ x, time: times[slot], low: low[slot] * factor, high: high[slot] * factor });
      }
    }
    return columns;
  }

  fitRange(all) {
    let low = Infinity, high = -Infinity;
    for (const { low: least, high: most } of all.flat()) {
      low = Math.min(low, least);
      high = Math.max(high, most);
    }
    if (!(low <= high)) return this.range ?? { low: -1, high: 1 };
    const room = Math.max(high - low, 1e-3) * 0.08;
    const tooSmall = !this.range || low < this.range.low || high > this.range.high;
    const tooLarge = this.range && (high - low) < 0.4 * (this.range.high - this.range.low);
    if (tooSmall || tooLarge) this.range = { low: low - 2 * room, high: high + 2 * room };
    return this.range;
  }

  draw(now, seconds) {
    const { context, width, height } = prepareCanvas(this.canvas);
    const left = 58, right = width - 8, top = 8, bottom = height - 24;
    const perSecond = (right - left) / seconds;
    const from = now - seconds;
    const all = this.series.map(
        (number, k) => this.columnsOf(number, this.scale[k], from, perSecond, right - left));
    const { low, high } = this.fitRange(all);
    const y = value => bottom - (value - low) / (high - low) * (bottom - top);
    this.drawAxes(context, { left, right, top, bottom, low, high, y, from, now, perSecond });
    context.save();
    context.beginPath();
    context.rect(left, top, right - left, bottom - top);
    context.clip();
    all.forEach((columns, k) => this.drawSeries(context, columns, k, left, y, perSecond));
    context.restore();
  }

  drawAxes(context, { left, right, top, bottom, low, high, y, from, now, perSecond }) {
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = pageColour("--quiet");
    context.strokeStyle = pageColour("--grid");
    context.lineWidth = 1;
    context.beginPath();
    context.textAlign = "right";
    context.textBaseline = "middle";
    const spacing = tickSpacing(high - low, Math.max(4, (bottom - top) / 45));
    const decimals = Math.max(0, -Math.floor(Math.log10(spacing) + 1e-9));
    for (let tick = Math.ceil(low / spacing) * spacing; tick <= high; tick += spacing) {
      context.moveTo(left, Math.round(y(tick)) + 0.5);
      context.lineTo(right, Math.round(y(tick)) + 0.5);
      context.fillText((Math.abs(tick) < spacing / 2 ? 0 : tick).toFixed(decimals), left - 6, y(tick));
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    const step = tickSpacing(now - from, Math.max(2, (right - left) / 90));
    for (let tick = Math.ceil(from / step) * step; tick <= now; tick += step) {
      if (tick < 0) continue;
      const x = left + (tick - from) * perSecond;
      context.moveTo(Math.round(x) + 0.5, top);
      context.lineTo(Math.round(x) + 0.5, bottom);
      if (x < right - 12) context.fillText(Number(tick.toFixed(3)) + " s", x, bottom + 6);
    }
    context.stroke();
    context.strokeStyle = pageColour("--frame");
    context.strokeRect(left + 0.5, top + 0.5, right - left, bottom - top);
  }

  drawSeries(context, columns, k, left, y, perSecond) {
    context.strokeStyle = pageColour("--series-" + (k % 6 + 1));
    context.lineWidth = 1.6;
    context.lineJoin = "round";
    context.setLineDash(kSeriesDashes[k % 6]);
    context.beginPath();
    let before = null;
    for (const column of columns) {
      const x = left + column.x;
      const isGap = before && column.time - before.time > Math.max(0.05, 3 / perSecond);
      if (!before || isGap) context.moveTo(x, y(column.low)); else context.lineTo(x, y(column.low));
      if (column.high > column.low) context.lineTo(x, y(column.high));
      before = column;
    }
    context.stroke();
    context.setLineDash([]);
  }
}
