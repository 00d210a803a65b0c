#!/usr/bin/env python3
"""Follows a page of the documentation as a reader does, and compares what the programs print.

    follow_page.py [--build BUILD] [--setup FILE.sh] [--update] PAGE.md

Everything runs in a new folder that looks like the root of the source tree. The page's fenced
blocks are followed in order:

- ```sh runs in one bash session. Each command must succeed. Programs started with & run until the
  end of the page.
- ```python runs at one Python prompt, which also prints the values of expressions.
- ```text is the standard output of the block before it (expected_output.py has the rules).
- After "Save … as `FILE`:" the block is written to FILE, after "Append … to `FILE`:" appended.
- <!-- not run: REASON --> in the line before a block skips it and its output.
- Other blocks are examples and are skipped.

The commands of --setup make the files that the page assumes its reader to have. --update replaces
outputs on the page that differ. Check the changes with git diff.
"""

import argparse
import os
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from expected_output import TOLERANCE, first_difference, renewed
from sessions import Session

ROOT = Path(__file__).resolve().parent.parent.parent
BLOCK_LIMIT_S = 120
BACKGROUND_LIMIT_S = 20


@dataclass
class Block:
    language: str
    info: str       # the rest of the line of the fence
    line: int       # of the fence, from 1
    lines: list
    lead: str       # the paragraph before the block
    skipped: bool

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)

    @property
    def tolerance(self):
        found = re.fullmatch(r"within ([\d.]+) ?%", self.info)
        return float(found[1]) / 100 if found else TOLERANCE

    def file(self):
        """Returns ("w" or "a", file name) if the sentence before the block names a file."""
        found = re.search(r"\b(save|append)\b[^:]*\b(?:as|to) `([^`]+)`[^.:]*:$", self.lead,
                          re.IGNORECASE)
        return found and ("w" if found[1].lower() == "save" else "a", found[2])


class PageError(Exception):
    """A difference between the page and the programs; the text is the message."""


def read_blocks(text):
    """Returns the fenced blocks of a page."""
    blocks, block, indent, paragraph = [], None, "", []
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"( *)```(\S*) ?(.*)$", line)
        if block is None and fence:
            indent = fence[1]
            lead = " ".join(paragraph)
            skipped = bool(paragraph) and paragraph[-1].startswith("<!-- not run: ")
            block = Block(fence[2], fence[3].strip(), number, [], lead, skipped)
        elif block is not None and fence:
            blocks.append(block)
            block, paragraph = None, []
        elif block is not None:
            block.lines.append(line.removeprefix(indent))
        elif line.strip():
            paragraph.append(line.strip())
        elif not (paragraph and paragraph[-1].endswith(":")):
            paragraph = []
    return blocks


class Follower:
    def __init__(self, page, session):
        self._page, self._session = page, session
        self._command, self._output = None, None
        self.renewed = {}  # block -> new lines

    def follow(self, blocks, update):
        for block in blocks:
            if block.file():
                self._write(block)
            elif block.language == "text":
                self._compare(block, update)
            elif block.skipped:
                self._command = None
            elif block.language in ("sh", "python"):
                self.run(block)

    def run(self, block):
        self._command = block
        succeeded, self._output, errors = self._session.run(block.language, block.text)
        if not succeeded:
            self._fail(block.line, f"a command failed\nprinted:\n{self._printed()}\n{errors}")

    def _write(self, block):
        mode, name = block.file()
        target = f"cat {'>>' if mode == 'a' else '>'} '{name}'"
        self._session.run("sh", f"{target} <<'END_OF_FILE'\n{block.text}END_OF_FILE\n")

    def _compare(self, block, update):
        if block.skipped or self._command is None:
            return
        background = self._command.text.rstrip().endswith("&")
        deadline = time.monotonic() + (BACKGROUND_LIMIT_S if background else 0)
        while True:
            actual = self._printed().splitlines()
            while actual and not actual[-1].strip():
                actual.pop()
            index = first_difference(block.lines, actual, block.tolerance)
            if index is None or time.monotonic() >= deadline:
                break
            time.sleep(0.05)
        if index is not None and update:
            self.renewed[block.line] = renewed(block.lines, actual)
        elif index is not None:
            expected = block.lines[index] if index < len(block.lines) else "(end of the output)"
            self._fail(block.line + 1 + index, f"the output differs\nexpected: {expected}\n"
                       "printed:\n" + "\n".join(actual))

    def _printed(self):
        return self._output.read_text(errors="replace")

    def _fail(self, line, message):
        command = self._command.text.strip()
        raise PageError(f"{self._page}:{line}: {message}\ncommand ({self._page}:"
                        f"{self._command.line}):\n{command}")


def source_view(folder, build):
    """Makes `folder` look like the root of the source tree with its build in build/."""
    for entry in ROOT.iterdir():
        if not entry.name.startswith((".", "build", "out")):
            (folder / entry.name).symlink_to(entry)
    (folder / "build").symlink_to(build)


def environment_of(build, programs):
    """Returns the variables of a reader who has installed rigcal and its Python package."""
    (programs / "python3").symlink_to(sys.executable)
    path = f"{programs}:{build / 'bin'}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(build / "python"), "LC_ALL": "C.UTF-8",
            "MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1"}


def write_outputs(page, blocks, outputs):
    lines = page.read_text(encoding="utf-8").splitlines()
    for block in reversed(blocks):
        if block.line in outputs:
            lines[block.line:block.line + len(block.lines)] = outputs[block.line]
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def follow(page, build, setup="", update=False):
    """Raises PageError if the page is wrong. With `update`, corrects its outputs instead."""
    blocks = read_blocks(page.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="rigcal-page-") as name:
        folders = [Path(name) / part for part in ("root", "scratch", "programs")]
        for folder in folders:
            folder.mkdir()
        root, scratch, programs = folders
        source_view(root, build)
        session = Session(root, scratch, environment_of(build, programs), BLOCK_LIMIT_S)
        follower = Follower(page, session)
        try:
            follower.run(Block("sh", "", 0, setup.splitlines(), "", False))
            follower.follow(blocks, update)
        finally:
            session.end()
    if follower.renewed:
        write_outputs(page, blocks, follower.renewed)
    return len(follower.renewed)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    parser.add_argument("--setup", type=Path, default=os.devnull, help="commands that run first")
    parser.add_argument("--update", action="store_true", help="correct the outputs on the page")
    options = parser.parse_args()
    try:
        count = follow(options.page, options.build.resolve(), Path(options.setup).read_text(),
                       options.update)
    except PageError as error:
        sys.exit(str(error))
    if options.update:
        print(f"{options.page}: {count} outputs replaced")


if __name__ == "__main__":
    main()
