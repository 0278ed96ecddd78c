# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium over its debugging pipe: messages of JSON, a zero byte after each."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-extensions", "--hide-scrollbars", "--disable-dev-shm-usage", "--mute-audio",
         "--remote-debugging-pipe"]


def find():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Browser:
    """One page. What it complains about is in self.complaints."""

    def __init__(self, width=1280, height=1400):
        self.profile = tempfile.mkdtemp()
        to_it, self.write_fd = os.pipe()
        self.read_fd, from_it = os.pipe()

        def wire():
            os.dup2(to_it, 20)  # 3 and 4 may be ours
            os.dup2(from_it, 21)
            os.dup2(20, 3)
            os.dup2(21, 4)
            os.close(20)
            os.close(21)
        self.process = subprocess.Popen(
            [find(), *FLAGS, "--user-data-dir=" + self.profile,
             "--window-size=%d,%d" % (width, height), "about:blank"],
            preexec_fn=wire, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_it)
        os.close(from_it)
        self.buffer, self.number, self.session = b"", 0, None
        self.complaints, self.requests, self.loaded = [], [], False
        target = [t for t in self.call("Target.getTargets")["targetInfos"]
                  if t["type"] == "page"][0]["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def close(self):
        os.close(self.write_fd)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read_fd)
        shutil.rmtree(self.profile, ignore_errors=True)

    # ---- messages ----

    def receive(self, until):
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.read_fd], [], [], left)[0]:
                raise TimeoutError("the browser says nothing")
            part = os.read(self.read_fd, 1 << 16)
            if not part:
                raise EOFError("the browser is gone")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def heard(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif (method == "Runtime.consoleAPICalled" and
              params["type"] in ("error", "warning", "assert")):
            self.complaints.append(json.dumps(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append("a dialog: " + params["message"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def call(self, method, timeout=60, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_fd, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + timeout
        while True:
            answer = self.receive(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.heard(answer)

    # ---- what a person does ----

    def open(self, path):
        self.loaded = False
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        until = time.monotonic() + 60
        while not self.loaded:
            self.heard(self.receive(until))
        self.wait("window.gmpsim && window.gmpsim.ready")

    def js(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def wait(self, expression, seconds=30):
        until = time.monotonic() + seconds
        while not self.js(expression):
            if time.monotonic() > until:
                raise TimeoutError(expression)
            time.sleep(0.02)

    def frame(self):
        """Until what was asked for is drawn."""
        self.js("new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)))")

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.frame()

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type="mouse" + kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("Moved", x, y)
        self.mouse("Pressed", x, y, button="left", clickCount=1)
        self.mouse("Released", x, y, button="left", clickCount=1)
        self.frame()

    def drag(self, x0, y0, x1, y1, modifiers=0):
        self.mouse("Moved", x0, y0, modifiers=modifiers)
        self.mouse("Pressed", x0, y0, button="left", buttons=1, clickCount=1, modifiers=modifiers)
        for i in range(1, 6):
            self.mouse("Moved", x0 + (x1 - x0) * i / 5, y0 + (y1 - y0) * i / 5, button="left",
                       buttons=1, modifiers=modifiers)
        self.mouse("Released", x1, y1, button="left", clickCount=1, modifiers=modifiers)
        self.frame()

    def theme(self, name):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": name}])
        self.frame()

    def screenshot(self, path, whole=True):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as f:
            f.write(base64.b64decode(shot["data"]))
