// SPDX-License-Identifier: Apache-2.0
// Bundles the pages that systole writes: each folder of src/ with a page.html becomes one file of dist/ with its
// styles, its script and what it was bundled with inside, so that it opens without a network. systole puts data
// into the element with the id "data".
//
//   node build.mjs            writes dist/
//   node build.mjs --to DIR   writes there instead (the test that dist/ is what the sources make)
import { build } from "esbuild";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** Names and licences of the packages that files in `inputs` are of, each text once. */
function licences(inputs) {
    const packages = new Set(
        Object.keys(inputs)
            .map((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1])
            .filter(Boolean),
    );
    const byText = new Map();
    for (const name of [...packages].sort()) {
        const folder = join(here, "node_modules", name);
        const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
        const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
        const text = file ? readFileSync(join(folder, file), "utf8").replaceAll("\r", "").trim() : license;
        byText.set(text, [...(byText.get(text) ?? []), `${name} ${version}`]);
    }
    return [...byText].map(([text, names]) => `${names.join(", ")}\n\n${text}\n`).join("\n\n");
}

/** A script that no HTML parser takes for its own end: in strings, where alone these words can stand. */
const inScript = (text) => text.replace(/<(?=\/script|!--)/gi, "\\x3c");

async function bundle(name) {
    const folder = join(here, "src", name);
    const result = await build({
        absWorkingDir: here,
        entryPoints: [join("src", name, "main.js"), join("src", name, "style.css")],
        outdir: "out",
        bundle: true,
        minify: true,
        write: false,
        metafile: true,
        format: "iife",
        target: "es2022",
        charset: "utf8",
        legalComments: "none",
        logLevel: "warning",
    });
    const text = (extension) => result.outputFiles.find((file) => file.path.endsWith(extension)).text;
    const parts = {
        style: text(".css").trim(),
        script: inScript(text(".js").trim()),
        licences: licences(result.metafile.inputs).replaceAll("<", "&lt;"),
    };
    return readFileSync(join(folder, "page.html"), "utf8").replace(
        /\{\{(style|script|licences)\}\}/g,
        (_, part) => parts[part],
    );
}

const flag = process.argv.indexOf("--to");
const target = flag < 0 ? join(here, "dist") : resolve(process.argv[flag + 1]);
mkdirSync(target, { recursive: true });
for (const name of readdirSync(join(here, "src"))) {
    if (!existsSync(join(here, "src", name, "page.html"))) continue;
    const page = await bundle(name);
    writeFileSync(join(target, `${name}.html`), page);
    console.log(`${name}.html: ${Math.ceil(page.length / 1000)} kB`);
}
