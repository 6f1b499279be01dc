# SPDX-License-Identifier: Apache-2.0
"""With placement.trials runs judge mappings: what they find is never slower, is told, and is read back."""
import json
import unittest

from program import ProgramTest

PRODUCT = ("op", "tpu_v4", "matmul", "m=1024", "n=1024", "k=1024")


def trials(count):
    return ("--set", f"placement.trials={count}")


class Trials(ProgramTest):
    def result(self, *arguments):
        return json.loads(self.answer(*arguments, "--format", "json"))["devices"][0]

    def cycles(self, *arguments):
        return self.result(*arguments)["total"]["cycles"]

    def test_what_is_found_is_never_slower_and_is_told(self):
        for question in (PRODUCT, ("op", "tpu_v4", "conv2d", "n=1", "h=28", "w=28", "c=128", "k=128", "r=3", "s=3", "pad=1"),
                         ("run", "tpu_v4", "resnet50"), ("run", "tpu_v4", "resnet50", "--set", "workload.batch=8"),
                         ("run", "tpu_v4_chip", "vgg16"), ("run", "tpu_v1", "three_layers"),
                         ("run", "scalesim", "three_layers"), ("run", "tpu_v4", "dlrm")):
            with self.subTest(question=question):
                own, tried = self.cycles(*question, *trials(1)), self.result(*question, *trials(3))
                found = tried["total"]["cycles"]
                self.assertLessEqual(found, own)
                (choice,) = tried["choices"]
                self.assertEqual((choice["key"], choice["value"]), ("placement.trials", "3"))
                self.assertRegex(choice["why"], rf"^\d runs? simulated(, \d+ refused)?: {own:,} cycles")
                if found < own:
                    self.assertRegex(choice["why"], rf", {found:,} with (another mapping|\d+ of \d+ mappings changed)$")
                else:
                    self.assertRegex(choice["why"], "(none faster|no other mapping to try)$")
        # This one is a case in which the estimate is wrong.
        self.assertLess(self.cycles(*PRODUCT, *trials(8)), 0.95 * self.cycles(*PRODUCT, *trials(1)))
        self.assertIn("Chosen: placement.trials=8 (8 runs simulated: ", self.answer(*PRODUCT, *trials(8)))

    def test_a_small_operator_by_itself_is_tried_where_nobody_says_how_often(self):
        (choice,) = self.result(*PRODUCT)["choices"]
        self.assertEqual((choice["key"], choice["value"]), ("placement.trials", "8"))
        self.assertEqual(self.cycles(*PRODUCT), self.cycles(*PRODUCT, *trials(8)))
        for untried in (("op", "tpu_v4", "matmul", "m=4096", "n=2048", "k=2048"), ("run", "tpu_v4", "three_layers"),
                        ("op", "scalesim", "matmul", "m=64", "n=64", "k=64"),
                        ("op", "tpu_v4", "softmax", "rows=64", "cols=64")):
            plain, one = (self.result(*untried, *more) for more in ((), trials(1)))
            self.assertEqual((plain["choices"], plain["total"]), ([], one["total"]))

    def test_one_trial_is_the_estimate(self):
        plain, one = (self.result("run", "tpu_v4", "resnet50", *more) for more in ((), trials(1)))
        self.assertEqual({**plain, "config": ""}, {**one, "config": ""})
        self.assertEqual(plain["choices"], [])

    def test_the_mapping_that_is_written_takes_the_same_cycles_without_trials(self):
        product = self.write("product.yaml", "trace: product\ninputs: {x: {shape: [1024, 1024], dtype: bf16}}\n"
                                             "layers: [{name: out, op: matmul, n: 1024}]\noutputs: [out]\n")
        for question in (("run", "tpu_v4", "resnet50"), ("run", "tpu_v4", "resnet50", "--set", "workload.batch=8"),
                         ("run", "tpu_v4_chip", "vgg16"), ("run", "tpu_v1", "three_layers"),
                         ("run", "tpu_v4", "bert_base", "--set", "workload.layers=24", "--set", "workload.seq=256"),
                         ("run", "tpu_v4", product)):
            # The transformer's turns are reused.
            with self.subTest(question=question):
                self.answer(*question, *trials(4), "-o", "tried")
                self.answer(*question, "--mapping", "tried/mapping.yaml", "-o", "again")
                self.assertEqual(self.read("tried/mapping.yaml"), self.read("again/mapping.yaml"))
                tried, again = (json.loads(self.read(f"{name}/result.json"))["devices"][0] for name in ("tried", "again"))
                for key in ("total", "layers", "tensors", "critical_path", "stats"):
                    self.assertEqual(tried[key], again[key])

    def test_the_same_question_has_the_same_answer(self):
        for name in ("first", "second"):
            self.answer("run", "tpu_v4", "resnet50", *trials(4), "-o", name)
        for name in ("result.json", "mapping.yaml", "layers.csv"):
            self.assertEqual(self.read(f"first/{name}"), self.read(f"second/{name}"))

    def test_layers_that_are_mapped_by_hand_are_kept(self):
        self.answer("run", "tpu_v4", "resnet50", *trials(8), "-o", "free")
        self.answer("run", "tpu_v4", "resnet50", "-o", "own")
        layer = next(a.split(":")[0].strip() for a, b in zip(self.read("free/mapping.yaml").decode().splitlines(),
                                                             self.read("own/mapping.yaml").decode().splitlines()) if a != b)
        line = next(line for line in self.read("own/mapping.yaml").decode().splitlines() if line.startswith(f"  {layer}:"))
        self.write("m.yaml", f"mapping: x\nlayers:\n{line}\n")
        self.answer("run", "tpu_v4", "resnet50", *trials(8), "--mapping", "m.yaml", "-o", "held")
        self.assertIn(line, self.read("held/mapping.yaml").decode().splitlines())
        self.assertNotEqual(self.read("held/mapping.yaml"), self.read("own/mapping.yaml"))
        # With every layer by hand nothing is left to try.
        why = self.result("run", "tpu_v4", "resnet50", *trials(8), "--mapping", "own/mapping.yaml")["choices"][0]["why"]
        self.assertRegex(why, "^1 run simulated: .* no other mapping to try$")
        self.assertNotIn("Runs have decided", self.answer("explain", "tpu_v4", "matmul", "m=128", "n=64", "k=128", "batch=24"))

    def test_programs_timelines_and_explanations_are_of_the_mapping_that_was_found(self):
        for question in (("tpu_v4", "resnet50"), ("tpu_v4_chip", "three_layers")):
            found = self.cycles("run", *question, *trials(3))
            self.write("p.txt", self.answer("lower", *question, *trials(3)))
            self.assertEqual(self.cycles("run", question[0], "--program", "p.txt"), found)
            self.answer("run", *question, *trials(3), "--timeline", "t.json", "-o", "timeline")
            timed = json.loads(self.read("timeline/result.json"))["devices"][0]["total"]["cycles"]
            self.assertEqual(timed, found)
        found = self.cycles(*PRODUCT, *trials(8))
        page = " ".join(self.answer("explain", *PRODUCT[1:], *trials(8)).split())
        self.assertIn(f"cycles with the mapper's own, {found:,} with another mapping): "
                      f"{self.result(*PRODUCT, *trials(8))['layers'][0]['mapping']}.", page)

    def test_each_dataflow_has_its_own_trials(self):
        auto = (*PRODUCT, "--set", "mxu.dataflow=auto")
        own, tried = (self.result(*auto, *trials(count)) for count in (1, 4))
        self.assertLessEqual(tried["total"]["cycles"], own["total"]["cycles"])
        self.assertEqual([choice["key"] for choice in tried["choices"]], ["placement.trials", "mxu.dataflow"])

    def test_no_other_number_of_trials_is_taken(self):
        for value in ("-1", "65", "1.5", "x", "", "1e3", "99999999999999999999"):
            self.assertIn("placement.trials", self.refusal(*PRODUCT, *trials(value)))


if __name__ == "__main__":
    unittest.main()
