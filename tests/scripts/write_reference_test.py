"""Tests of scripts/write_reference.py."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2]


def check(folder):
    script = FOLDER / "scripts/write_reference.py"
    command = [sys.executable, "-B", script, "--check", "--folder", folder]
    return subprocess.run(command, capture_output=True, text=True)


class WriteReferenceTest(unittest.TestCase):
    # Detects a page that was not written again after a change of a schema comment or a range.
    def test_pages_are_up_to_date(self):
        result = check(FOLDER)
        self.assertEqual(result.returncode, 0, result.stderr)

    # Detects a check that accepts every page, and a comment without a unit.
    def test_changed_comments_are_reported(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            shutil.copytree(FOLDER / "docs/reference", folder / "docs/reference")
            shutil.copytree(FOLDER / "proto", folder / "proto")
            schema = folder / "proto/rig.proto"
            text = schema.read_text(encoding="utf-8")
            text = text.replace("mass of the body [kg]", "weight of the body")
            schema.write_text(text, encoding="utf-8")
            result = check(folder)
        self.assertEqual(result.returncode, 1)
        self.assertIn("docs/reference/rig-file.md is out of date", result.stderr)
        self.assertRegex(result.stderr, r'rig.proto:\d+: the comment of "mass" has no \[unit\]')


if __name__ == "__main__":
    unittest.main()
