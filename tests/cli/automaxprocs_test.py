#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: the table of the automaxprocs package (a load balancer under a quota of 2 CPUs on 24, by
GOMAXPROCS) comes out of a what-if: its order, and its numbers within a factor of 1.5. Method: run
it with the costs of a machine of two sockets. One number of 18 is not reached: the slowest with as
many Ps as CPUs. That service was throttled then, too; that kernels of that time took back at each
period what CPUs had of the quota and had not used does not explain it (11.2 ms in place of 11.1).

usage: automaxprocs_test.py GMPSIM ROOT
"""
import json
import os
import subprocess
import sys
import unittest

GMPSIM = os.path.abspath(sys.argv.pop(1))
FILE = os.path.join(os.path.abspath(sys.argv.pop(1)), "scenarios", "history",
                    "load-balancer-under-a-quota.json")
# GOMAXPROCS: requests per second, p50 and p99.9 in ms
PUBLISHED = {1: (28893.18, 1.46, 19.70), 2: (44715.07, 0.84, 26.38), 3: (44212.93, 0.66, 30.07),
             4: (41071.15, 0.57, 42.94), 8: (33111.69, 0.43, 64.32), 24: (22191.40, 0.45, 76.19)}
NOT_REACHED = {(2, 2)}


class Table(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        out = subprocess.run([GMPSIM, "whatif", FILE, "--profile", "go1.24", "--procs",
                              ",".join(map(str, PUBLISHED)), "--costs", "two-socket", "--until",
                              "500ms", "--runs", "1", "--json"], stdout=subprocess.PIPE, check=True)
        cls.ours = {}
        for cell in json.loads(out.stdout)["cells"]:
            r = cell["series"]["request"]
            cls.ours[cell["procs"]] = (r["per_second"], r["p50"]["mean"] / 1e6,
                                       r["p99.9"]["mean"] / 1e6)

    def test_numbers(self):
        for procs, row in PUBLISHED.items():
            for i, want in enumerate(row):
                ratio = self.ours[procs][i] / want
                if (procs, i) not in NOT_REACHED:
                    self.assertLess(max(ratio, 1 / ratio), 1.5, (procs, i, self.ours[procs]))

    def test_order(self):
        rates, medians, slowest = zip(*(self.ours[p] for p in (2, 3, 4, 8, 24)))
        self.assertEqual(sorted(rates, reverse=True), list(rates))
        self.assertEqual(sorted(medians[:4], reverse=True), list(medians[:4]))
        self.assertEqual(sorted(slowest), list(slowest))
        self.assertLess(self.ours[24][0] / self.ours[2][0], 0.6)  # half of what two Ps answer
        self.assertLess(self.ours[1][0] / self.ours[2][0], 0.7)


if __name__ == "__main__":
    unittest.main()
