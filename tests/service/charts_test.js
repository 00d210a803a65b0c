// Compares the texts of a page's interactive charts with those on paper (tests/notation). Run by
// node: charts_test.js SOURCE_DIR
"use strict";
const assert = require("assert");
const charts = require(process.argv[2] + "/service/report/web/charts.js");

const numbers = [
  [0, 4, "0"], [-0, 4, "0"], [NaN, 4, "-"], [Infinity, 4, "inf"], [-Infinity, 4, "-inf"],
  [0.001, 4, "0.001"], [0.0009996, 4, "999.6e-6"], [0.00099996, 4, "0.001"], [340, 2, "340"],
  [99999, 4, "99999"], [99999.6, 4, "100e3"], [1e5, 4, "100e3"], [123456, 6, "123.456e3"],
  [1e-5, 4, "10e-6"], [5.51e-10, 3, "551e-12"], [9.6, 1, "10"], [99.6, 2, "100"],
  [0.00127358, 6, "1.27358e-3"], [-0.0123456, 5, "-0.012346"], [-0.0123456, 6, "-12.3456e-3"],
  [1.23456789, 9, "1.23456789"], [0.99999999, 7, "1"], [1.5, 17, "1.5"],
];
for (const [value, digits, text] of numbers) assert.equal(charts.number(value, digits), text);

const ticks = [
  [[20202, 20202.5, 20203], ["20202.0", "20202.5", "20203.0"], ""],
  [[-1, -0.5, 0, 0.5], ["-1.0", "-0.5", "0", "0.5"], ""],
  [[0, 5e-4, 1e-3], ["0", "0.0005", "0.0010"], ""],
  [[0, 2e-4, 4e-4], ["0", "200e-6", "400e-6"], ""],
  [[0, 5e4, 1e5], ["0", "50e3", "100e3"], ""],
  [[20202.98, 20203, 20203.02], ["0.08", "0.10", "0.12"], "20202.9"],
  [[-1234567.5, -1234567], ["-0.5", "0"], "-1.234567e6"],
  [[], [], ""], [[20202.75], ["20203"], ""],
];
for (const [values, texts, offset] of ticks) {
  assert.deepEqual(charts.tickTexts(values), { texts, offset });
}

const decades = [[0.001, "0.001"], [5, "5"], [1000, "1000"], [1e4, "10⁴"], [5e4, "5·10⁴"],
                 [1e-4, "10⁻⁴"], [2e-12, "2·10⁻¹²"]];
for (const [value, text] of decades) assert.equal(charts.decadeText(value), text);

assert.equal(charts.spansDecade([[1, 5, null], [9]]), false);
assert.equal(charts.spansDecade([[1, 5, null], [10]]), true);
assert.equal(charts.spansDecade([[null]]), false);

assert.equal(charts.labelWithOffset("angle [rad]", ""), "angle [rad]");
assert.equal(charts.labelWithOffset("angle [rad]", "1.5"), "angle − 1.5 [rad]");
assert.equal(charts.labelWithOffset("angle [rad]", "-1.5"), "angle + 1.5 [rad]");
assert.equal(charts.labelWithOffset("cost", "20202"), "cost − 20202");
