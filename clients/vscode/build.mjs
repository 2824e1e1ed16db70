// Bundles src/extension.ts and all it imports into the one file that VS Code loads, and collects the licences of what it took.
import fs from "node:fs";
import path from "node:path";
import { build } from "esbuild";

const { metafile } = await build({
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    external: ["vscode"],
    minify: true,
    logLevel: "warning",
    metafile: true,
});

const packages = new Set(
    Object.keys(metafile.inputs)
        .map((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0])
        .filter((folder) => folder !== undefined),
);
fs.writeFileSync("THIRD_PARTY_LICENSES.txt", [...packages].sort().map(licenceOf).join("\n\n"));

/** The name of a package and the text of its licence; a package without one must not be shipped. */
function licenceOf(folder) {
    const { name, version, license } = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
    const file = fs.readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined) throw new Error(`${name} has no licence file`);
    return `${name} ${version} (${license})\n\n${fs.readFileSync(path.join(folder, file), "utf8").trim()}\n`;
}
