# SPDX-License-Identifier: Apache-2.0
"""systole trace llm: steps of language models, run and told in tokens."""

import json
import math
import random
import unittest

from program import DEVICE, HOME, ProgramTest

SMALL = {"model_type": "llama", "hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "num_key_value_heads": 2,
         "num_hidden_layers": 2, "vocab_size": 64, "max_position_embeddings": 4096}
SPARSE = {**SMALL, "model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2}
LATENT = {**SMALL, "model_type": "deepseek_v3", "num_key_value_heads": 4, "q_lora_rank": 16, "kv_lora_rank": 16,
          "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8, "n_routed_experts": 4, "n_shared_experts": 1,
          "num_experts_per_tok": 2, "moe_intermediate_size": 16, "first_k_dense_replace": 1}
GPT = {"model_type": "gpt2", "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "vocab_size": 64}
OPT = {"model_type": "opt", "hidden_size": 32, "ffn_dim": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 64}


class TraceLlm(ProgramTest):
    def small(self, config=None):
        return self.write("config.json", json.dumps(config or SMALL))

    def step(self, device, *options, settings=()):
        self.answer("trace", "llm", "config.json", *options, "-o", "step.yaml")
        return json.loads(self.answer("run", device, "step.yaml", *settings, "--format", "json"))["devices"][0]

    def test_a_step_is_run_and_told_in_tokens(self):
        self.small()
        run = self.step("tpu_v4", "--batch", "3", "--context", "40")
        serving, seconds = run["serving"], run["total"]["time_ns"] * 1e-9
        self.assertEqual({key: serving[key] for key in ("phase", "batch", "context", "new_tokens", "tensor_parallel",
                                                        "data_parallel")},
                         {"phase": "decode", "batch": 3, "context": 40, "new_tokens": 1, "tensor_parallel": 1,
                          "data_parallel": 1})
        self.assertAlmostEqual(serving["time_per_output_token_ns"], run["total"]["time_ns"])
        self.assertIsNone(serving["time_to_first_token_ns"])
        self.assertAlmostEqual(serving["tokens_per_s"] * seconds, 3)
        self.assertEqual(serving["tokens_per_s"], serving["tokens_per_s_per_chip"])
        self.assertIn("Decode of 3 sequences, 40 tokens each with the new one, on one chip: ", self.answer("run", "tpu_v4", "step.yaml"))
        self.assertIsNone(json.loads(self.answer("run", DEVICE, "three_layers", "--format", "json"))["devices"][0]["serving"])

    def test_shares_are_of_all_chips_together(self):
        self.small()
        run = self.step("tpu_v4", "--phase", "prefill", "--batch", "2", "--context", "16", "--tensor-parallel", "2")
        serving, seconds = run["serving"], run["total"]["time_ns"] * 1e-9
        self.assertAlmostEqual(serving["time_to_first_token_ns"], run["total"]["time_ns"])
        self.assertIsNone(serving["time_per_output_token_ns"])
        self.assertAlmostEqual(serving["tokens_per_s"] * seconds, 32)
        self.assertAlmostEqual(serving["tokens_per_s_per_chip"] * 2, serving["tokens_per_s"])
        self.assertRegex(self.answer("run", "tpu_v4", "step.yaml"), r"Prefill of 2 x 16 tokens on 2 chips: .* for each chip\.")

    def test_what_is_told_stays_true_where_parameters_are_set(self):
        self.small()
        run = self.step("tpu_v4", "--phase", "prefill", "--context", "16", settings=("--set", "workload.q_len=8"))
        self.assertAlmostEqual(run["serving"]["tokens_per_s"] * run["total"]["time_ns"] * 1e-9, 8)
        run = self.step("tpu_v4", "--context", "16", "--batch", "3", settings=("--set", "workload.q_len=4"))
        self.assertAlmostEqual(run["serving"]["tokens_per_s"] * run["total"]["time_ns"] * 1e-9, 12)
        self.assertAlmostEqual(run["serving"]["time_per_output_token_ns"], run["total"]["time_ns"] / 4, delta=1)

    def test_every_kind_of_decoder_runs(self):
        for config in (SMALL, SPARSE, LATENT, GPT, OPT):
            self.small(config)
            for options in (("--batch", "3"), ("--phase", "prefill"), ("--tensor-parallel", "2"),
                            ("--phase", "prefill", "--kv", "int8", "--weights", "int8", "--tensor-parallel", "4")):
                with self.subTest(model=config["model_type"], options=options):
                    run = self.step("tpu_v5e", *options, "--context", "24")
                    self.assertGreater(run["serving"]["tokens_per_s"], 0)

    def test_the_default_step_is_the_import(self):
        """Two ways to the same layers: import, and a decode step of one sequence."""
        for model in ("llama3_8b", "mixtral_8x7b", "deepseek_v2_lite"):
            with self.subTest(model=model):
                self.answer("trace", "llm", model, "--context", "8192", "-o", "step.yaml")
                file = str(HOME / "configs" / "models" / f"{model}.json")
                window = ("--set", "workload.kv_len=8192")
                ours, theirs = (json.loads(self.answer("show", "trace", name, *window, "--format", "json"))
                                for name in ("step.yaml", file))
                self.assertEqual(ours["layers"], theirs["layers"])

    def test_models_are_listed_and_found(self):
        listed = self.answer("list", "models")
        for file in (HOME / "configs" / "models").glob("*.json"):
            self.assertRegex(listed, rf"(?m)^{file.stem} +\w+ +\S")
        self.assertIn("did you mean 'llama3_8b'?", self.refusal("trace", "llm", "llama3_8"))
        self.assertIn("systole trace llm llama3_70b", self.answer("help", "trace"))

    def test_what_cannot_be_is_refused_and_nothing_is_written(self):
        self.small()
        for options, message in (
                (("--phase", "decod"), "did you mean 'decode'?"),
                (("--batch", "0"), "--batch"),
                (("--batch", "1.5"), "--batch"),
                (("--batch", "99999999999999999999"), "--batch"),
                (("--context", "-1"), "--context"),
                (("--weights", "int3"), "--weights"),
                (("--weights", "nvfp5"), "did you mean 'nvfp4'?"),
                (("--activations", "fp8"), "--activations"),
                (("--activations", "as-weights"), "the weights are bf16"),
                (("--weights", "mxfp8", "--activations", "bf16"), "read activations in blocks, too"),
                (("--phase", "train", "--activations", "as-weights"), "--activations is for serving"),
                (("--kv", "int4"), "--kv"),
                (("--tensor-parallel", "3"), "3 chips do not divide the heads of 4"),
                (("--tensor-parallel", "100000"), "--tensor-parallel"),
                (("--weights", "int4"), "groups of 128 that share a scale do not divide the width of 32"),
                (("--phase", "prefill", "--new-tokens", "3"), "--new-tokens is for --phase decode"),
                (("--phase", "train", "--weights", "int8"), "--weights is for serving, not for --phase train"),
                (("--phase", "train", "--kv", "int8"), "--kv is for serving"),
                (("--phase", "train", "--routing", "worst"), "--routing is for serving"),
                (("--phase", "train", "--new-tokens", "2"), "--new-tokens is for --phase decode"),
                (("--phase", "train", "--optimizer", "adan"), "did you mean 'adam'?"),
                (("--phase", "train", "--gradients", "int8"), "--gradients"),
                (("--phase", "train", "--data-parallel", "0"), "--data-parallel"),
                (("--phase", "train", "--data-parallel", "7"), "7 chips do not divide"),
                (("--data-parallel", "2"), "--data-parallel is for --phase train"),
                (("--recompute", "blocks"), "--recompute is for --phase train"),
                (("--routing", "odd"), "--routing"),
                (("--batch", "2147483647", "--context", "2147483647"), "config.json"),
                (("-o", "no/such/folder.yaml"), "folder")):
            with self.subTest(options=options):
                self.assertIn(message, self.refusal("trace", "llm", "config.json", *options))
        huge = self.write("huge.json", json.dumps({**LATENT, "num_attention_heads": 2**31 - 1}))
        self.assertIn("at most 4096 are taken", self.refusal("trace", "llm", huge, "--phase", "prefill"))
        self.assertIn("'vision' is not llm", self.refusal("trace", "vision", "config.json"))
        self.assertIn("error", self.refusal("trace", "llm", "missing.json"))
        self.assertIn("error", self.refusal("trace", "llm"))
        self.assertIn("'bert' is not known here", self.refusal("trace", "llm", self.small({"model_type": "bert"})))

    def test_a_step_of_training_is_shown(self):
        for config in (SMALL, GPT, OPT):
            with self.subTest(model=config["model_type"]):
                self.small(config)
                options = ("trace", "llm", "config.json", "--phase", "train", "--batch", "2", "--context", "16")
                self.answer(*options, "--data-parallel", "2", "--optimizer", "momentum", "-o", "step.yaml")
                self.answer("trace", "llm", "config.json", "--phase", "prefill", "--context", "16", "-o", "there.yaml")
                step, there = (json.loads(self.answer("show", "trace", name, "--format", "json"))
                               for name in ("step.yaml", "there.yaml"))
                # Weights that gradients and optimizers read once more are counted once.
                self.assertEqual(step["parameters"], there["parameters"])
                self.assertEqual(step["weight_bytes"], there["weight_bytes"])
                self.assertEqual(step["weight_bytes"], sum(layer["weight_bytes"] for layer in step["layers"]))
                layers = {layer["name"]: layer for layer in step["layers"]}
                updates = [layer for name, layer in layers.items() if name.endswith(".update")]
                self.assertEqual(step["state_bytes"], 4 * sum(math.prod(layer["output"]["shape"]) for layer in updates))
                back = layers["head.input_gradient"]
                self.assertEqual(back["weights"], layers["head"]["weights"])
                self.assertEqual((back["weight_bytes"], back["macs"]), (0, layers["head"]["macs"]))
                self.assertEqual([each["from"] for each in layers["head.weights_gradient.sum"]["inputs"]],
                                 ["head.weights_gradient"])
                text = self.answer("show", "trace", "step.yaml")
                self.assertRegex(text, r"(?m)^head\.weights_gradient +matmul +final_norm \+ head\.loss ")
                self.assertRegex(text, r"(?m)^decoder\.1\.value\.weights_gradient +matmul +attention_norm \+ ")
                self.assertIn("optimizer state", text)

    def test_a_step_of_training_runs(self):
        net = self.write("net.yaml", "trace: net\ntraining: {optimizer: sgd, data_parallel: 4}\n"
                         "inputs: {x: {shape: [8, 16], dtype: bf16}}\nlayers:\n  - {name: a, op: matmul, n: 32}\n"
                         "  - {name: b, op: matmul, n: 8}\noutputs: [b]\n")
        for device in ("tpu_v4", "tpu_v4_chip", "tpu_v5e"):
            with self.subTest(device=device):
                run = json.loads(self.answer("run", device, net, "--format", "json"))["devices"][0]
                # There and back: of a its own and the gradient of its weights, of b also that of its input.
                self.assertEqual(run["total"]["macs"], 8 * (2 * 16 * 32 + 3 * 32 * 8))
                weights = 16 * 32 + 32 * 8
                state = [move for move in run["total"]["bytes"]["moved"] if move["operand"] == "optimizer_state"]
                moved = {(move["from"] == "dram", move["to"] == "dram"): move["bytes"] for move in state}
                self.assertEqual(moved[True, False], 4 * weights)
                self.assertEqual(moved[False, True], 4 * weights)
                # Rings of four chips: each part of the gradients comes in, and goes out, three times twice.
                links = [move["bytes"] for move in run["total"]["bytes"]["moved"] if move["from"] == "chip_link"]
                self.assertEqual(sum(links), 2 * 3 * 2 * weights // 4)

    def test_gradients_of_masked_attention_run(self):
        # Of passes of which few products are hidden, what an even share leaves over is more than the last vector has room for.
        net = self.write("net.yaml", "trace: net\ntraining: {optimizer: adam}\ninputs: {x: {shape: [1, 500, 64], dtype: bf16}}\n"
                         "layers:\n  - {name: q, op: matmul, n: 512, in: x}\n  - {name: k, op: matmul, n: 128, in: x}\n"
                         "  - {name: v, op: matmul, n: 128, in: x}\n  - {name: a, op: attention, in: [q, k, v], heads: 4, kv_heads: 1, causal: true}\n"
                         "  - {name: o, op: matmul, n: 64}\noutputs: [o]\n")
        run = json.loads(self.answer("run", "tpu_v5p", net, "--format", "json"))["devices"][0]
        rows = {row["name"]: row for row in run["layers"]}
        pairs = 4 * 500 * 501 // 2
        for name in ("a.scores", "a.shares_gradient", "a.query_gradient", "a.key_gradient", "a.value_gradient"):
            self.assertEqual(rows[name]["macs"], pairs * 128)

    def test_experts_and_latents_are_trained(self):
        for config, product in ((SPARSE, "gate"), (LATENT, "query")):
            with self.subTest(model=config["model_type"]):
                self.small(config)
                run = self.step("tpu_v5p", "--phase", "train", "--context", "16")
                rows = {row["name"]: row for row in run["layers"]}
                # A product's two gradients are as much work as itself.
                for way in ("input_gradient", "weights_gradient"):
                    found = [name for name in rows if product in name and name.endswith("." + way)]
                    self.assertTrue(found, (way, sorted(rows)))
                    for name in found:
                        self.assertEqual(rows[name]["macs"], rows[name.removesuffix("." + way)]["macs"], name)
                # State of adam, two numbers of four bytes for each weight, is read and written once, also of experts that no
                # token met.
                moved = [move for move in run["total"]["bytes"]["moved"] if move["operand"] == "optimizer_state"]
                read, written = (sum(move["bytes"] for move in moved if move[end] == "dram") for end in ("from", "to"))
                self.assertGreater(read, 0)
                self.assertEqual(read, written)

    def test_the_configuration_is_not_written_over_and_routing_is_of_experts(self):
        self.small()
        self.assertIn("--output is CONFIG itself", self.refusal("trace", "llm", "config.json", "-o", "config.json"))
        self.assertIn("--output is CONFIG itself", self.refusal("trace", "llm", "config.json", "-o", "./config.json"))
        self.assertIn("the model has no experts", self.refusal("trace", "llm", "config.json", "--routing", "even"))
        self.small(SPARSE)
        self.answer("trace", "llm", "config.json", "--routing", "even")

    def test_memory_that_is_too_small_is_told_with_what_fills_it(self):
        self.answer("trace", "llm", "llama3_70b", "--batch", "16", "-o", "step.yaml")
        self.assertRegex(self.refusal("run", "tpu_v5e", "step.yaml"), r"needs .* weights, .* KV cache, .* activations")

    def test_configurations_at_random_are_answered_or_refused(self):
        seed = 11
        dice = random.Random(seed)
        values = [0, 1, 2, 3, 4, 7, 64, 2**31 - 1, 2**31, -1, 1.5, "x", None, [], {}, True, [1], 10**30]
        for turn in range(120):
            config = dict(dice.choice([SMALL, SPARSE, LATENT, GPT, OPT]))
            for key in dice.sample(sorted(config), dice.randint(1, 3)):
                if dice.random() < 0.2:
                    del config[key]
                elif key != "model_type":
                    config[key] = dice.choice(values)
            options = ["--tensor-parallel", str(dice.choice([1, 2, 4])), "--phase", (phase := dice.choice(["prefill", "decode", "train"])),
                       "--context", "8"]
            if phase != "train":
                options += ["--routing", dice.choice(["even", "expected", "worst"])]
            with self.subTest(seed=seed, turn=turn, config=config, options=options):
                done = self.run_systole("trace", "llm", self.small(config), *options)
                self.assertIn(done.returncode, (0, 2), done.stderr)
                if done.returncode == 2:
                    self.assertEqual(done.stdout, "")
                    self.assertIn("error: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
