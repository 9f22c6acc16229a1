#!/usr/bin/env python3
"""Prints "PASSED FAILED SKIPPED" for one run of ctest, and to stderr what was skipped and why.

    count_results.py CTEST_JUNIT_XML GTEST_XML_FOLDER

A GoogleTest program counts by its test cases, any other test as one. A program that failed without
saying which case (it crashed, or ran out of time) counts as one failure more.
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree

from skipped import reason_of, tell


def gtest_counts(folder):
    """(passed, failed, [(reason, name)]) over all reports; a broken report is that of a crash."""
    passed = failed = 0
    skipped = []
    for report in sorted(folder.glob("*.xml")):
        try:
            cases = list(ElementTree.parse(report).getroot().iter("testcase"))
        except ElementTree.ParseError:
            continue
        for case in cases:
            if case.find("failure") is not None:
                failed += 1
            elif (mark := case.find("skipped")) is not None:
                skipped.append((reason_of(mark), f"{case.get('classname')}.{case.get('name')}"))
            elif case.get("status") == "notrun":
                skipped.append(("disabled", f"{case.get('classname')}.{case.get('name')}"))
            else:
                passed += 1
    return passed, failed, skipped


def main():
    suite = ElementTree.parse(sys.argv[1]).getroot()
    folder = pathlib.Path(sys.argv[2])
    passed, failed, skipped = gtest_counts(folder)
    reports = {report.stem for report in folder.glob("*.xml")}
    ctest_failed = 0
    for test in suite.iter("testcase"):
        ok = test.find("failure") is None and test.get("status") in ("run", "passed")
        ctest_failed += not ok
        if ok and test.get("name") + "_test" not in reports:
            passed += 1
    # Every test that ctest saw failing is a failure, whatever the reports say.
    tell(skipped)
    print(passed, max(failed, ctest_failed), len(skipped))


if __name__ == "__main__":
    main()
