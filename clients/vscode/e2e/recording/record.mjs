// Edits in every way that an editor has, and records what the language server is told and what the files hold then:
// tests/data/vscode_stream.jsonl. usage: record.mjs --vsix FILE --python FILE --results FOLDER --out FILE [--code VERSION] [--only TEXT]
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { until, Workbench } from "../workbench.mjs";
import { edits } from "./edits.mjs";

/** These change the text by themselves. */
const HELPFUL = {
    "editor.autoIndent": "full",
    "editor.unusualLineTerminators": "off",
};

const { values } = parseArgs({
    options: {
        vsix: { type: "string" },
        python: { type: "string" },
        results: { type: "string" },
        out: { type: "string" },
        code: { type: "string" },
        only: { type: "string", default: "" },
    },
});
const workbench = new Workbench({ cache: process.env.LIKEWISE_E2E_CACHE, ...values });
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(name, () => workbench.stop().finally(() => process.exit(1)));
}
const streamFile = path.join(workbench.root, "stream.jsonl");
const savedTexts = [];
try {
    workbench.writeSettings("User", { ...workbench.userSettings, ...HELPFUL });
    workbench.writeSettings("Machine", {
        ...workbench.machineSettings,
        "likewise.python": workbench.listeningPython(streamFile),
    });
    await workbench.start("start.py", "x = 1\n");
    await until("Likewise", async () => !/starting|trouble/.test(await workbench.status()), 60_000);
    for (const { name, file, text, run } of edits.filter(({ name }) => name.includes(values.only))) {
        const checkpoint = async () => savedTexts.push({ file, text: await workbench.saved(file) });
        await workbench.open(file, text);
        await run(workbench, checkpoint);
        await checkpoint();
        console.log(`recorded  ${name}`);
    }
    const lines = withTexts(fs.readFileSync(streamFile, "utf8").trim().split("\n"));
    fs.writeFileSync(values.out, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
    console.log(`${values.out}: ${lines.length} lines`);
} catch (error) {
    process.exitCode = 1;
    console.log(error.stack);
    await workbench.page?.screenshot({ path: path.join(workbench.results, "record.png") }).catch(() => {});
} finally {
    await workbench.stop();
}

/** Each save followed by the text that was in the file then; the folder of this run becomes /work, others are left out. */
function withTexts(lines) {
    const left = [...savedTexts];
    const isOurs = ({ params }) => params.textDocument?.uri.startsWith("file:///work/") ?? true;
    const messages = lines
        .map((line) => JSON.parse(line.replaceAll(workbench.folder, "/work")))
        .filter(({ method }) => method.startsWith("textDocument/did"))
        .filter(isOurs);
    const all = messages.flatMap((message) => {
        if (message.method !== "textDocument/didSave") return [message];
        const uri = message.params.textDocument.uri;
        const next = left.shift();
        if (uri !== `file:///work/${next?.file}`) throw new Error(`${uri} was saved, not ${next?.file}`);
        return [message, { saved: uri, text: next.text }];
    });
    if (left.length > 0) throw new Error(`${left.length} saves were not told`);
    return all;
}
