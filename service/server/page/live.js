// The page of rigcald: a running rig, sessions and jobs.
"use strict";

const kPollPeriod = 2000;  // [ms]
const kPlayDelay = 0.12;   // [s] of the picture behind the newest sample, for a steady motion
const kFollowedJobs = 2;   // browsers allow six connections to a server
const kEventsShown = 50;
const kDegrees = 180 / Math.PI;

const element = id => document.getElementById(id);
const setText = (id, text) => { if (element(id).textContent !== text) element(id).textContent = text; };
const spelled = state => state.replace(/^(SESSION|JOB)_/, "").toLowerCase().replaceAll("_", " ");
const shortTime = ns => ns === "0" ? "" : new Date(Number(ns) / 1e6).toLocaleString();

// Returns a new element with text and attributes. Text from the service is never markup.
function make(name, text = "", attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  return made;
}

const pathOf = (path, id) => path.replace(/\{\w+\}/, encodeURIComponent(id));

// Sends a request. Throws an Error with the sentence of the service.
async function call(method, path, id = "", body) {
  const response = await fetch(pathOf(path, id), {
    method, headers: body ? { "Content-Type": "application/json" } : {},
    body: body && JSON.stringify(body), credentials: "same-origin",
  });
  const reply = await response.json();
  if (response.status === 401 && path !== "/api/login") showLogin();
  if (!response.ok) throw new Error(reply.error.text);
  return reply;
}

function report(error) { setText("message", error ? error.message : ""); }

// Log in ---------------------------------------------------------------------------------------

function showLogin() {
  element("login").hidden = false;
  for (const id of ["rig", "sessions", "jobs"]) element(id).hidden = true;
}

async function logIn(event) {
  event.preventDefault();
  try {
    await call("POST", "/api/login", "", { token: element("token").value });
    element("token").value = "";
    element("login").hidden = true;
    element("log-out").hidden = false;
    for (const id of ["rig", "sessions", "jobs"]) element(id).hidden = false;
    poll();
  } catch (error) {
    setText("login-error", error.message);
  }
}

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

// Begins or resumes the display of a session.
function begin(session) {
  const metadata = session.metadata;
  const names = listOf(metadata.hinges), motors = listOf(metadata.motors);
  const slides = new Set(listOf(metadata.slides));
  const same = live.shown === session.sessionId;
  live.shown = session.sessionId;
  live.rig = metadata.rig || "";
  if (same) return;  // after a broken connection the curves go on
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
  loadMechanism();
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
  if (!message) return;
  if (live.source) {
    setText("safety", message.tripped ? "tripped, faults 0x" + message.faultFlags.toString(16)
                      : message.driving ? "motor on" : "motor off");
  }
  element("safety-tile").className = message.tripped ? "alarm" : message.driving ? "on" : "";
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
               cell("Relative", Number.isFinite(relative) ? relative.toPrecision(2) + " %" : "–",
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

// The rig file ---------------------------------------------------------------------------------

const rigKey = () => "rig file of " + (live.rig || "");

function storedRig() {
  try { return JSON.parse(localStorage.getItem(rigKey())); } catch { return null; }
}

async function chooseRigFile(event) {
  const file = event.target.files[0];
  if (!file) return;
  try {
    localStorage.setItem(rigKey(), JSON.stringify({ rigName: file.name, rigText: await file.text() }));
  } catch (error) { return report(error); }
  loadMechanism();
}

async function loadMechanism() {
  const rig = storedRig();
  live.mechanism = null;
  setText("rig-file-name", rig && !element("rig-file").files.length ? rig.rigName : "");
  setText("picture-caption", "Choose the rig file to see the rig move.");
  prepareCanvas(element("mechanism"));
  updateCalibrateButton();
  if (!rig) return;
  try {
    live.mechanism = new Mechanism(await call("POST", "/api/mechanism", "", rig));
    setText("picture-caption", rig.rigName + ", seen " + live.mechanism.view.name);
    report(null);
  } catch (error) {
    report(error);
  }
}

// Sessions and jobs ----------------------------------------------------------------------------

const chosen = new Set();  // sessions to calibrate from

function cell(title, content = "", options = {}) {
  const made = make("td", typeof content === "string" ? content : "", { "data-title": title, ...options });
  if (typeof content !== "string") made.append(...[content].flat());
  return made;
}

function button(text, label, action) {
  const made = make("button", text, { type: "button", "aria-label": label });
  made.addEventListener("click", () => action().then(() => { report(null); poll(); }).catch(report));
  return made;
}

const link = (path, id, text) =>
    make("a", text, { href: pathOf(path, id), target: "_blank", rel: "noopener" });

function sessionRow(session) {
  const id = session.sessionId;
  const stored = session.state === "SESSION_STORED";
  const use = make("input", "", { type: "checkbox", "aria-label": "Use " + id, value: id });
  use.disabled = !stored;
  use.checked = chosen.has(id);
  use.addEventListener("change", () => {
    chosen[use.checked ? "add" : "delete"](id);
    updateCalibrateButton();
  });
  const actions = [];
  if (session.state === "SESSION_OPEN") {
    actions.push(button("Watch", "Watch " + id, async () => watch(id)));
    if (!session.connected) {
      actions.push(button("Close", "Close " + id,
                          () => call("POST", "/api/sessions/{session_id}/end", id)));
    }
  }
  if (stored) actions.push(link("/api/sessions/{session_id}/recording", id, "Recording"));
  const state = session.connected ? "recording" : session.state === "SESSION_OPEN"
      ? "rig disconnected" : spelled(session.state);
  const shown = make("span", state);
  if (session.problem) shown.append(make("small", session.problem));
  const name = make("span", id);
  if (session.metadata.scenario) name.append(make("small", session.metadata.scenario));
  const row = make("tr");
  row.append(cell("Use", use), cell("Session", name), cell("Rig", session.metadata.rig || ""),
             cell("State", shown),
             cell("Samples", Number(session.sampleCount).toLocaleString(), { class: "number" }),
             cell("Begun", shortTime(session.createdUnixNs)),
             cell("Actions", actions, { class: "actions" }));
  return row;
}

const followed = new Map();  // sources of the progress of jobs
const progress = new Map();  // latest info of followed jobs

function follow(id) {
  if (followed.has(id) || followed.size >= kFollowedJobs) return;
  const source = new EventSource(pathOf("/api/jobs/{job_id}/progress", id));
  followed.set(id, source);
  source.addEventListener("job", event => {
    progress.set(id, JSON.parse(event.data));
    const row = document.querySelector("#job-rows tr[data-job='" + CSS.escape(id) + "'] .progress");
    row?.replaceChildren(...progressOf(progress.get(id)));
  });
  source.addEventListener("end", () => {
    source.close();
    followed.delete(id);
    poll();
  });
}

function progressOf(job) {
  if (job.state !== "JOB_RUNNING" || !job.progress) {
    const text = job.error || (job.queuePosition > 0 ? "position " + job.queuePosition : "");
    return [make("span", text)];
  }
  const { stage, iteration, calibration, calibrationCount } = job.progress;
  const bar = make("progress", "", { "aria-label": "Progress of " + job.jobId, max: 1 });
  const within = 1 - 0.5 ** (iteration / 10);  // the number of iterations is unknown
  bar.value = (Math.max(calibration, 1) - 1 + within) / Math.max(calibrationCount, 1);
  return [bar, make("small", stage + ": iteration " + iteration +
                    ", cost " + job.progress.cost.toPrecision(5))];
}

function jobRow(job) {
  const id = job.jobId;
  const actions = [];
  if (job.state === "JOB_QUEUED" || job.state === "JOB_RUNNING") {
    actions.push(button("Cancel", "Cancel " + id, () => call("POST", "/api/jobs/{job_id}/cancel", id)));
    follow(id);
  }
  if (job.state === "JOB_DONE") {
    actions.push(link("/api/jobs/{job_id}/report", id, "Report"),
                 link("/api/jobs/{job_id}/result", id, "Result"));
    if (job.sessionIds.length > 1) {
      actions.push(link("/api/jobs/{job_id}/cross-validation", id, "Cross-validation"));
    }
  }
  const row = make("tr", "", { "data-job": id });
  const name = make("span", id);
  name.append(make("small", job.sessionIds.join(", ")));
  row.append(cell("Job", name), cell("Rig", job.rigName), cell("State", spelled(job.state)),
             cell("Progress", progressOf(progress.get(id)?.state === job.state ? progress.get(id) : job),
                  { class: "progress" }),
             cell("Actions", actions, { class: "actions" }));
  return row;
}

function updateCalibrateButton() {
  const rig = storedRig();
  element("calibrate-button").disabled = !rig || chosen.size === 0;
  setText("calibrate-hint", chosen.size === 0 ? "Select stored sessions."
          : rig ? chosen.size + " selected, with " + rig.rigName : "Choose the rig file above.");
}

async function calibrate(event) {
  event.preventDefault();
  const recordings = [...chosen].map(sessionId => ({ sessionId }));
  try {
    await call("POST", "/api/jobs", "",
               { jobId: "page-" + Date.now(), spec: { ...storedRig(), recordings } });
    chosen.clear();
    report(null);
    poll();
  } catch (error) {
    report(error);
  }
}

// Keeps the focus on the same control when rows are replaced.
function replaceRows(body, rows, emptyText, columns) {
  const focused = body.contains(document.activeElement)
      ? document.activeElement.getAttribute("aria-label") : null;
  if (rows.length === 0) {
    const row = make("tr");
    row.append(make("td", emptyText, { colspan: columns, class: "quiet", "data-title": "" }));
    rows.push(row);
  }
  body.replaceChildren(...rows);
  if (focused) body.querySelector("[aria-label='" + CSS.escape(focused) + "']")?.focus();
}

let shownLists = "";

async function poll() {
  try {
    const [{ sessions }, { jobs }] = await Promise.all([call("GET", "/api/sessions"),
                                                        call("GET", "/api/jobs")]);
    setText("connection", "connected to " + location.host);
    const running = sessions.filter(session => session.state === "SESSION_OPEN");
    const lists = JSON.stringify([sessions, jobs]);
    if (lists !== shownLists) {
      shownLists = lists;
      replaceRows(element("session-rows"), sessions.map(sessionRow), "no sessions", 7);
      replaceRows(element("job-rows"), jobs.map(jobRow), "no jobs", 5);
      element("watched").replaceChildren(
          ...(running.length ? running : [{ sessionId: "" }]).map(
              session => make("option", session.sessionId || "none is running",
                              { value: session.sessionId })));
      element("watched").value = live.id;
    }
    const first = running.find(session => session.connected);
    if (!live.id && first) watch(first.sessionId);
    updateCalibrateButton();
  } catch (error) {
    setText("connection", error instanceof TypeError ? "no connection to the service" : error.message);
  }
}

// Paper is light, whatever the screen is.
matchMedia("print").addEventListener("change", () => { draw(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { draw(); });
window.addEventListener("beforeprint", draw);
element("login").addEventListener("submit", logIn);
element("log-out").addEventListener("click", () => call("POST", "/api/logout").then(showLogin));
element("watched").addEventListener("change", event => watch(event.target.value));
element("rig-file").addEventListener("change", chooseRigFile);
element("calibrate").addEventListener("submit", calibrate);
setInterval(() => { if (!document.hidden) poll(); }, kPollPeriod);
setInterval(showNumbers, 200);
updateCalibrateButton();
poll();
requestAnimationFrame(frame);
