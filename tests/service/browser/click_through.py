"""Clicks through the page of rigcald: from an idle simulated rig to a report and a rig file.

    click_through.py BINARIES SOURCE [PICTURES]

Exit status 77: Chromium is missing (apt install chromium).
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import time

import chromium

SCENARIO = """name: "release"
duration_s: 8
initial { joint: "pivot" angle_rad: 3.0916 }
release { joint: "pivot" held_angle_rad: 3.1416 held_tolerance_rad: 0.1
  rest_speed_rad_per_s: 0.02 rest_time_s: 1 }
limits { joint { joint: "pivot" speed_rad_per_s_max: 40 } }
"""


class Rig:
    """A service, and a simulated pendulum with its rig computer."""

    def __init__(self, binaries, source, folder):
        self.binaries, self.folder, self.children = binaries, folder, []
        self.rig = folder / "rig.textproto"
        text = (source / "configs/rig-pendulum.textproto").read_text()
        text = text.replace("staleness_ms_max: 100", "staleness_ms_max: 5000")
        self.rig.write_text(text)
        sim = (source / "configs/sim-pendulum.textproto").read_text()
        sim = re.sub(r"stribeck_torque: \S+ stribeck_rate: \d+", "", sim)  # the law of the rig file
        (folder / "sim.textproto").write_text(sim)
        (folder / "scenario.textproto").write_text(SCENARIO)
        self.service = self.start("rigcald", "--data", folder / "data", "--listen", "127.0.0.1:0",
                                  "--http", "127.0.0.1:0")
        self.port = self.wait_for_output("rigcald", r"listens at 127.0.0.1:(\d+)")
        self.web = self.wait_for_output("rigcald", r"event=http port=(\d+)")

    def start(self, program, *arguments):
        out = open(self.folder / (program + ".txt"), "w")
        child = subprocess.Popen([str(self.binaries / program), *map(str, arguments)], stdout=out,
                                 stderr=subprocess.STDOUT)
        self.children.append(child)
        return child

    def output(self, program):
        return (self.folder / (program + ".txt")).read_text()

    def wait_for_output(self, program, pattern):
        end = time.monotonic() + chromium.PATIENCE_S
        while not (found := re.search(pattern, self.output(program))):
            if time.monotonic() > end:
                raise RuntimeError(program + ": " + self.output(program))
            time.sleep(0.1)
        return found[1]

    def record(self, name):
        """Runs the rig. The operator at the rig computer starts this."""
        link = self.folder / "unit"
        self.start("rigcal-sim", "--config", self.folder / "sim.textproto", "--link", link)
        end = time.monotonic() + chromium.PATIENCE_S
        while not link.is_symlink() and time.monotonic() < end:
            time.sleep(0.05)
        return self.start("rigcal-daq", "run", "--rig", self.rig, "--url", f"pty://{link}",
                          "--scenario", self.folder / "scenario.textproto",
                          "--out", self.folder / name, "--not-commissioned",
                          "--service", f"127.0.0.1:{self.port}")

    def stop(self):
        for child in self.children:
            child.kill()


def text_of(page, selector):
    return page.evaluate(f"document.querySelector('{selector}').innerText")


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


def click_through(page, rig, folder, pictures):
    def picture(name, **options):
        if pictures:
            page.take_picture(pictures / (name + ".png"), **options)

    page.open(f"http://127.0.0.1:{rig.web}/")
    page.wait("document.querySelector('#connection').innerText.startsWith('connected')")
    expect("Choose the rig file" in text_of(page, "#missing-rig"), "the first stage says what lacks")
    expect("before this one" in text_of(page, "#missing-record"), "later stages wait")
    expect(page.evaluate("document.querySelector('#stop').disabled"), "nothing to stop")
    picture("1-idle")

    page.choose_file("#rig-file", rig.rig)
    page.wait("document.querySelector('#step-check').className === 'done'")
    expect("pivot" in text_of(page, "#rig-facts"), "the rig's joints are listed")
    expect("No recording" in text_of(page, "#missing-record"), text_of(page, "#missing-record"))
    picture("2-rig")

    good = []  # whether each recording is complete; on a loaded machine, the unit may trip
    while good.count(True) < 2:
        if len(good) == 5:
            raise AssertionError("the simulated rig always trips: " + rig.output("rigcal-daq"))
        is_last = good.count(True) == 1
        run = rig.record(f"run{len(good)}.mcap")
        page.wait("!document.querySelector('#stop').disabled || document.querySelectorAll("
                  f"'#session-rows input:enabled').length > {len(good)}")
        begin = time.monotonic()
        while run.poll() is None and time.monotonic() < begin + chromium.PATIENCE_S:
            if is_last and time.monotonic() > begin + 7.0:  # the operator has seen enough
                page.click("#stop")
                page.wait("document.querySelector('#events').innerText.includes('stopped the run')")
                is_last = False
            time.sleep(0.1)
            if time.monotonic() < begin + 5.0:
                picture(f"3-recording-{len(good)}")
        good.append(run.wait(chromium.PATIENCE_S) == 0)
        page.wait(f"document.querySelectorAll('#session-rows input:enabled').length === {len(good)}")
        rig.children.pop(-2).kill()  # the simulated unit
        (folder / "unit").unlink(missing_ok=True)

    page.wait("document.querySelector('#step-record').className === 'done'")
    for row, is_complete in enumerate(reversed(good), start=1):  # newest first
        if is_complete:
            page.click(f"#session-rows tr:nth-child({row}) input")
    page.click("#calibrate-button")
    page.wait("document.querySelector('#step-calibrate').className === 'done'", 300.0)
    picture("4-calibrated")
    page.wait("document.querySelector('#verdict').innerText !== ''")
    expect("fits" in text_of(page, "#verdict"), text_of(page, "#verdict"))
    page.wait("document.querySelector('#step-validate').className === 'done'")

    report = page.evaluate("fetch(document.querySelector('#report-link').href).then(r => r.text())")
    expect("pendulum.J_zz" in report and "</html>" in report, "the report has the estimates")
    page.save_downloads(folder)
    page.click("#write-link")
    page.wait("document.querySelector('#step-write').className === 'done'")
    end = time.monotonic() + chromium.PATIENCE_S
    written = folder / "written.textproto"
    while not written.exists() and time.monotonic() < end:
        for file in folder.glob("*.textproto"):
            if "Calibrated" in file.read_text() or "# ±" in file.read_text():
                file.rename(written)
        time.sleep(0.1)
    info = subprocess.run([str(rig.binaries / "rigcal"), "info", str(written)], check=True,
                          capture_output=True, text=True).stdout
    expect("pendulum.J_zz" in info, info)
    expect("# ±" in written.read_text(), "the rig file has the standard deviations")
    for name, options in {"light": {}, "dark": {"scheme": "dark"}, "phone": {"width": 390},
                          "print": {"width": 800, "media": "print"}}.items():
        picture("5-" + name, **options)
    expect(not page.problems, "\n".join(page.problems))


def main():
    binaries, source = map(pathlib.Path, sys.argv[1:3])
    pictures = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    if not chromium.find_chromium():
        print("skipped: no Chromium (apt install chromium)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rig = Rig(binaries, source, folder)
        page = chromium.Page(folder)
        try:
            click_through(page, rig, folder, pictures)
        except Exception:
            for program in ("rigcald", "rigcal-sim", "rigcal-daq"):
                if (folder / (program + ".txt")).exists():
                    print(program + ":", rig.output(program)[-2000:])
            print("\n".join(page.problems))
            print(page.text()[:3000])
            raise
        finally:
            page.close()
            rig.stop()


main()
