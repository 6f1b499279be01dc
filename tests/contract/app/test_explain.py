# SPDX-License-Identifier: Apache-2.0
"""systole explain: one operator in words and drawings. The texts under tests/golden/explain were read by eye;
SYSTOLE_UPDATE_GOLDEN=1 writes them anew, for the next pair of eyes."""

import json
import os
import re
import unittest

from program import DEVICE, HOME, ProgramTest

GOLDEN = HOME / "tests" / "golden" / "explain"
MATMUL = ("matmul", "m=6", "n=5", "k=7")
CONV = ("conv2d", "n=1", "h=6", "w=6", "c=3", "k=5", "r=3", "s=3", "pad=1", "dtype=int8")
LARGE = (("tpu_v4", "matmul", "m=1", "n=4096", "k=4096"), ("tpu_v4", "matmul", "m=300", "n=300", "k=300", "batch=3"),
         ("tpu_v1", "conv2d", "n=1", "h=28", "w=28", "c=64", "k=64", "r=3", "s=3", "pad=1", "dtype=int8"),
         ("tpu_v4", "conv2d", "n=2", "h=28", "w=28", "c=128", "k=256", "r=3", "s=3", "stride=2", "groups=2"))
ON_THE_VECTOR_UNIT = (("softmax", "rows=3", "cols=9"), ("pool", "kind=max", "n=1", "h=4", "w=4", "c=2", "r=2", "s=2"),
                      ("conv2d", "n=1", "h=4", "w=4", "c=4", "k=4", "r=3", "s=3", "groups=4"),
                      ("embedding", "vocabulary=8", "width=4", "lookups=3"),
                      ("gather", "rows=8", "width=4", "lookups=3"), ("slice", "rows=4", "cols=9", "size=3"))


def number(text):
    return int(text.replace(",", ""))


def worked_out(numbers):
    """`2 x 4 + 4 - 2 + 3 x max(6, 4)` by Python."""
    return eval(re.sub(r"(?<=\d),(?=\d{3})", "", numbers).replace(" x ", " * "), {"max": max})


class Explanations(ProgramTest):
    def explain(self, *words):
        text = self.answer("explain", *words)
        for line in text.splitlines():
            self.assertLessEqual(len(line), 100, line)
            self.assertEqual(line, line.rstrip())
        return text

    def total(self, *words):
        return json.loads(self.answer("op", *words, "--format", "json"))["devices"][0]["total"]

    def check_cycles(self, *words):
        """Formulas are what their numbers give; run, classes and utilization are those of `op`."""
        text, total = self.explain(*words), self.total(*words)
        formulas = re.findall(r"= ([^=\n]*[\d)]) = ([\d,]+) cycles\n", text)
        self.assertEqual(len(formulas), 3)
        for numbers, cycles in formulas:
            self.assertEqual(worked_out(numbers), number(cycles), numbers)
        alone, run, more = re.search(r"\n   cycles +([\d,]+) +([\d,]+) +([\d,]+) ", text).groups()
        self.assertEqual(number(run), total["cycles"])
        self.assertEqual(number(run) - number(alone), number(more))
        rows = re.findall(r"\n   (\w+) +(-|[\d,]+\.\d) +(-|[\d,]+\.\d) +(-?[\d,]*\.?\d*) +(\d+\.\d)  ", text)
        self.assertGreater(len(rows), 2)
        for column, expected in ((1, number(alone)), (2, number(run))):
            cells = [float(row[column].replace(",", "")) for row in rows if row[column] != "-"]
            self.assertAlmostEqual(sum(cells), expected, delta=0.1 * len(rows))
        for name, _, _, _, percent in rows:
            self.assertAlmostEqual(float(percent), 100 * total["classes"][name], delta=0.051)
        products = [float(x) for x in re.findall(r"\n   [A-Za-z, ]+ +\d+\.\d +(\d+\.\d)  ", text.split("\n5. ")[1])]
        self.assertEqual(products, sorted(products, reverse=True))
        self.assertAlmostEqual(products[-1], 100 * total["classes"]["useful"], delta=0.051)
        self.assertIn(f"utilization {100 * total['utilization']:.1f} %.", " ".join(text.split()))
        return text

    def test_a_utilization_of_another_definition_is_told_from_the_share_that_is_explained(self):
        words = ("scalesim", "matmul", "m=40", "n=70", "k=50")
        text, off = self.check_cycles(*words), ("--set", "faults.utilization_less_one_cycle=off")
        self.assertIn("\n5. Why the useful share of all slots is ", text)
        self.assertIn("(faults.utilization_less_one_cycle)", " ".join(text.split()))
        self.assertIn("\n5. Why the utilization is ", self.check_cycles(*words, *off))

    def golden(self, name, *words):
        text, path = self.check_cycles(*words), GOLDEN / f"{name}.txt"
        if os.environ.get("SYSTOLE_UPDATE_GOLDEN"):
            path.write_text(text)
        self.maxDiff = None
        self.assertEqual(text, path.read_text())

    def test_a_matmul_reads_as_it_was_reviewed(self):
        self.golden("matmul", DEVICE, *MATMUL)

    def test_a_convolution_reads_as_it_was_reviewed(self):
        self.golden("conv2d", DEVICE, *CONV)

    def test_large_machines_are_explained_on_a_page_s_width(self):
        for words in LARGE:
            with self.subTest(words):
                self.check_cycles(*words)

    def test_what_comes_behind_a_sum_is_told_after_it(self):
        sizes = ("m=6", "n=5", "k=7")
        for more, line in ((("bias=true",), "out[m, n] + bias[n]"), (("activation=relu",), "relu(out[m, n])"),
                           (("bias=true", "activation=relu"), "relu(out[m, n] + bias[n])")):
            text = self.check_cycles(DEVICE, "matmul", *sizes, *more)
            self.assertIn(f"K = 7\n   and then {line}\n", text)
            self.assertEqual("     bias matmul.bias " in text, "bias=true" in more)
        self.assertIn("and then relu(out[m, n] + bias[n])\n",
                      self.check_cycles(DEVICE, *CONV, "bias=true", "activation=relu"))

    def test_every_dataflow_is_explained(self):
        for dataflow, stays in (("ws", "weights b"), ("os", "outputs"), ("is", "activations a")):
            settings = [word for path in ("dataflow=" + dataflow, "weight_fifo_tiles=" + ("2" if dataflow == "ws" else "0"))
                        for word in ("--set", "mxu." + path)]
            for extra in ([], ["--set", "mxu.shadow_register=off"], ["--set", "mxu.rate.int8=2"], ["--set", "mxu.rate.int8=1/2"],
                          ["--set", "mxu.accumulator_latency=9"], ["--set", "mxu.rows=1"], ["--set", "mxu.cols=1"]):
                words = (DEVICE, *MATMUL, "dtype=int8", *settings, *extra)
                with self.subTest(words):
                    if self.run_systole("op", *words).returncode != 0:
                        self.skipTest(f"{dataflow}: the machine does not run it")
                    self.assertIn(f"stays  {stays}", self.check_cycles(*words))

    def test_folds_that_wait_for_sums_on_their_way_are_counted(self):
        text = self.check_cycles(DEVICE, *MATMUL, "--set", "mxu.accumulator_latency=9")
        self.assertIn("+ 6 cycles: a fold adds to sums that are 9 cycles old at least", text)

    def test_operators_that_no_array_works_on_are_explained_without_one(self):
        for words in ON_THE_VECTOR_UNIT:
            with self.subTest(words):
                text = self.explain(DEVICE, *words)
                self.assertIn("arrays stand still", text)
                self.assertIn(f"{self.total(DEVICE, *words)['cycles']:,} cycles = ", text)

    def test_weights_that_are_stored_in_other_formats_are_refused_with_the_reason(self):
        words = ("explain", "tpu_v4", "matmul", "m=64", "n=64", "k=64")
        for more in (("dtype_b=int4",), ("sparsity=2:4",), ("sparsity=2:4", "--set", "mxu.sparsity=2:4")):
            self.assertIn("unpacked on their way into the arrays, or sparse, are not explained",
                          self.refusal(*words, *more))
        self.assertIn("with fused=false there are two layers", self.refusal(*words, "scales=tensor", "fused=false"))

    def test_hints_that_claim_a_simulation_are_one(self):
        words = (DEVICE, *MATMUL, "--set", "mxu.shadow_register=off")
        text, total = self.explain(*words), self.total(DEVICE, *MATMUL)
        self.assertIn(f"simulated   a shadow register in every PE:\n               {total['cycles']} cycles instead of",
                      text)

    def test_settings_and_engines_count(self):
        self.assertIn("1 MXU of 2 x 4 PEs", self.explain(DEVICE, *MATMUL, "--set", "mxu.rows=2"))
        self.assertIn("waiting for the host", self.explain(DEVICE, *MATMUL, "--set", "run.inputs_at=host"))
        words = (DEVICE, *MATMUL, "dtype=int8")
        self.assertEqual(self.explain(*words), self.explain(*words, "--set", "mxu.engine=grid"))

    def test_equal_questions_give_equal_bytes(self):
        self.assertEqual(self.explain(DEVICE, *CONV), self.explain(DEVICE, *CONV))


class WrongUse(ProgramTest):
    def test_help_teaches_by_example(self):
        text = self.answer("help", "explain")
        self.assertEqual(text, self.answer("explain", "--help"))
        lines = re.findall(r"\n  systole (explain .*)\n", text)
        self.assertGreater(len(lines), 2)
        for line in lines:
            self.assertIn("Weighed by estimate" if "h100" in line else "3. One pass", self.answer(*line.split()))

    def test_wrong_words_are_refused_as_by_op(self):
        for words, word in (((), "missing DEVICE"), ((DEVICE,), "missing OPERATOR"), ((DEVICE, "m=8"), "missing OPERATOR"),
                            ((DEVICE, "matmul", "m=8", "n=8"), "'k' is missing"), ((DEVICE, "matmull", "m=8"), "'matmull'"),
                            ((DEVICE, *MATMUL, "kk=3"), "did you mean 'k'?"), ((DEVICE, *MATMUL, "m=9"), "twice"),
                            ((DEVICE, *MATMUL, "batch"), "key=value"), ((DEVICE, *MATMUL, "batch=-1"), "batch"),
                            ((DEVICE, *MATMUL, "batch=99999999999999999999"), "batch"),
                            ((DEVICE, *MATMUL, "dtype=fp16"), "fp32"), (("nowhere", *MATMUL), "nowhere"),
                            (("tpu_v1", *MATMUL), "dtype is missing"),
                            ((DEVICE, *MATMUL, "--set", "workload.batch=2"), "workload.batch"),
                            ((DEVICE, *MATMUL, "--set", "mxu.rowz=2"), "did you mean 'mxu.rows'?"),
                            ((DEVICE, *MATMUL, "--set", "mxu.rows=-2"), "mxu.rows"),
                            ((DEVICE, *MATMUL, "--format", "json"), "unknown option"),
                            ((DEVICE, "matmul", "m=2000000000", "n=2000000000", "k=2000"), "2^63")):
            with self.subTest(words):
                self.assertIn(word, self.refusal("explain", *words))


if __name__ == "__main__":
    unittest.main()
