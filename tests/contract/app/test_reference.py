# SPDX-License-Identifier: Apache-2.0
"""The reference: what is checked in is what the program writes, nothing that readers ask for is left out, and the
JSON Schemas take every shipped file and refuse wrong ones."""

import json
import pathlib
import re
import subprocess
import sys
import unittest

from program import HOME, ProgramTest

try:
    import jsonschema
    import yaml
except ImportError:
    jsonschema = None

DOCS = HOME / "docs"
SCHEMA = DOCS / "reference" / "schema"


def rows(page):
    """The rows of all tables of a page: key -> the other cells."""
    found = {}
    for line in (DOCS / "reference" / page).read_text().splitlines():
        match = re.match(r"\| `([^`]+)` \| (.*) \|$", line)
        if match:
            found.setdefault(match.group(1), []).append(match.group(2).split(" | "))
    return found


class CheckedIn(ProgramTest):
    def test_every_generated_page_is_what_the_program_writes(self):
        done = subprocess.run([sys.executable, "-B", HOME / "tools" / "reference", "--check"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout + done.stderr, "")
        self.assertEqual(done.returncode, 0)

    def test_pages_are_the_same_bytes_each_time(self):
        self.assertEqual(self.answer("reference", "devices"), self.answer("reference", "devices"))

    def test_a_subject_that_there_is_not_is_refused_with_a_suggestion(self):
        self.assertIn("did you mean 'devices'?", self.refusal("reference", "device"))
        self.assertIn("no json-schema of protocol", self.refusal("reference", "protocol", "--format", "json-schema"))
        self.assertIn("missing", self.refusal("reference"))


class Keys(ProgramTest):
    """What pages say, against what single devices say of themselves and against the readers' sources."""

    def shown(self, what, name):
        return json.loads(self.answer("show", what, name, "--format", "json"))["values"]

    def find(self, pages, path):
        return pages.get(path) or pages.get(path.rpartition(".")[0] + ".NAME")

    def test_every_value_that_a_device_shows_has_a_row_with_its_meaning(self):
        pages = rows("device_keys.md")
        for prefix, page in (("memory", "memory_keys.md"), ("energy", "energy_keys.md"), ("cost", "cost_keys.md")):
            pages.update({f"{prefix}.{key}": cells for key, cells in rows(page).items()})
        for name in ("tpu_v1", "tpu_v4", "tpu_v5e", "h100", "mi300x", "groq_tsp", "apple_m1"):
            for value in self.shown("device", name):
                found = self.find(pages, value["path"])
                self.assertTrue(found, f"{name}: {value['path']}")
                meaning = value["meaning"].replace("|", "\\|")
                self.assertTrue(any(meaning in cells[2] for cells in found), f"{name}: {value['path']}: {found}")

    def test_keys_that_no_shipped_device_gives_are_there_too(self):
        pages = rows("device_keys.md")
        for path in ("host.read_completion_boundary", "host.address_bits", "mxu.dataflow_switch"):
            self.assertIn(path, pages)
        self.assertIn("is given", rows("cost_keys.md")["life"][0][2])
        self.assertIn("refresh_bank", " ".join(rows("memory_keys.md")))

    def test_every_key_that_a_reader_names_has_a_row(self):
        """Getters whose key is a literal: found in the sources, looked up in the pages."""
        pages = set()
        for page in ("device_keys.md", "memory_keys.md", "energy_keys.md", "cost_keys.md", "run_keys.md"):
            pages.update(key.rpartition(".")[2] for key in rows(page))
        getter = re.compile(r"\.(?:count|frequency|bytes|bandwidth|time|energy|power|usd\w*|years|number|flag|text|"
                            r"choice|list)\(\s*\"(\w+)\",\s*\"")
        sources = [*HOME.glob("models/**/*config.cpp"), *HOME.glob("models/**/*_energy.cpp"),
                   HOME / "models/memory/config/dram_policy_config.cpp", HOME / "sim/device/cost_config.cpp",
                   HOME / "sim/app/settings.cpp"]
        named = {key for source in sources for key in getter.findall(source.read_text())}
        self.assertGreater(len(named), 100)
        self.assertEqual(sorted(named - pages), [])

    def test_a_choice_tells_which_keys_it_unlocks(self):
        memory = rows("memory_keys.md")
        self.assertEqual(sorted(re.findall(r"`kind` is `(\w+)`", " ".join(cells[2] for cells in memory["capacity"]))),
                         ["ideal", "sram"])
        self.assertIn("`kind` is `dram`", memory["channels"][0][2])
        host = rows("device_keys.md")["host.lanes"][0]
        self.assertIn("`host.kind` is `pcie`", host[2])
        self.assertEqual(host[1], "**required**")

    def test_keys_stand_under_the_kind_that_reads_them(self):
        text = (DOCS / "reference" / "device_keys.md").read_text()
        shared, _, kinds = text.partition("## With `kind: ")
        first, _, second = kinds.partition("## With `kind: ")
        by_kind = {part.split("`")[0]: part for part in (first, second)}
        self.assertEqual(sorted(by_kind), ["simt", "systolic"])
        self.assertIn("`mxu.rows`", by_kind["systolic"])
        self.assertIn("`memory_side_cache.capacity`", by_kind["simt"])
        self.assertIn("`host.latency`", shared)
        self.assertNotIn("`mxu.rows`", shared + by_kind["simt"])

    def test_defaults_and_limits_are_those_of_an_effective_configuration(self):
        pages = rows("device_keys.md")
        for value in self.shown("device", "tpu_v4"):
            cells = self.find(pages, value["path"])
            if value["origin"] != "default" or not cells or len(cells) > 1 or "follows" in cells[0][1]:
                continue
            self.assertEqual(cells[0][1], f"`{value['value']}`", value["path"])

    def test_the_protocol_of_op_is_told_beside_that_of_run(self):
        self.assertEqual(rows("run_keys.md")["run.inputs_at"][0][1], "`host`")
        self.assertIn("`run.inputs_at`: `dram`", (DOCS / "reference" / "run_keys.md").read_text())


class Operators(ProgramTest):
    def test_every_operator_has_the_keys_that_its_reader_lists(self):
        """The reader names all its keys when it refuses one."""
        sections = (DOCS / "reference" / "operators.md").read_text().split("\n## ")[1:]
        self.assertGreater(len(sections), 20)
        for section in sections:
            name = section.split("\n")[0]
            operands = "[x, x, x]" if "Reads 3 " in section else "[x, x]" if "Reads 2 " in section else "x"
            trace = self.write("t.yaml", f"trace: t\ninputs: {{x: {{shape: [2, 4, 4, 8], dtype: bf16}}}}\nlayers:\n"
                                         f"  - {{name: a, op: {name}, in: {operands}, frobnicate: 1}}\noutputs: [a]\n")
            message = self.refusal("show", "trace", trace)
            known = re.search(r"unknown key 'frobnicate'.*; it has: (.*)", message).group(1).split(", ")
            listed = re.findall(r"(?m)^\| `(\w+)` ", section)
            missing = set(known) - set(listed) - {"name", "op", "in"}
            self.assertEqual(missing, set(), name)

    def test_the_schema_has_the_keys_of_a_trace_that_its_reader_lists(self):
        schema = json.loads((SCHEMA / "trace.schema.json").read_text())
        trace = self.write("t.yaml", "trace: t\nfrobnicate: 1\nserving: {frobnicate: 1}\ntraining: {frobnicate: 1}\n"
                                     "batch_of: {frobnicate: 1}\ninputs: {x: {frobnicate: 1}}\n"
                                     "layers: [{repeat: 1, frobnicate: 1}]\noutputs: [x]\n")
        message = self.refusal("show", "trace", trace)
        lists = {line.split(" error: ")[1].split(":")[0]: line.partition("; it has: ")[2].split(", ")
                 for line in message.splitlines() if "unknown key 'frobnicate'" in line}
        properties = schema["properties"]
        self.assertEqual(set(lists["trace"]), set(properties))
        for part in ("serving", "training", "batch_of"):
            self.assertEqual(set(lists[part]), set(properties[part]["properties"]), part)
        self.assertEqual(set(lists["input 'x'"]), set(properties["inputs"]["additionalProperties"]["properties"]))
        self.assertEqual(set(lists["block"]), set(schema["$defs"]["block"]["properties"]))


class Experiments(ProgramTest):
    def test_the_schema_has_the_keys_that_an_experiment_can_have(self):
        schema = json.loads((SCHEMA / "experiment.schema.json").read_text())["properties"]
        for name, properties in (("", schema), ("sample", schema["sample"]["properties"]),
                                 ("limits", schema["limits"]["properties"])):
            for key in properties:
                wrong = f"{{{key}z: 1}}"
                text = f"{key}z: 1" if not name else f"{name}: {wrong[:-1]}, method: grid}}" if name == "sample" else f"{name}: {wrong}"
                experiment = self.write("e.yaml", f"device: teaching_4x4\ntrace: three_layers\n{text}\n")
                self.assertIn(f"did you mean '{key}'?", self.refusal("sweep", experiment, "--plan", "-o", "out"))
        known = re.search(r"kKeys\{([^}]*)\}", (HOME / "sim/sweep/experiment.cpp").read_text()).group(1)
        self.assertEqual(sorted(re.findall(r'"(\w+)"', known)), sorted(schema))


def load(text):
    """YAML 1.2 as editors read it: 'on' and '2:4' are text."""
    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers = {}

    for tag, pattern, first in (("bool", r"^(?:true|false)$", "tf"), ("null", r"^(?:null|~|)$", ["n", "~", ""]),
                                ("int", r"^-?(?:0|[1-9][0-9]*)$", "-0123456789"),
                                ("float", r"^-?(?:0|[1-9][0-9]*)\.[0-9]+$", "-0123456789")):
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first))
    return yaml.load(text, Loader)


@unittest.skipIf(jsonschema is None, "python3-jsonschema and python3-yaml are not installed")
class Schemas(unittest.TestCase):
    SHIPPED = {"device": "configs/devices/*.yaml", "memory": "configs/memory/*.yaml",
               "energy": "configs/energy/*.yaml", "cost": "configs/cost/*.yaml", "trace": "traces/*/*.yaml",
               "experiment": "configs/experiments/**/*.yaml"}

    def test_every_shipped_file_has_a_schema(self):
        folders = {path.relative_to(HOME).parts[1] for path in (HOME / "configs").rglob("*.yaml")}
        folders.discard("lessons")  # the explorer's own pages, which nobody extends
        self.assertEqual(folders, {pattern.split("/")[1] for pattern in self.SHIPPED.values()
                                   if pattern.startswith("configs")})

    def validator(self, kind):
        schema = json.loads((SCHEMA / f"{kind}.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        return jsonschema.Draft202012Validator(schema)

    def test_every_shipped_file_is_taken(self):
        for kind, pattern in self.SHIPPED.items():
            validators = {each: self.validator(each) for each in (kind, "trace")}
            files = sorted(HOME.glob(pattern))
            self.assertTrue(files, kind)
            for file in files:
                document = load(file.read_text())
                validator = validators["trace" if "layers" in document else kind]  # claims bring traces of their own
                errors = [f"{list(error.absolute_path)}: {error.message[:300]}"
                          for error in validator.iter_errors(document)]
                self.assertEqual(errors, [], file.name)

    def refuse(self, kind, name, changes):
        validator = self.validator(kind)
        file = next(file for file in sorted(HOME.glob(self.SHIPPED[kind])) if file.stem == name)
        for path, value in changes:
            document = load(file.read_text())
            at = document
            for key in path[:-1]:
                at = at[key]
            if value is None:
                del at[path[-1]]
            else:
                at[path[-1]] = value
            self.assertFalse(validator.is_valid(document), f"{kind}: {path}: {value}")

    def test_wrong_devices_are_refused(self):
        self.refuse("device", "tpu_v4", [
            (["mxu", "rows"], 0), (["mxu", "rows"], "128 PEs"), (["mxu", "rows"], {"value": 128}),
            (["mxu", "rows"], {"value": 128, "sourced": "a", "derived": "b"}),
            (["mxu", "rows"], {"value": 128, "assumed": "without a range"}),
            (["mxu", "rows"], {"value": 128, "calibrated": "elsewhere", "range": "1..200"}),
            (["mxu", "row"], 128), (["mxu"], None), (["mxu"], 4), (["kind"], "sisd"), (["kind"], "simt"),
            (["core", "clock"], 1050), (["core", "clock"], "1050 Hertz"), (["core", "clock"], None),
            (["memory", "channels"], "many"), (["placement", "fuse"], "maybe"), (["frobnicate"], 1)])
        self.refuse("device", "a100", [
            (["sm", "gpcs"], 16), (["sm", "tensor", "issue"], "warps"), (["sm", "tensor", "macs"], {"bf16": "x"}),
            (["mxu"], {"rows": 4}), (["l2", "capacity"], 40), (["sm", "count"], None)])

    def test_wrong_memories_energies_and_costs_are_refused(self):
        self.refuse("memory", "hbm2_tpu_v4", [(["timing"], {"RCC": 3}), (["channels"], 3.5), (["page"], "ajar")])
        self.refuse("energy", "energy_7nm", [(["wire_bit_mm"], 26), (["mul", "int3"], "1 pJ")])
        self.refuse("cost", "data_center", [(["electricity"], "8 cents"), (["rental"], "1 USD/h")])

    def test_wrong_traces_and_experiments_are_refused(self):
        self.refuse("trace", "three_layers", [
            (["layers", 0, "op"], "conv"), (["layers", 0, "filters"], 0), (["layers", 0, "kernels"], 3),
            (["layers", 0, "name"], None), (["inputs"], {}), (["outputs"], None), (["batch"], 1)])
        self.refuse("experiment", "tpu_v4_array", [
            (["device"], None), (["axis"], {}), (["sample"], {"method": "sobol"}), (["limits"], {"time": 60}),
            (["axes"], {"mxu.rows": {"log3": [1, 9]}})])


class ManPage(ProgramTest):
    PAGE = DOCS / "man" / "systole.1"

    def test_every_command_with_its_options_and_examples_is_on_it(self):
        page = self.PAGE.read_text().replace("\\-", "-")
        overview = self.answer("--help")
        for command in re.findall(r"(?m)^  (\w+)  +[A-Z]", overview.partition("Commands\n")[2]):
            if command == "help":
                continue
            self.assertIn(f'.SS "systole {command}"', page)
            section = page.partition(f'.SS "systole {command}"')[2].partition(".SS ")[0]
            usage = self.answer("help", command)
            for option in re.findall(r"(?m)^  (?:-\w \[ )?(--[\w-]+)", usage):
                if option != "--help":
                    self.assertIn(option, section, command)
            for example in re.findall(r"(?m)^  (systole .*)$", usage.partition("Examples\n")[2].partition("\nOptions")[0]):
                self.assertIn(example.replace('"', "\\(dq"), section.replace("\\(ti", "~").replace("\\(ga", "`").replace("\\(ha", "^"))

    def test_exit_codes_are_those_of_the_formats(self):
        codes = re.findall(r"(?m)^\| (\d+) \|", (DOCS / "formats.md").read_text().partition("## Quantities")[0])
        page = self.PAGE.read_text().partition(".SH EXIT STATUS")[2].partition(".SH ENVIRONMENT")[0]
        self.assertEqual(re.findall(r"(?m)^\.B (\d+)$", page), codes)

    def test_troff_has_nothing_to_complain_about(self):
        for words in (["mandoc", "-Tlint", "-Wwarning"], ["groff", "-man", "-Tutf8", "-ww", "-z"]):
            try:
                done = subprocess.run([*words, self.PAGE], capture_output=True, text=True, check=False)
            except FileNotFoundError:
                continue
            complaints = [line for line in (done.stdout + done.stderr).splitlines() if "missing date" not in line]
            self.assertEqual(complaints, [], words)


class Guides(ProgramTest):
    """The pages written by hand: their links lead somewhere (their commands: tests/contract/docs)."""

    PAGES = [*sorted((DOCS / "reference").glob("*.md")), *sorted((DOCS / "howto").glob("*.md"))]

    def test_links_lead_to_files_and_headings(self):
        for page in self.PAGES:
            text = re.sub(r"(?s)```.*?```", "", page.read_text())
            for target in re.findall(r"\]\(([^)]+)\)", text):
                if target.startswith("http"):
                    continue
                file, _, heading = target.partition("#")
                path = (page.parent / file).resolve() if file else page
                self.assertTrue(path.exists(), f"{page.name}: {target}")
                if heading:
                    anchors = {re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-")
                               for line in path.read_text().splitlines() if line.startswith("#")}
                    self.assertIn(heading, anchors, f"{page.name}: {target}")

    def test_files_that_guides_name_are_there(self):
        for page in sorted((DOCS / "howto").glob("*.md")):
            for path in re.findall(r"`((?:sim|models|configs|tests|tools|traces|docs)/[\w/.]+\.\w+)`", page.read_text()):
                self.assertTrue((HOME / path).exists(), f"{page.name}: {path}")

    def test_every_class_has_a_run_in_which_it_is_the_largest(self):
        sections = (DOCS / "reference" / "stall_classes.md").read_text().split("\n## ")[1:]
        classes = json.loads(self.answer("op", "teaching_4x4", "matmul", "m=4", "n=4", "k=4", "--format",
                                         "json"))["devices"][0]["total"]["classes"]
        self.assertEqual([section.split("\n")[0].strip("`") for section in sections][:len(classes)], list(classes))
        for section, name in zip(sections, classes):
            for line in re.findall(r"\n\$ systole (.*)\n", section):
                command, _, picked = line.partition(" | grep -E '^(layer|")
                device = json.loads(self.answer(*command.split(), "--format", "json", timeout=300))["devices"][0]
                shares = device["total"]["classes"]
                if picked:  # a layer in which the class shows, where it is the largest in no run
                    shares = next(layer["classes"] for layer in device["layers"] if layer["name"] == picked.partition(")")[0])
                    self.assertGreater(shares[name], 0.1, line)
                else:
                    self.assertEqual(max(shares, key=shares.get), name, line)


if __name__ == "__main__":
    unittest.main()
