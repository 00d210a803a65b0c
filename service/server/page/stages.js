// The stages from a rig file to a calibrated rig file: what is done, and what is missing next.
"use strict";

const kPollPeriod = 2000;  // [ms]
const kFollowedJobs = 2;   // browsers allow six connections to a server
const kStages = ["rig", "check", "record", "calibrate", "validate", "write"];
const kFits = ["accepted", "approximate", "doubtful"];  // verdicts with usable estimates

const rig = { name: "", file: null, facts: null, problem: "" };
const lists = { sessions: [], jobs: [], shown: "" };
const results = new Map();  // summaries of results by job: verdict, cross-validation
const chosen = new Set();   // sessions to calibrate from
const compared = new Set(); // jobs to compare

// The rig file ---------------------------------------------------------------------------------

const storedKey = name => "rig file of " + name;
const rigOf = session => session.metadata.rig || "";
const sessionsOfRig = () => lists.sessions.filter(session => rigOf(session) === rig.name);
const jobsOfRig = () => {
  const ids = new Set(sessionsOfRig().map(session => session.sessionId));
  return lists.jobs.filter(job => job.sessionIds.some(id => ids.has(id)));
};

function storedRigFile(name) {
  try { return JSON.parse(localStorage.getItem(storedKey(name))); } catch { return null; }
}

// Returns the rig file that rigcal-daq sent with the newest session of a rig.
async function sentRigFile(name) {
  const session = lists.sessions.find(each => rigOf(each) === name);
  if (!session) return null;
  const response = await fetch(pathOf("/api/sessions/{session_id}/rig", session.sessionId));
  return response.ok ? { rigName: name + ".textproto", rigText: await response.text() } : null;
}

// Reads a rig file, and shows what it contains.
async function useRigFile(file) {
  rig.file = file;
  rig.facts = null;
  rig.problem = "";
  if (file) {
    let facts = null, problem = "";
    try {
      facts = await call("POST", "/api/mechanism", "", file);
    } catch (error) {
      problem = error.message;
    }
    if (rig.file !== file) return;  // another file was chosen in the meantime
    Object.assign(rig, { facts, problem });
  }
  showRig();
  showStages();
}

async function chooseRig(name) {
  rig.name = name;
  lists.shown = "";
  await useRigFile(storedRigFile(name) ?? await sentRigFile(name));
}

async function chooseRigFile(event) {
  const chosenFile = event.target.files[0];
  if (!chosenFile) return;
  const file = { rigName: chosenFile.name, rigText: await chosenFile.text() };
  await useRigFile(file);
  if (!rig.facts) return;
  rig.name = rig.facts.name;
  lists.shown = "";
  try { localStorage.setItem(storedKey(rig.name), JSON.stringify(file)); } catch { /* full */ }
  poll();
}

function showRig() {
  const facts = rig.facts;
  setText("rig-file-name", rig.file ? rig.file.rigName : "");
  element("rig-facts").replaceChildren(...(!facts ? [] : [
    ["Bodies", facts.bodies.map(body => body.name).join(", ")],
    ["Joints with encoder", facts.joints.filter(joint => joint.measured).map(joint => joint.name).join(", ")],
    ["Motors", facts.motors.join(", ") || "none"],
    ["Parameters to estimate", facts.freeParameters.join(", ") || "none"],
  ]).flatMap(([name, text]) => [make("dt", name), make("dd", text)]));
  live.mechanism = facts ? new Mechanism(facts) : null;
  setText("picture-caption", facts ? facts.name + ", seen " + live.mechanism.view.name
                                   : "The picture needs the rig file.");
  prepareCanvas(element("mechanism"));
  drawRigPicture();
}

// Draws the rig at rest.
function drawRigPicture() {
  element("rig-picture").hidden = !rig.facts;
  if (rig.facts) new Mechanism(rig.facts).draw(element("rig-picture"));
}

// Stages ---------------------------------------------------------------------------------------

// Each check returns a sentence on what is missing, or an empty text.
const checks = {
  rig() {
    if (rig.problem) return rig.problem;
    return rig.facts ? "" : "Choose the rig file. A run with rigcal-daq sends it, too.";
  },
  check() {
    const { hasUnit, incompleteSafety, freeParameters } = rig.facts;
    if (!freeParameters.length) return "No parameter is estimated: write free: true for at least one.";
    if (!hasUnit) return "The rig file has no unit section, so rigcal-daq cannot record. rigcal init writes one.";
    return incompleteSafety;
  },
  record() {
    if (sessionsOfRig().some(session => session.state === "SESSION_STORED")) return "";
    return live.source ? "A run is being recorded. It is stored when it ends."
                       : "No recording of this rig is stored. Start a run with the command below.";
  },
  calibrate() {
    const jobs = jobsOfRig();
    if (jobs.some(job => job.state === "JOB_DONE")) return "";
    const failed = jobs.find(job => job.error);
    if (jobs.some(job => ["JOB_QUEUED", "JOB_RUNNING"].includes(job.state))) return "A calibration is running.";
    return failed ? "The last calibration failed: " + failed.error
                  : "Select recordings and choose “Calibrate”.";
  },
  validate() {
    const result = results.get(element("result").value);
    if (!result) return "Reading the result …";
    if (!kFits.includes(result.kind)) return "The model does not fit: " + result.sentence;
    return result.crossValidated ? ""
        : "One recording cannot show how well the model predicts others. Record a second run and calibrate from both.";
  },
  write() {
    const result = results.get(element("result").value);
    if (!result || !kFits.includes(result.kind)) return "There are no usable estimates yet.";
    return result.written ? "" : "Download the rig file with the estimates.";
  },
};

// A stage is open if all stages before it are done. Validation advises; it blocks nothing.
function showStages() {
  let open = true;
  for (const stage of kStages) {
    const missing = open ? checks[stage]() : "";
    const item = element("step-" + stage);
    const state = !open ? "later" : missing ? "now" : "done";
    item.className = state;
    item.querySelector("small").textContent = { later: "later", now: "to do", done: "done" }[state];
    setText("missing-" + stage, open ? missing : "Complete the stages before this one.");
    element("missing-" + stage).className = state === "now" ? "missing" : "quiet";
    if (missing && !(stage === "validate" && results.has(element("result").value))) open = false;
  }
  const { kind, sentence } = results.get(element("result").value) ?? {};
  setText("verdict", sentence ? sentence[0].toUpperCase() + sentence.slice(1) + "." : "");
  element("verdict").className = kFits.includes(kind) ? "" : "warn";
  const usable = kFits.includes(kind);
  element("write-link").hidden = element("report-link").hidden = !usable && !kind;
  element("write-link").hidden = !usable;
  element("cross-link").hidden = !results.get(element("result").value)?.crossValidated;
  const name = rig.file?.rigName ?? "rig.textproto";
  setText("run-command", "rigcal-daq run --rig " + name + " --scenario scenario.textproto --out " +
          "run.mcap --service " + location.hostname + ":7330");
}

// Shows the results of this rig, newest first, and reads the chosen one.
async function showResults() {
  const select = element("result"), before = select.value;
  const done = jobsOfRig().filter(job => job.state === "JOB_DONE");
  const items = done.map(job => make("option", jobTitle(job), { value: job.jobId }));
  const newest = done[0]?.jobId ?? "";
  const isNew = newest && !results.has(newest) && newest !== before;
  select.replaceChildren(...(items.length ? items : [make("option", "none", { value: "" })]));
  select.value = isNew || !done.some(job => job.jobId === before) ? newest : before;
  await showResult();
}

async function showResult() {
  const id = element("result").value;
  for (const [link, path] of [["report-link", "/api/jobs/{job_id}/report"],
                              ["cross-link", "/api/jobs/{job_id}/cross-validation"],
                              ["write-link", "/api/jobs/{job_id}/rig"]]) {
    element(link).href = id ? pathOf(path, id) : "#";
  }
  element("write-link").download = (rig.file?.rigName ?? "rig.textproto");
  if (id && !results.has(id)) {
    try {
      const reply = await call("GET", "/api/jobs/{job_id}/result", id);
      const { kind, sentence } = reply.result.verdict;
      results.set(id, { kind, sentence, crossValidated: Boolean(reply.crossValidation), written: false });
    } catch (error) {
      results.set(id, { kind: "", sentence: error.message, crossValidated: false, written: false });
    }
  }
  showStages();
}

// Sessions -------------------------------------------------------------------------------------

// A name for people: scenario, number and time, such as "release 3, 21 Nov, 14:05".
function sessionTitle(session) {
  const scenario = session.metadata.scenario || session.metadata.file || "run";
  const alike = lists.sessions.filter(each => rigOf(each) === rigOf(session) &&
                                              each.metadata.scenario === session.metadata.scenario);
  const number = alike.length - alike.findIndex(each => each.sessionId === session.sessionId);
  const time = new Date(Number(session.createdUnixNs) / 1e6);
  const text = time.toLocaleString([], { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  return scenario + " " + number + ", " + text;
}

function sessionRow(session) {
  const id = session.sessionId;
  const stored = session.state === "SESSION_STORED";
  const use = make("input", "", { type: "checkbox", "aria-label": "Use " + sessionTitle(session), value: id });
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
  const name = make("span", sessionTitle(session));
  name.append(make("small", id));
  const row = make("tr");
  row.append(cell("Use", use), cell("Session", name), cell("State", shown),
             cell("Samples", Number(session.sampleCount).toLocaleString(), { class: "number" }),
             cell("Actions", actions, { class: "actions" }));
  return row;
}

function updateCalibrateButton() {
  for (const id of chosen) {
    if (!sessionsOfRig().some(session => session.sessionId === id)) chosen.delete(id);
  }
  element("calibrate-button").disabled = !rig.facts || chosen.size === 0;
  setText("calibrate-hint", !rig.facts ? "Choose the rig file first."
          : chosen.size === 0 ? "Select stored recordings." : chosen.size + " selected");
}

async function calibrate(event) {
  event.preventDefault();
  const recordings = [...chosen].map(sessionId => ({ sessionId }));
  try {
    await call("POST", "/api/jobs", "", { jobId: "page-" + Date.now(), spec: { ...rig.file, recordings } });
    chosen.clear();
    report(null);
    poll();
  } catch (error) {
    report(error);
  }
}

// Jobs -----------------------------------------------------------------------------------------

const jobTitle = job => "calibration, " + shortTime(job.submittedUnixNs);

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
  const use = make("input", "", { type: "checkbox", "aria-label": "Compare " + jobTitle(job), value: id });
  use.disabled = job.state !== "JOB_DONE";
  use.checked = compared.has(id);
  use.addEventListener("change", () => {
    compared[use.checked ? "add" : "delete"](id);
    showComparison();
  });
  if (job.state === "JOB_DONE") actions.push(link("/api/jobs/{job_id}/report", id, "Report"));
  const row = make("tr", "", { "data-job": id });
  const name = make("span", jobTitle(job));
  const recordings = job.sessionIds.map(each => {
    const session = lists.sessions.find(other => other.sessionId === each);
    return session ? sessionTitle(session) : each;
  });
  name.append(make("small", recordings.join("; ")));
  row.append(cell("Compare", use), cell("Job", name), cell("State", spelled(job.state)),
             cell("Progress", progressOf(progress.get(id)?.state === job.state ? progress.get(id) : job),
                  { class: "progress" }),
             cell("Actions", actions, { class: "actions" }));
  return row;
}

function showComparison() {
  const ids = [...compared].filter(id => lists.jobs.some(job => job.jobId === id));
  element("compare-link").hidden = ids.length < 2;
  element("compare-link").href = "/api/comparison?jobs=" + ids.map(encodeURIComponent).join(",");
  setText("compare-hint", ids.length < 2 ? "Select two or more results to compare." : "");
}

// Updates ---------------------------------------------------------------------------------------

function showRigs() {
  const names = [...new Set([...lists.sessions.map(rigOf), rig.name])].filter(Boolean);
  const items = names.map(name => make("option", name, { value: name }));
  element("rig-choice").replaceChildren(...(items.length ? items : [make("option", "none yet", { value: "" })]));
  element("rig-choice").value = rig.name;
}

async function showLists() {
  const sessions = sessionsOfRig(), jobs = jobsOfRig();
  const shown = JSON.stringify([rig.name, lists.sessions, lists.jobs]);
  if (shown === lists.shown) return;
  lists.shown = shown;
  showRigs();
  replaceRows(element("session-rows"), sessions.map(sessionRow), "no recordings of this rig", 5);
  replaceRows(element("job-rows"), jobs.map(jobRow), "no calibrations of this rig", 5);
  const running = lists.sessions.filter(session => session.state === "SESSION_OPEN");
  element("watched").replaceChildren(
      ...(running.length ? running : [{ sessionId: "" }]).map(
          session => make("option", session.sessionId ? sessionTitle(session) : "none is running",
                          { value: session.sessionId })));
  element("watched").value = live.id;
  showComparison();
  await showResults();
}

async function poll() {
  try {
    const [{ sessions }, { jobs }] = await Promise.all([call("GET", "/api/sessions"),
                                                        call("GET", "/api/jobs")]);
    setText("connection", "connected to " + location.host);
    lists.sessions = sessions;
    lists.jobs = jobs;
    const first = sessions.find(session => session.connected);
    if (!live.id && first) watch(first.sessionId);
    const newest = first ?? sessions[0];
    if (newest && (!rig.name || (first && !rig.facts))) await chooseRig(rigOf(newest));
    await showLists();
    updateCalibrateButton();
    showStages();
  } catch (error) {
    setText("connection", error instanceof TypeError ? "no connection to the service" : error.message);
  }
}

// Paper is light, whatever the screen is.
const redraw = () => { draw(); drawRigPicture(); };
matchMedia("print").addEventListener("change", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
window.addEventListener("beforeprint", redraw);
element("stop").addEventListener("click", stopRig);
element("login").addEventListener("submit", logIn);
element("log-out").addEventListener("click", () => call("POST", "/api/logout").then(showLogin));
element("watched").addEventListener("change", event => watch(event.target.value));
element("rig-choice").addEventListener("change", event => chooseRig(event.target.value).then(poll));
element("rig-file").addEventListener("change", chooseRigFile);
element("calibrate").addEventListener("submit", calibrate);
element("result").addEventListener("change", showResult);
element("write-link").addEventListener("click", () => {
  const result = results.get(element("result").value);
  if (result) result.written = true;
  showStages();
});
setInterval(() => { if (!document.hidden) poll(); }, kPollPeriod);
setInterval(showNumbers, 200);
showStages();
showStop();
poll();
requestAnimationFrame(frame);
