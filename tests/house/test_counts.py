#!/usr/bin/env python3
"""Feeds reports to count_pytest.py and count_results.py."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
PASSED = '<testcase classname="tests.a.test_x" name="test_good"/>'
FAILED = '<testcase classname="tests.a.test_x" name="test_bad"><failure/></testcase>'
SKIPPED = (
    '<testcase classname="tests.a.test_x" name="test_{}">'
    '<skipped type="pytest.skip" message="needs root">x.py:3: needs root</skipped></testcase>'
)


def count(script, *reports):
    with tempfile.TemporaryDirectory() as root:
        words = []
        for name, text in reports:
            path = pathlib.Path(root, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            words.append(path if name == "ctest.xml" else path.parent)
        if script == "count_pytest.py":
            words = [pathlib.Path(root, reports[0][0])]
        done = subprocess.run(
            [sys.executable, HERE / script, *words], capture_output=True, text=True
        )
        return done.stdout.strip(), done.stderr


class CountsTest(unittest.TestCase):
    def test_pytest_says_what_was_skipped_and_why(self):
        cases = PASSED + FAILED + SKIPPED.format("one") + SKIPPED.format("two")
        counts, told = count("count_pytest.py", ("x.xml", f"<testsuites>{cases}</testsuites>"))
        self.assertEqual(counts, "1 1 2")
        self.assertEqual(told.strip(), "2 skipped: needs root (test_x::test_one and others)")

    def test_a_room_in_which_nothing_ran_has_failed(self):
        report = f"<testsuites>{SKIPPED.format('one')}</testsuites>"
        self.assertEqual(count("count_pytest.py", ("x.xml", report))[0], "0 1 1")

    def test_googletest_says_so_too(self):
        ctest = '<testsuite><testcase name="kernels" status="run"/></testsuite>'
        cases = (
            '<testcase name="A" classname="T" status="run"/>'
            '<testcase name="B" classname="T" status="run" result="skipped">'
            '<skipped message="x.cc:51&#x0A;only where it is fast"/></testcase>'
            '<testcase name="C" classname="T" status="notrun"/>'
        )
        report = f"<testsuites><testsuite>{cases}</testsuite></testsuites>"
        counts, told = count(
            "count_results.py", ("ctest.xml", ctest), ("g/kernels_test.xml", report)
        )
        self.assertEqual(counts, "1 0 2")
        self.assertIn("1 skipped: only where it is fast (T.B)", told)
        self.assertIn("1 skipped: disabled (T.C)", told)


if __name__ == "__main__":
    unittest.main()
