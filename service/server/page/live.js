// The running rig: curves, picture, state, estimates, and the stop button.
"use strict";

const kPlayDelay = 0.12;   // [s] of the picture behind the newest sample, for a steady motion
const kEventsShown = 50;

// The watched session --------------------------------------------------------------------------

const live = { id: "", source: null, history: null, angles: null, commands: null, names: [],
               turns: [], units: [], latest: NaN, arrived: 0, playing: NaN, mechanism: null };

const listOf = text => text ? text.split(",") : [];

function watch(id) {
  if (live.source) live.source.close();
  live.id = id;
  live.source = null;
  element("watched").value = id;
  if (!id) return;
  live.source = new EventSource(pathOf("/api/sessions/{session_id}/live", id));
  live.source.addEventListener("session", event => begin(JSON.parse(event.data)));
  live.source.addEventListener("samples", event => addSamples(JSON.parse(event.data)));
  live.source.addEventListener("loop", event => showLoop(JSON.parse(event.data)));
  live.source.addEventListener("event", event => addEvent(JSON.parse(event.data)));
  live.source.addEventListener("estimate", event => showEstimate(JSON.parse(event.data)));
  live.source.addEventListener("end", () => {
    live.source.close();
    live.source = null;
    live.id = "";
    setText("safety", "run ended");
    poll();
  });
}

// Stop ------------------------------------------------------------------------------------------

// Asks the rig computer to switch the motor off. The samples show when it is off.
async function stopRig() {
  setText("stop-state", "Sending the request …");
  try {
    await call("POST", "/api/sessions/{session_id}/stop", live.id);
    live.stopRequested = true;
    report(null);
  } catch (error) {
    report(new Error("The stop request failed: " + error.message +
                     ". Use the switch at the rig."));
  }
  showStop();
}

function showStop() {
  const running = Boolean(live.source) && live.canStop;
  element("stop").disabled = !running;
  const motor = live.message?.driving ? "The motor is on." : "The motor is off.";
  element("stop-bar").className = live.source ? "running" : "";
  setText("stop-state", !live.source ? "No rig is running."
          : !running ? "This rig accepts no stop request. Use the switch at the rig."
          : live.stopRequested ? "Stop requested. " + motor
          : "Switches the motor off and ends the recording.");
}

// Begins or resumes the display of a session.
function begin(session) {
  const metadata = session.metadata;
  const names = listOf(metadata.hinges), motors = listOf(metadata.motors);
  const slides = new Set(listOf(metadata.slides));
  const same = live.shown === session.sessionId;
  live.canStop = session.canStop;
  live.stopRequested = session.stopRequestedBy !== "";
  showStop();
  live.shown = session.sessionId;
  live.rig = metadata.rig || "";
  if (same) return;  // after a broken connection the curves go on
  element("live-view").hidden = false;
  live.names = names;
  live.turns = names.map(name => !slides.has(name));
  live.commandUnits = listOf(metadata.command_units);
  live.history = new History(names.length + Math.max(motors.length, 1));
  const scale = live.turns.map(turns => turns ? kDegrees : 1);
  live.angles = new LiveChart(element("angles"), live.history, names.map((_, k) => k), scale);
  live.commands = new LiveChart(element("commands"), live.history,
                                motors.map((_, k) => names.length + k), motors.map(() => 1));
  live.latest = live.playing = NaN;
  setText("angle-caption", "Joints [" + [...new Set(live.turns.map(t => t ? "°" : "m"))].join(", ") + "]");
  setText("command-caption",
          motors.length ? "Commands [" + [...new Set(live.commandUnits)].join(", ") + "]" : "No motor");
  fillLegend("angle-legend", names);
  fillLegend("command-legend", motors);
  element("events").replaceChildren(make("li", "none", { class: "quiet" }));
  live.ranges = new Map();
  setText("estimates-state", "none");
  element("estimates").hidden = true;
  if (live.rig !== rig.name) chooseRig(live.rig);
}

const kSvg = "http://www.w3.org/2000/svg";

function fillLegend(id, names) {
  element(id).replaceChildren(...names.map((name, k) => {
    const picture = document.createElementNS(kSvg, "svg");
    picture.setAttribute("aria-hidden", "true");
    const line = document.createElementNS(kSvg, "line");
    const shape = { x1: 0, x2: 26, y1: 5, y2: 5, "stroke-width": 2.5,
                    "stroke-dasharray": kSeriesDashes[k % 6].join(" ") || "none" };
    for (const key in shape) line.setAttribute(key, shape[key]);
    line.style.stroke = "var(--series-" + (k % 6 + 1) + ")";
    picture.append(line);
    const item = make("li");
    item.append(picture, make("span", name + " "), make("b", "–"));
    return item;
  }));
}

function addSamples(message) {
  if (!live.history) return;
  message.times.forEach((time, k) => live.history.push(time, message.low[k], message.high[k]));
  live.latest = message.time;
  live.arrived = performance.now();
  live.message = message;
}

// Shows the newest numbers, a few times a second.
function showNumbers() {
  const message = live.message;
  showStop();
  if (!message) return;
  if (live.source) {
    setText("safety", message.tripped ? "tripped, faults 0x" + message.faultFlags.toString(16)
                      : message.driving ? "motor on" : "motor off");
  }
  element("safety-tile").className = message.tripped && live.source ? "alarm" : message.driving ? "on" : "";
  setText("time", message.time.toFixed(1) + " s");
  setText("samples", message.samples.toLocaleString());
  setText("missing", String(message.missing));
  element("missing-tile").className = message.missing > 0 ? "alarm" : "";
  const fill = (id, texts) => [...element(id).querySelectorAll("b")].forEach((cell, k) => {
    cell.textContent = texts[k] ?? "–";
  });
  fill("angle-legend", message.angles.map((angle, k) => angle === null ? "no reading"
       : live.turns[k] ? (angle * kDegrees).toFixed(1) + "°" : angle.toFixed(4) + " m"));
  fill("command-legend", message.commands.map(
       (command, k) => command.toPrecision(3) + " " + (live.commandUnits[k] ?? "")));
  element("mechanism").setAttribute("aria-label", "Picture of the rig: " + live.names.map(
      (name, k) => name + " " + (message.angles[k] === null ? "without reading"
       : live.turns[k] ? (message.angles[k] * kDegrees).toFixed(0) + "°"
                       : message.angles[k].toFixed(3) + " m")).join(", "));
}

function showLoop(stats) {
  const late = stats.wakeupUsP99;
  setText("loop", late < 1000 ? "±" + late.toFixed(0) + " µs" : "±" + (late / 1000).toFixed(1) + " ms");
  setText("skipped", stats.skippedPeriods);
  element("skipped-tile").className = stats.skippedPeriods === "0" ? "" : "alarm";
}

function addEvent(event) {
  const list = element("events");
  list.querySelector(".quiet")?.remove();
  const trip = event.kind === "KIND_TRIP";
  const item = make("li", event.timestamp.toFixed(3) + " s: " + (event.text || event.name));
  if (trip) item.className = "warn";
  list.append(item);
  while (list.children.length > kEventsShown) list.firstChild.remove();
  list.scrollTop = list.scrollHeight;
}

// Returns a picture of an interval in the range of all intervals of this parameter so far, so that
// it shrinks as the estimate becomes more precise.
function intervalPicture(name, value, half) {
  const range = live.ranges.get(name) ?? { low: value - half, high: value + half };
  range.low = Math.min(range.low, value - half);
  range.high = Math.max(range.high, value + half);
  live.ranges.set(name, range);
  const at = x => 4 + 192 * (range.high > range.low ? (x - range.low) / (range.high - range.low) : 0.5);
  const picture = document.createElementNS(kSvg, "svg");
  picture.setAttribute("viewBox", "0 0 200 12");
  picture.setAttribute("class", "interval");
  picture.setAttribute("aria-hidden", "true");
  const add = (kind, shape) => {
    const part = document.createElementNS(kSvg, kind);
    for (const key in shape) part.setAttribute(key, shape[key]);
    picture.append(part);
  };
  add("line", { x1: at(value - half), x2: at(value + half), y1: 6, y2: 6 });
  add("circle", { cx: at(value), cy: 6, r: 3.5 });
  return picture;
}

// Shows the estimates of the parameters from the recording so far.
function showEstimate(estimate) {
  if (!live.ranges) return;
  setText("estimates-state", estimate.problem ? estimate.problem
          : "After " + estimate.durationS.toFixed(1) + " s of motion. " +
            (estimate.isModelAccepted ? "The model fits." : "The model has not been accepted."));
  if (!estimate.parameters.length) return;
  element("estimates").hidden = false;
  element("estimate-rows").replaceChildren(...estimate.parameters.map(parameter => {
    const half = Number(parameter.halfWidth);  // "Infinity" if not determined
    const known = Number.isFinite(half);
    const relative = 100 * half / Math.abs(parameter.value);
    const row = make("tr");
    row.append(make("th", parameter.name, { scope: "row" }),
               cell("Estimate", known ? parameter.value.toPrecision(5) + " " + parameter.unit : "–",
                    { class: "number" }),
               cell("± (95 %)", known ? half.toPrecision(2) : "not determined", { class: "number" }),
               cell("Relative", Number.isFinite(relative) ? Number(relative.toPrecision(2)) + " %" : "–",
                    { class: "number" }),
               cell("Interval", known ? intervalPicture(parameter.name, parameter.value, half) : ""));
    return row;
  }));
}

// Draws one frame. Between two messages, time goes on as on the clock of the browser.
function frame() {
  requestAnimationFrame(frame);
  if (!document.hidden) draw();
}

function draw() {
  if (!live.history || Number.isNaN(live.latest)) return;
  const waited = live.source ? Math.min((performance.now() - live.arrived) / 1000, 0.25) : 0;
  const now = live.latest + waited;
  const seconds = Number(element("window").value);
  live.angles.draw(now, seconds);
  if (live.commands.series.length) live.commands.draw(now, seconds);
  if (!live.mechanism) return;
  const values = live.history.at(Math.min(now - kPlayDelay, live.latest));
  live.mechanism.setPositions(Object.fromEntries(live.names.map((name, k) => [name, values[k]])));
  live.mechanism.draw(element("mechanism"));
}
