"""Tests of follow_page.py: a page that is wrong must fail, at the right line."""

import contextlib
import io
import tempfile
import time
import unittest
from pathlib import Path

import expected_output
from follow_page import ROOT, PageError, follow

PAGE = """# A page

```sh
sleep 60 &
mkdir work
cd work
export NAME=value
```

Save this file as `numbers.txt`:

```text
mass  1.00  0.01
```

Append a line to `numbers.txt`:

```text
done
```

```sh
cat numbers.txt
echo "$NAME"
```

```text
mass  1.01  0.01
…
va…e
```

<!-- not run: there is no such program -->
```sh
no-such-program
```

```python
import os
os.path.basename(os.getcwd()), os.environ["NAME"]
```

```text
('work', 'value')
```
"""


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page = Path(folder.name) / "page.md"

    def follow(self, text, **options):
        self.page.write_text(text, encoding="utf-8")
        return follow(self.page, ROOT / "build", **options)

    def failure(self, old, new):
        """Returns the message for the page with a change."""
        self.assertIn(old, PAGE)
        with self.assertRaises(PageError) as caught:
            self.follow(PAGE.replace(old, new))
        return str(caught.exception)

    def test_correct_page_passes_and_its_background_processes_are_ended(self):
        begin = time.monotonic()
        self.assertEqual(self.follow(PAGE), 0)
        self.assertLess(time.monotonic() - begin, 30)

    def test_wrong_output_fails_with_line_command_and_outputs(self):
        message = self.failure("va…e\n", "other\n")
        self.assertIn(f"page.md:{PAGE.split('va…e')[0].count(chr(10)) + 1}: ", message)
        for part in ("expected: other", "mass  1.00  0.01\ndone\nvalue", "cat numbers.txt"):
            self.assertIn(part, message)

    def test_missing_and_additional_lines_fail(self):
        self.failure("va…e\n", "va…e\nanother\n")
        self.failure("…\nva…e\n", "…\n…alu\n")

    def test_wrong_number_fails(self):
        self.failure("mass  1.01", "mass  1.10")

    def test_wrong_value_in_python_fails(self):
        self.failure("('work', 'value')", "('work', 'other')")

    def test_failing_command_fails(self):
        self.assertIn("exit status 1: false", self.failure("cd work\n", "cd work\nfalse\n"))
        self.assertIn("ValueError", self.failure("import os\n", "import os\nint('x')\n"))

    def test_setup_runs_first(self):
        self.follow("```sh\ncat given\n```\n```text\n5\n```\n", setup="echo 5 > given\n")

    def test_update_replaces_the_wrong_output_only(self):
        wrong = PAGE.replace("mass  1.01", "mass  3.00").replace("'value')", "'x')")
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(self.follow(wrong, update=True), 2)
        self.assertEqual(self.page.read_text(encoding="utf-8"),
                         PAGE.replace("mass  1.01", "mass  1.00"))


class Outputs(unittest.TestCase):
    def matches(self, expected, actual, **options):
        return expected_output.first_difference(expected.split("\n"), actual.split("\n"),
                                                **options) is None

    def test_numbers_match_within_the_tolerance(self):
        self.assertTrue(self.matches("ratio 1.00", "ratio  1.01"))
        self.assertFalse(self.matches("ratio 1.00", "ratio 1.05"))
        self.assertTrue(self.matches("ratio 1.00", "ratio 1.05", tolerance=0.1))
        self.assertTrue(self.matches("ratio 1", "ratio 0.99"))
        self.assertFalse(self.matches("7 joints", "8 joints"))
        self.assertFalse(self.matches("joint_1", "joint_2"))

    def test_estimates_match_within_four_standard_deviations(self):
        self.assertTrue(self.matches("m 1.000 ± 0.001 kg", "m 1.0039 ± 0.001 kg"))
        self.assertFalse(self.matches("m 1.000 ± 0.001 kg", "m 1.005 ± 0.001 kg"))
        self.assertFalse(self.matches("m 1.000 ± 0.001 kg", "m 1.000 ± 0.0041 kg"))
        table = "parameter value ± sd start\nm 1.000 0.001 9.0"
        self.assertTrue(self.matches(table, table.replace("1.000", "1.0039")))
        self.assertFalse(self.matches(table, table.replace("1.000", "1.005")))

    def test_intervals_match_within_twelve_standard_deviations(self):
        table = "parameter estimate ± sd 95 % interval\nm 1.000 0.001 0.998 … 1.002"
        self.assertTrue(self.matches(table, table.replace("0.998", "0.987")))
        self.assertFalse(self.matches(table, table.replace("0.998", "0.985")))
        self.assertFalse(self.matches(table, table.replace("m 1.000", "m 1.005")))

    def test_renewed_output_follows_a_new_layout_and_keeps_omissions(self):
        old = ["The model fits: ratio 1 (…).", "", "a 1.0 0.1 kg", "b 2.0 0.1 kg", "…"]
        new = ["The model fits: ratio 2 (Q = 3).", "", "parameter", "a 1.5 ± 0.1 kg",
               "b 2.5 ± 0.1 kg", "", "Notes:", "  one"]
        self.assertEqual(expected_output.renewed(old, new),
                         ["The model fits: ratio 2 (…).", "", "parameter", "a 1.5 ± 0.1 kg",
                          "b 2.5 ± 0.1 kg", "…"])


if __name__ == "__main__":
    unittest.main()
