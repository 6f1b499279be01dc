# SPDX-License-Identifier: Apache-2.0
"""What runs cost: --cost of systole run and compare, and the columns of a sweep."""

import csv
import json
import re
import unittest

from program import DEVICE, HOME, TRACE, ProgramTest

RENT = "cost.rent=3.6 USD/h"  # a thousandth of a dollar each second
BOUGHT = "cost: {purchase: 30000 USD, purchase_on: 2025-11, life: 4 years, electricity: 0.1 USD/kWh, power_overhead: 1.1}\n"


class Cost(ProgramTest):
    def cost(self, *words):
        run = json.loads(self.answer("run", *words, "--cost", "--format", "json"))["devices"][0]
        (price,) = run["cost"]["prices"]
        return run, price

    def test_a_rent_is_told_for_a_run_and_a_thousand_images(self):
        run, price = self.cost(DEVICE, TRACE, "--set", RENT, "--set", "cost.utilization=0.5", "--set", "workload.batch=4")
        seconds = run["total"]["time_ns"] * 1e-9
        self.assertEqual(run["batch_of"], {"what": "images", "count": 4})
        self.assertEqual(run["cost"]["utilization"], 0.5)
        self.assertEqual(price["price"], "rent")
        self.assertIsNone(price["on"])
        self.assertEqual(price["source"], "tried by --set")
        self.assertAlmostEqual(price["usd_per_hour"], 3.6)
        self.assertAlmostEqual(price["usd_per_run"] / (0.002 * seconds), 1)
        self.assertAlmostEqual(price["usd_per_1000_images"] / (0.002 * seconds * 250), 1)
        self.assertEqual(price["usd_per_1000_items"], price["usd_per_1000_images"])
        for key in ("electricity_usd_per_run", "usd_per_million_tokens", "usd_per_step"):
            self.assertIsNone(price[key])

    def test_nobody_is_told_who_did_not_ask(self):
        run = json.loads(self.answer("run", "tpu_v4", TRACE, "--format", "json"))["devices"][0]
        self.assertIsNone(run["cost"])
        self.assertNotIn("USD", self.answer("run", "tpu_v4", TRACE))

    def test_a_preset_tells_when_its_price_was_asked_and_by_whom(self):
        text = self.answer("run", "tpu_v5e", TRACE, "--cost")
        self.assertRegex(text, r"device +price +USD/h +worked % +USD/run +USD/1,000 images +electricity\n")
        self.assertRegex(text, r"\ntpu_v5e +rented, 2025-02 +1\.200 +100\.0 .* in the rent\n")
        self.assertIn("\ntpu_v5e: rent of 2025-02, sourced: ", text)

    def test_tokens_and_steps_are_of_all_chips(self):
        self.write("step.yaml", "trace: step\nserving: {phase: train, batch: 2, context: 8, tensor_parallel: 2, data_parallel: 4}\n"
                   "training: {optimizer: sgd, data_parallel: 4}\ninputs: {x: {shape: [16, 32], dtype: bf16}}\n"
                   "layers:\n  - {name: out, op: matmul, n: 64}\noutputs: [out]\n")
        run, price = self.cost("tpu_v4", "step.yaml", "--set", RENT)
        each = run["total"]["time_ns"] * 1e-12
        self.assertAlmostEqual(price["usd_per_run"] / each, 1)
        self.assertAlmostEqual(price["usd_per_step"] / (8 * each), 1)
        self.assertAlmostEqual(price["usd_per_million_tokens"] / (2 * each / 16 * 1e6), 1)
        self.assertIn("USD/step", self.answer("run", "tpu_v4", "step.yaml", "--cost"))

    def test_a_comparison_tells_the_cost_of_every_device(self):
        words = ["compare", TRACE, "--device", "tpu_v5e", "--device", "mine=" + DEVICE, "--set", "mine:" + RENT, "--cost"]
        devices = json.loads(self.answer(*words, "--format", "json"))["devices"]
        self.assertEqual([device["cost"]["prices"][0]["usd_per_hour"] for device in devices], [1.2, 3.6])
        self.assertRegex(self.answer(*words), r"\nmine +rented +3\.600 ")

    def test_a_device_without_prices_is_refused_where_a_cost_is_asked(self):
        wanted = (r"error: {}: cost.rent or cost.purchase is missing; expected a price of the device: "
                  r"--set cost.rent='3.2 USD/h'")
        self.assertRegex(self.refusal("run", "tpu_v1", "tpu_v1_mlp0", "--cost"), wanted.format("tpu_v1"))
        self.assertRegex(self.refusal("compare", TRACE, "--device", "tpu_v4", "--device", "old=tpu_v3", "--cost"),
                         wanted.format("old"))

    def test_a_device_that_was_bought_needs_an_energy(self):
        self.write("mine.yaml", f"device: Mine\nextends: {DEVICE}\n" + BOUGHT)
        self.answer("run", "mine.yaml", TRACE)
        self.assertIn("mine: the energy of the whole device is missing", self.refusal("run", "mine.yaml", TRACE, "--cost"))

    def test_what_was_bought_is_written_off_and_draws_electricity(self):
        self.write("mine.yaml", "device: Mine\nextends: tpu_v4\n" + BOUGHT.replace("cost: {", "cost: {preset: data_center, "))
        run, price = self.cost("mine.yaml", "resnet50")
        hours, kwh = run["total"]["time_ns"] / 3.6e12, run["energy"]["total_pj"] * 1e-12 / 3.6e6
        self.assertEqual((price["price"], price["on"]), ("purchase", "2025-11"))
        self.assertAlmostEqual(price["electricity_usd_per_run"] / (kwh * 1.1 * 0.1), 1)
        self.assertAlmostEqual(price["usd_per_run"] / (30000 / 4 / 8766 * hours + kwh * 1.1 * 0.1), 1)
        self.assertAlmostEqual(price["usd_per_hour"] * hours / price["usd_per_run"], 1)

    def test_both_prices_are_told(self):
        words = ["run", "tpu_v4", TRACE, "--cost"]
        for setting in ("cost.purchase=30000 USD", "cost.life=4 years"):
            words += ["--set", setting]
        self.assertRegex(self.answer(*words), r"\ntpu_v4 +rented, .* in the rent\ntpu_v4 +bought +.* %\n")

    def test_wrong_prices_are_refused_at_their_place(self):
        for value, wanted in (("-3 USD/h", "cost.rent: '-3 USD/h' is negative"), ("0 USD/h", "is zero; expected more than 0"),
                              ("3.2", "'3.2' has no unit; expected a price such as '3.22 USD/h'"), ("3 USD/kWh", "unknown unit")):
            with self.subTest(value=value):
                self.assertIn(wanted, self.refusal("run", DEVICE, TRACE, "--set", "cost.rent=" + value))
        self.write("mine.yaml", f"device: Mine\nextends: {DEVICE}\ncost: {{rent: 3 USD/h}}\n")
        self.assertIn("cost.rent_on", self.refusal("run", "mine.yaml", TRACE))
        self.assertIn("--format", self.refusal("run", "tpu_v4", TRACE, "--cost", "--format", "csv"))

    def test_the_effective_configuration_has_the_same_prices(self):
        self.answer("run", "tpu_v5e", TRACE, "-o", "out")
        again, price = self.cost("out/effective.yaml", TRACE)
        self.assertEqual((price["on"], price["usd_per_hour"]), ("2025-02", 1.2))

    def test_what_a_trace_is_a_batch_of_is_one_of_a_list(self):
        def trace(batch):
            return self.write("net.yaml", f"trace: net\nparams: {{batch: 2}}\n{batch}\ninputs: {{x: {{shape: [batch, 8], dtype: bf16}}}}\n"
                              "layers:\n  - {name: out, op: softmax}\noutputs: [out]\n")
        for batch, wanted in (("batch_of: {image: batch}", "did you mean 'images'?"), ("batch_of: {images: 0}", "1"),
                              ("batch_of: images", "must be a map of one of images"), ("batch_of: {}", "images"),
                              ("batch_of: {images: 1, queries: 1}", "a batch of 'images' is not one of 'queries'"),
                              ("serving: {phase: prefill, batch: 1, context: 2}\nbatch_of: {images: 1}", "'serving' says already")):
            with self.subTest(batch=batch):
                self.assertIn(wanted, self.refusal("show", "trace", trace(batch)))


class CostOfSweeps(ProgramTest):
    def sweep(self, text):
        self.write("sweep.yaml", text)
        self.answer("sweep", "sweep.yaml", "-o", "out")
        with open(self.directory / "out" / "points.csv", newline="") as table:
            return list(csv.DictReader(table))

    def test_points_have_columns_of_cost(self):
        rows = self.sweep(f"device: {DEVICE}\ntrace: {TRACE}\naxes: {{cost.rent: [1 USD/h, 2 USD/h], workload.batch: [1, 2]}}\n"
                          "objectives: [usd_per_1000_images, time_ns]\n")
        self.assertEqual(len(rows), 4)
        for row in rows:
            price = float(row["cost.rent"].split()[0])
            self.assertAlmostEqual(float(row["usd_per_run"]) / (price * float(row["time_ns"]) * 1e-9 / 3600), 1)
            self.assertAlmostEqual(float(row["usd_per_1000_images"]) / float(row["usd_per_run"]), 1000 / int(row["workload.batch"]))
            self.assertEqual((row["usd_per_million_tokens"], row["usd_per_step"]), ("", ""))

    def test_a_device_without_prices_has_empty_columns(self):
        (row,) = self.sweep(f"device: {DEVICE}\ntrace: {TRACE}\naxes: {{workload.batch: [1]}}\n")
        self.assertEqual((row["status"], row["usd_per_run"], row["usd_per_1000_images"]), ("done", "", ""))

    def test_an_objective_that_nobody_can_have_is_an_error(self):
        for device, figure, wanted in ((DEVICE, "usd_per_run", "cost.rent or cost.purchase is missing"),
                                       ("tpu_v4", "usd_per_million_tokens", "it says nothing of tokens"),
                                       ("tpu_v4", "usd_per_step", "it is no step of training")):
            with self.subTest(figure=figure):
                self.write("sweep.yaml", f"device: {device}\ntrace: {TRACE}\naxes: {{workload.batch: [1, 2]}}\n"
                           f"objectives: [time_ns, {figure}]\n")
                message = self.refusal("sweep", "sweep.yaml", "-o", "out")
                self.assertRegex(message, r"sweep\.yaml:4:\d+: error: '" + figure + "'")
                self.assertIn(wanted, message)
                self.assertEqual(len(message.splitlines()), 1)


class PresetsPrices(unittest.TestCase):
    def test_no_preset_has_the_price_of_another_chip(self):
        """What extends a preset with a price says itself what its own is, or that it has none."""
        texts = {path.stem: path.read_text() for path in (HOME / "configs/devices").glob("*.yaml")}
        bases = {name: found.group(1) for name, text in texts.items() if (found := re.search(r"^extends: (\S+)", text, re.M))}

        def priced(name):
            if re.search(r"^cost:\n  preset: ", texts[name], re.M):
                return bool(re.search(r"^  (rent|purchase): ", texts[name].split("\ncost:\n")[1], re.M))
            return name in bases and priced(bases[name])

        for name, text in texts.items():
            with self.subTest(device=name):
                if name in bases and priced(bases[name]):
                    self.assertRegex(text, r"(?m)^cost:\n  preset: ")
        self.assertTrue(priced("tpu_v4") and priced("h100"))
        self.assertFalse(priced("tpu_v7") or priced("gb200"))


if __name__ == "__main__":
    unittest.main()
