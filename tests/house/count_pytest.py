#!/usr/bin/env python3
"""Prints "PASSED FAILED" for a report of pytest.

    count_pytest.py JUNIT_XML

What was skipped counts as neither; a report without a single test is a failure.
"""

import sys
import xml.etree.ElementTree as ElementTree


def main():
    passed = failed = 0
    for case in ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is None:
            passed += 1
    print(passed, failed or (0 if passed else 1))


if __name__ == "__main__":
    main()
