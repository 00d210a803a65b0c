// Parts that all scripts of the page share: elements, requests, log in.
"use strict";

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
  element("work").hidden = true;
}

async function logIn(event) {
  event.preventDefault();
  try {
    await call("POST", "/api/login", "", { token: element("token").value });
    element("token").value = "";
    element("login").hidden = true;
    element("log-out").hidden = false;
    element("work").hidden = false;
    poll();
  } catch (error) {
    setText("login-error", error.message);
  }
}

// Tables ---------------------------------------------------------------------------------------

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
