#!/usr/bin/env python3
"""Feeds floors.py good and bad trees."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("floors.py")


def run(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True)


class FloorsTest(unittest.TestCase):
    def assert_bad(self, source, include, word):
        result = run({source: f"// first line\n#include {include}\n"})
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(f"{source}:2:", result.stdout)
        self.assertIn(word, result.stdout)

    def test_what_goes_down_or_stays_in_its_room_is_good(self):
        good = {
            "kernels/cpu/reduce_avx2.cc": '#include <immintrin.h>\n#include "kernels/reduce.h"\n',
            "horovodx/base/log.cc": '#include "horovodx/base/log.h"\n',
            "horovodx/transport/tcp/link.cc": '#include "horovodx/transport/link.h"\n',
            "horovodx/transport/registry.cc": '#include "horovodx/transport/tcp/link.h"\n'
                                              '#include "horovodx/transport/shm/stage.h"\n',
            "horovodx/collectives/ring.cc": '#include "horovodx/collectives/patterns/ring.h"\n'
                                            '#include "horovodx/transport/registry.h"\n',
            "horovodx/runtime/engine.cc": '#include "horovodx/negotiation/member.h"\n',
            "horovodx/api/c_api.cc": '#include "horovodx/runtime/engine.h"\n',
            "tools/bench/main.cc": '#include "horovodx/api/c_api.h"\n',
        }
        result = run(good)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("8 files, 0 wrong includes", result.stdout)

    def test_upward(self):
        self.assert_bad("kernels/cast.h", '"horovodx/base/status.h"', "upward")
        self.assert_bad("horovodx/base/log.cc", '"horovodx/runtime/config.h"', "upward")
        self.assert_bad("horovodx/base/log.cc", "<horovodx/runtime/config.h>", "upward")
        self.assert_bad("horovodx/transport/link.h", '"horovodx/transport/tcp/socket.h"', "upward")
        self.assert_bad("horovodx/transport/tcp/a.cc", '"horovodx/transport/registry.h"', "upward")
        self.assert_bad("horovodx/collectives/patterns/ring.h", '"horovodx/collectives/team.h"',
                        "upward")
        self.assert_bad("horovodx/api/c_api.cc", '"bindings/module.h"', "upward")

    def test_sideways(self):
        self.assert_bad("horovodx/transport/shm/a.cc", '"horovodx/transport/tcp/b.h"', "sideways")
        self.assert_bad("horovodx/fusion/a.cc", '"horovodx/schedule/b.h"', "sideways")
        self.assert_bad("tools/bench/a.cc", '"bindings/module.h"', "sideways")
        self.assert_bad("integrations/torch/a.cc", '"integrations/tensorflow/b.h"', "sideways")

    def test_includes_that_hide_where_they_go(self):
        self.assert_bad("horovodx/base/log.cc", '"../runtime/config.h"', "not rooted")
        self.assert_bad("horovodx/base/log.cc", '"log.h"', "not rooted")
        self.assert_bad("horovodx/base/log.cc", '"tests/support/world.h"', "includes a test")
        self.assert_bad("horovodx/base/log.cc", '"horovodx/attic/x.h"', "in no room")

    def test_a_new_room_must_be_given_a_floor(self):
        result = run({"horovodx/attic/x.cc": "\n"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("is in no room", result.stdout)

    def test_an_empty_tree_is_not_a_success(self):
        self.assertEqual(run({}).returncode, 2)


if __name__ == "__main__":
    unittest.main()
