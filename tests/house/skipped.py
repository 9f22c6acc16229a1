"""What tests/run says of tests that did not run: who lacks something must not look green."""

import sys


def reason_of(mark):
    """Of a <skipped> of pytest or GoogleTest, on one line."""
    words = (mark.get("message") or mark.text or "no reason given").split()
    if words[0].rpartition(":")[2].isdigit() and len(words) > 1:  # GoogleTest: "file.cc:12"
        del words[0]
    return " ".join(words)


def tell(skipped):
    """A line for each reason: how many, and one of them by name."""
    by_reason = {}
    for reason, name in skipped:
        by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        example = names[0] if len(names) == 1 else f"{names[0]} and others"
        print(f"         {len(names)} skipped: {reason} ({example})", file=sys.stderr)
