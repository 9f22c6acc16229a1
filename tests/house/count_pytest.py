#!/usr/bin/env python3
"""Prints "PASSED FAILED SKIPPED" for a report of pytest, and to stderr what was skipped and why.

    count_pytest.py JUNIT_XML

A report without a single test that ran is a failure.
"""

import sys
import xml.etree.ElementTree as ElementTree

from skipped import reason_of, tell


def main():
    passed = failed = 0
    skipped = []
    for case in ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif (mark := case.find("skipped")) is not None:
            name = case.get("classname", "").rpartition(".")[2] + "::" + case.get("name", "")
            skipped.append((reason_of(mark), name))
        else:
            passed += 1
    tell(skipped)
    print(passed, failed or (0 if passed else 1), len(skipped))


if __name__ == "__main__":
    main()
