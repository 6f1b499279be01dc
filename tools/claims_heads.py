# SPDX-License-Identifier: Apache-2.0
"""What the heads of experiments of claims say: `# key: text`, going on in lines that are indented by two more."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "configs" / "experiments" / "claims"
KEYS = ("claim", "said by", "holds if", "in part if", "chosen", "cannot say", "picture")


class HeadError(Exception):
    """A head that is not as it should be, with its place."""


def head_of(path):
    """{key: text} of an experiment's head."""
    head, key = {}, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.startswith("#"):
            break
        if "SPDX" in line:
            continue
        text = line[2:]
        if text.startswith("  ") and key:
            head[key] += " " + text.strip()
            continue
        key, colon, rest = text.partition(":")
        if not colon or key not in (*KEYS, "of") or key in head:
            raise HeadError(f"{path}:{number}:1: error: expected '# KEY: text' with KEY one of {', '.join(KEYS)}, of, each once")
        head[key] = rest.strip()
    missing = [key for key in KEYS if key not in head]
    if "of" not in head and missing:
        raise HeadError(f"{path}:1:1: error: the head does not say '{missing[0]}'")
    return head


def claims(folder=FOLDER):
    """{name: (head, [experiments])}: a claim is the experiment that has it and those that are `of` it, by name."""
    heads = {path.stem: head_of(path) for path in sorted(folder.glob("*.yaml"))}
    found = {name: (head, [name]) for name, head in heads.items() if "of" not in head}
    for name, head in heads.items():
        if "of" in head:
            if head["of"] not in found:
                raise HeadError(f"{folder / name}.yaml:1:1: error: of '{head['of']}', which is no claim")
            found[head["of"]][1].append(name)
    return found
