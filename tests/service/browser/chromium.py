"""Controls a headless Chromium by the DevTools protocol, over pipes and without other packages."""

import json
import os
import shutil
import subprocess
import time

PATIENCE_S = 60.0


def find_chromium():
    """Returns the path of Chromium, or None."""
    names = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
    return next((path for path in map(shutil.which, names) if path), None)


class Page:
    """One page in a headless Chromium of its own."""

    def __init__(self, folder):
        to_browser, self._commands = os.pipe()
        self._replies, from_browser = os.pipe()

        def connect():  # the browser reads descriptor 3 and writes descriptor 4
            copies = [os.dup(to_browser), os.dup(from_browser)]
            os.dup2(copies[0], 3)
            os.dup2(copies[1], 4)

        self.process = subprocess.Popen(
            [find_chromium(), "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--remote-debugging-pipe", "--no-first-run",
             "--user-data-dir=" + str(folder / "profile"), "about:blank"],
            preexec_fn=connect, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=open(folder / "chromium.txt", "w"))
        os.close(to_browser)
        os.close(from_browser)
        self.problems = []  # exceptions and violations of the content policy
        self._number = 0
        self._buffer = b""
        self._session = None
        pages = self.call("Target.getTargets")["targetInfos"]
        target = next(each["targetId"] for each in pages if each["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target,
                                  flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM"):
            self.call(domain + ".enable")

    def _receive(self):
        while b"\0" not in self._buffer:
            data = os.read(self._replies, 1 << 20)
            if not data:
                raise RuntimeError("Chromium has ended")
            self._buffer += data
        text, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        """Calls a method of the protocol, and returns its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            reply = self._receive()
            if reply.get("method") == "Runtime.exceptionThrown":
                self.problems.append(json.dumps(reply["params"]["exceptionDetails"]))
            if reply.get("method") == "Log.entryAdded":
                entry = reply["params"]["entry"]
                if entry["level"] == "error" and entry["source"] != "network":
                    self.problems.append(entry["text"])
            if reply.get("id") == self._number:
                if "error" in reply:
                    raise RuntimeError(f"{method}: {reply['error']}")
                return reply["result"]

    def evaluate(self, expression):
        """Returns the value of a JavaScript expression."""
        reply = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                          awaitPromise=True)
        if "exceptionDetails" in reply:
            raise RuntimeError(f"{expression}: {reply['exceptionDetails']}")
        return reply["result"].get("value")

    def open(self, address):
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def wait(self, condition, patience_s=PATIENCE_S):
        """Waits until a JavaScript condition holds."""
        end = time.monotonic() + patience_s
        while not self.evaluate(condition):
            if time.monotonic() > end:
                raise RuntimeError(f"does not hold: {condition}\n" + self.text())
            time.sleep(0.1)

    def text(self):
        return self.evaluate("document.body.innerText")

    def click(self, selector):
        """Clicks an element that is visible and enabled, in its middle, as a person does."""
        self.wait(f"(e => e && !e.disabled && e.getClientRects().length > 0)"
                  f"(document.querySelector({json.dumps(selector)}))")
        place = self.evaluate(
            f"(e => {{ e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect();"
            f" return [r.x + r.width / 2, r.y + r.height / 2]; }})"
            f"(document.querySelector({json.dumps(selector)}))")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1],
                      button="left", clickCount=1)

    def choose_file(self, selector, path):
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def save_downloads(self, folder):
        self.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def take_picture(self, path, width=1280, height=900, scheme="light", media="screen"):
        import base64
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        time.sleep(0.5)
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self):
        self.process.kill()
        self.process.wait()
