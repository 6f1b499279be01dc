# SPDX-License-Identifier: Apache-2.0
"""tools/check_layers on small trees, each with one fault, and on a tree without any."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[3] / "tools" / "check_layers"
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"


def function(lines, head="int f()"):
    """A function of `lines` lines, its braces included."""
    return head + " {\n" + "    step();\n" * (lines - 2) + "}\n"


class CheckLayers(unittest.TestCase):
    def check(self, files, readmes=True, licence=True):
        """The exit code and the printed lines for a tree of {path: text}."""
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for path, text in files.items():
                file = root / path
                file.parent.mkdir(parents=True, exist_ok=True)
                source = file.suffix in (".h", ".cpp")
                file.write_text((LICENCE if licence and source else "") + text)
                if readmes:
                    (file.parent / "README.md").touch()
            done = subprocess.run([sys.executable, CHECK, "--root", root], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.stderr, "")
            return done.returncode, done.stdout.splitlines()

    def expect_clean(self, files):
        code, lines = self.check(files)
        self.assertEqual((code, lines), (0, ["check_layers: 0 errors, 0 warnings"]))

    def expect_error(self, files, line, **options):
        code, lines = self.check(files, **options)
        self.assertIn(line, lines)
        self.assertEqual((code, lines[-1]), (1, "check_layers: 1 errors, 0 warnings"))

    def test_a_tree_that_keeps_the_rules_is_clean(self):
        self.expect_clean({
            "sim/base/units.h": "#pragma once\n#include <vector>\n",
            "sim/config/yaml.cpp": '#include <yaml-cpp/parser.h>\n#include "sim/base/units.h"\n',
            "sim/config/config.h": "",
            "sim/kernel/kernel.h": "#include <systemc>\n#include <tlm_utils/simple_target_socket.h>\n",
            "models/memory/dram.h": '#include "sim/kernel/kernel.h"\n',
            "models/memory/config/dram_config.cpp": '#include "sim/config/config.h"\n',
            "models/devices/one/mxu/mxu.h": '#include "sim/base/units.h"\n',
            "models/devices/one/one.cpp":
                '#include "models/devices/one/mxu/mxu.h"\n#include "models/memory/dram.h"\n',
            "sim/app/main.cpp": '#include <boost/program_options.hpp>\n#include "models/memory/dram.h"\n',
        })

    def test_an_include_against_the_arrows_is_an_error(self):
        for source, target in (("sim/base", "sim/config"), ("sim/account", "sim/workload"),
                               ("sim/kernel", "models/memory"), ("sim/device", "sim/app"),
                               ("models/link", "models/memory"), ("models/memory", "models/link"),
                               ("models/memory", "sim/config"), ("models/memory", "sim/workload"),
                               ("models/devices/one", "models/devices/two"),
                               ("models/devices/one/sub", "models/devices/two/sub"),
                               ("models/devices/one", "sim/app")):
            with self.subTest(source=source, target=target):
                self.expect_error({f"{source}/a.cpp": f'#include "{target}/b.h"\n', f"{target}/b.h": ""},
                                  f"{source}/a.cpp:2: error: {source} may not include {target}")

    def test_a_cycle_between_folders_is_an_error_even_where_each_include_is_allowed(self):
        self.expect_error({
            "models/devices/one/spec.h": "",
            "models/devices/one/one.cpp": '#include "models/devices/one/mxu/mxu.h"\n',
            "models/devices/one/mxu/mxu.h": '#include "models/devices/one/spec.h"\n',
        }, "models/devices/one/mxu/mxu.h:2: error: include cycle between folders: "
           "models/devices/one -> models/devices/one/mxu -> models/devices/one")

    def test_a_library_outside_its_room_is_an_error(self):
        for path, header, library in (("sim/base/a.h", "systemc", "SystemC"),
                                      ("sim/account/a.h", "tlm_utils/simple_target_socket.h", "SystemC"),
                                      ("sim/workload/a.cpp", "yaml-cpp/yaml.h", "yaml-cpp"),
                                      ("sim/config/a.h", "yaml-cpp/yaml.h", "yaml-cpp"),
                                      ("models/memory/a.cpp", "boost/any.hpp", "Boost"),
                                      ("sim/account/turn_agreement.cpp", "boost/any.hpp", "Boost"),
                                      ("sim/app/a.cpp", "boost/math/constants/constants.hpp", "Boost.Math")):
            with self.subTest(path=path, header=header):
                self.expect_error({path: f"#include <{header}>\n"}, f"{path}:2: error: {library} has no place here")

    def test_an_unknown_folder_and_an_unknown_header_are_errors(self):
        self.expect_error({"sim/attic/a.cpp": ""},
                          "sim/attic/a.cpp:1: error: folder 'sim/attic' is not in the table of tools/check_layers")
        self.expect_error({"sim/base/a.cpp": '#include "a.h"\n', "sim/base/a.h": ""},
                          'sim/base/a.cpp:2: error: "a.h" is no file seen from the repository root')

    def test_files_warn_above_300_lines_and_fail_above_450(self):
        for lines, code, level in ((300, 0, None), (301, 0, "warning"), (450, 0, "warning"), (451, 1, "error")):
            with self.subTest(lines=lines):
                result, output = self.check({"sim/base/a.h": "\n" * (lines - 1)})
                self.assertEqual(result, code)
                self.assertEqual([level] if level else [], [line.split(": ")[1] for line in output[:-1]])

    def test_functions_warn_above_60_lines_and_fail_above_100(self):
        for lines, code, level in ((60, 0, None), (61, 0, "warning"), (100, 0, "warning"), (101, 1, "error")):
            with self.subTest(lines=lines):
                result, output = self.check({"sim/base/a.cpp": "namespace n {\n" + function(lines) + "}\n"})
                self.assertEqual(result, code)
                self.assertEqual([level] if level else [], [line.split(": ")[1] for line in output[:-1]])
                if level:
                    self.assertTrue(output[0].startswith("sim/base/a.cpp:3: "), output[0])

    def test_methods_operators_templates_and_constructors_are_functions(self):
        for head in ("void A::go(int n) const", "A::A(int n) : n_(n), m_{n}", "bool operator==(A a, A b)",
                     "template <class T>\nT f(T t)", "int f(std::vector<int> v = {})",
                     "constexpr auto f = [](int n)", "int f(char c = '{')"):
            with self.subTest(head=head):
                code, _ = self.check({"sim/base/a.cpp": function(101, head)})
                self.assertEqual(code, 1)
        self.assertEqual(self.check({"sim/base/a.h": "class A {\n" + function(101, "int f()") + "};\n"})[0], 1)

    def test_tables_classes_comments_and_literals_are_no_functions(self):
        self.expect_clean({
            "sim/base/a.h": "struct A {\n" + "    int a = 0;\n" * 150 + "};\n",
            "sim/base/b.cpp": "const std::array<int, 150> kTable = {\n" + "    1,\n" * 150 + "};\n",
            "sim/base/c.cpp": "// f() {\n" + "int a;\n" * 150 + 'const char* s = "f() {";\n' + "int b;\n" * 120,
        })

    def test_a_folder_needs_a_readme(self):
        self.expect_error({"sim/base/a.h": ""}, "sim/base:1: error: the folder has no README.md", readmes=False)

    def test_a_source_needs_the_licence_line(self):
        for folder in ("sim/base", "tests/unit/base"):
            self.expect_error({f"{folder}/a.cpp": "\n"}, f"{folder}/a.cpp:1: error: the first line must be "
                              "'// SPDX-License-Identifier: Apache-2.0'", licence=False)

    def test_a_machine_path_is_an_error(self):
        path = "/" + "home/somebody"
        self.expect_error({"docs/guide.md": f"see {path}/notes\n"},
                          f"docs/guide.md:1: error: a path of somebody's machine: {path}")


if __name__ == "__main__":
    unittest.main()
