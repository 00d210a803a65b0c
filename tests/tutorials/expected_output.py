"""Compares the output of a command with the excerpt on a page, and renews excerpts.

- A line `…` stands for any lines, `…` within a line for any characters.
- Runs of spaces are equal to one space.
- A number with a decimal point or an exponent matches within TOLERANCE, or within the tolerance
  of the block (```text within 20 %). Two whole numbers match if they are equal.
- An estimate matches within four of its standard deviations, which follow it: "4.2 ± 0.1", or
  "4.2  0.1" in a table with "±" in its heading. A standard deviation matches within a factor of 4,
  a bound of the estimate's interval, "4.0 … 4.4", within 12 standard deviations.
"""

import difflib
import re

TOLERANCE = 0.02
ELLIPSIS = "…"
NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
# Not part of a name, date or file, and not cut off: "J_1", "rig2", "2026-11-26", "a.1", "0.3…".
STANDALONE = rf"(?<![\w.:/-]){NUMBER}(?![\w:/…]|\.\w|-\w)"


def matches_number(expected, actual, tolerance):
    if all(re.fullmatch(r"[-+]?\d+", number) for number in (expected, actual)):
        return int(expected) == int(actual)
    return abs(float(actual) - float(expected)) <= tolerance * abs(float(expected)) + 1e-300


def normalized(line):
    return " ".join(line.split())


def line_pattern(line):
    """Returns a pattern of the line in which numbers are groups, and the expected numbers."""
    numbers, parts, end = [], [], 0
    text = normalized(line)
    for found in re.finditer(STANDALONE, text):
        parts.append(text[end:found.start()])
        numbers.append(found[0])
        end = found.end()
    parts.append(text[end:])
    escaped = [".*?".join(re.escape(piece) for piece in part.split(ELLIPSIS)) for part in parts]
    return re.compile(f"({NUMBER})".join(escaped) + r"\s*"), numbers


def estimates(line, below_heading):
    """Returns the indices of the numbers that are followed by their standard deviation."""
    text = normalized(line)
    found = list(re.finditer(STANDALONE, text))
    between = [text[a.end():b.start()] for a, b in zip(found, found[1:])]
    pairs = [i for i, gap in enumerate(between) if gap.strip() == "±"]
    if not pairs and below_heading and between and between[0] == " ":
        pairs = [0]
    return pairs


def bounds(line):
    """Returns the indices of the numbers that are bounds of an interval: "4.0 … 4.4"."""
    text = normalized(line)
    found = list(re.finditer(STANDALONE, text))
    lower = [i for i, (a, b) in enumerate(zip(found, found[1:]))
             if text[a.end():b.start()].strip() == ELLIPSIS]
    return {i + k for i in lower for k in (0, 1)}


def matches_line(expected, actual, tolerance, below_heading=False):
    pattern, numbers = line_pattern(expected)
    found = pattern.fullmatch(normalized(actual))
    if not found:
        return False
    values = found.groups()
    pairs, ends = estimates(expected, below_heading), bounds(expected)
    for i, (number, value) in enumerate(zip(numbers, values)):
        if i in pairs:
            deviation = max(float(numbers[i + 1]), float(values[i + 1]))
            matches = abs(float(value) - float(number)) <= 4 * deviation
        elif i - 1 in pairs:
            matches = float(number) / 4 <= float(value) <= float(number) * 4
        elif pairs and i in ends:
            matches = abs(float(value) - float(number)) <= 12 * deviation
        else:
            matches = matches_number(number, value, tolerance)
        if not matches:
            return False
    return True


def headings(lines):
    """Returns for each line whether it belongs to a table with "±" in its heading."""
    below, marks = False, []
    for line in lines:
        is_heading = "±" in line and not re.search(STANDALONE, line.replace("95 % interval", ""))
        below = bool(line.strip()) and (below or is_heading)
        marks.append(below)
    return marks


def first_difference(expected, actual, tolerance=TOLERANCE):
    """Returns None if `actual` matches, otherwise the index of the first line without match."""
    marks = headings(expected)
    reached = {0}  # numbers of matched lines of `actual`, for the expected lines so far
    for index, line in enumerate(expected):
        if line.strip() == ELLIPSIS:
            reached = set(range(min(reached), len(actual) + 1))
            continue
        reached = {k + 1 for k in reached
                   if k < len(actual) and matches_line(line, actual[k], tolerance, marks[index])}
        if not reached:
            return index
    return None if len(actual) in reached else len(expected)


def similarity(expected, actual):
    def masked(line):
        return re.sub(NUMBER, "0", normalized(line))
    if not expected.strip() or not actual.strip():
        return 0.5 if expected.strip() == actual.strip() else 0.0
    ratio = difflib.SequenceMatcher(None, masked(expected), masked(actual)).ratio()
    same_start = expected.split()[0] == actual.split()[0]
    return ratio + 0.5 * same_start if ratio > 0.4 or same_start else 0.0


def align(expected, actual):
    """Returns pairs of indices of lines with the largest total similarity, in order."""
    rows, columns = len(expected), len(actual)
    best = [[(0.0, None)] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for k in range(columns - 1, -1, -1):
            worth = similarity(expected[i], actual[k])
            choices = [(best[i + 1][k][0], "skip"), (best[i][k + 1][0], "next")]
            if worth > 0:
                choices.append((worth + best[i + 1][k + 1][0], "pair"))
            best[i][k] = max(choices, key=lambda choice: choice[0])
    pairs, i, k = [], 0, 0
    while i < rows and k < columns:
        step = best[i][k][1]
        if step == "pair":
            pairs.append((i, k))
        i, k = i + (step != "next"), k + (step != "skip")
    return pairs


def renewed_line(expected, actual):
    """Returns the new line: with the parts that the page leaves out, if the rest is the same."""
    pattern, _ = line_pattern(expected)
    found = pattern.fullmatch(normalized(actual))
    if ELLIPSIS not in expected or not found:
        return actual.rstrip()
    values = iter(found.groups())
    return re.sub(STANDALONE, lambda _: next(values), expected)


def renewed(expected, actual):
    """Returns the excerpt with the lines of `actual` in place of their old versions."""
    if not [line for line in expected if line.strip() != ELLIPSIS]:
        return [line.rstrip() for line in actual]
    kept = [i for i, line in enumerate(expected) if line.strip() != ELLIPSIS]
    pairs = [(kept[i], k) for i, k in align([expected[i] for i in kept], actual)]
    lines, last_i, last_k = [], -1, -1
    for i, k in pairs + [(len(expected), len(actual))]:
        left_out = any(line.strip() == ELLIPSIS for line in expected[last_i + 1:i])
        between = actual[last_k + 1:k]
        if left_out or len(between) > 3:
            lines.append(ELLIPSIS)
        else:
            lines += [line.rstrip() for line in between]
        if i < len(expected):
            lines.append(renewed_line(expected[i], actual[k]))
        last_i, last_k = i, k
    return lines
