#!/usr/bin/env python3
"""Prints "PASSED FAILED" for one run of ctest.

    count_results.py CTEST_JUNIT_XML GTEST_XML_FOLDER

A GoogleTest program counts by its test cases, any other test as one. A program that failed without
saying which case (it crashed, or ran out of time) counts as one failure more.
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def gtest_counts(folder):
    """(passed, failed, skipped) over all reports; a broken report is that of a crash."""
    passed = failed = skipped = 0
    for report in sorted(folder.glob("*.xml")):
        try:
            cases = list(ElementTree.parse(report).getroot().iter("testcase"))
        except ElementTree.ParseError:
            continue
        for case in cases:
            if case.find("failure") is not None:
                failed += 1
            elif case.get("status") == "notrun" or case.find("skipped") is not None:
                skipped += 1
            else:
                passed += 1
    return passed, failed, skipped


def main():
    suite = ElementTree.parse(sys.argv[1]).getroot()
    folder = pathlib.Path(sys.argv[2])
    passed, failed, _ = gtest_counts(folder)
    reports = {report.stem for report in folder.glob("*.xml")}
    ctest_failed = 0
    for test in suite.iter("testcase"):
        ok = test.find("failure") is None and test.get("status") in ("run", "passed")
        ctest_failed += not ok
        if ok and test.get("name") + "_test" not in reports:
            passed += 1
    # Every test that ctest saw failing is a failure, whatever the reports say.
    print(passed, max(failed, ctest_failed))


if __name__ == "__main__":
    main()
