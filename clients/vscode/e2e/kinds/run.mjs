// Plays the kinds of session in a real VS Code and prints a table.
// usage: run.mjs --vsix FILE --python FILE --results FOLDER [--code VERSION] [--eagerness NAME] [--only TEXT] [--every N]
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { sleep, Workbench } from "../workbench.mjs";
import { Player } from "./player.mjs";
import { Referee } from "./referee.mjs";
import { describe, summarize, table } from "./table.mjs";
import { Texts } from "./texts.mjs";

const HANDS = ["retypes", "least"];

const { values } = parseArgs({
    options: {
        vsix: { type: "string" },
        python: { type: "string" },
        results: { type: "string" },
        code: { type: "string", default: "4.100.3" },
        eagerness: { type: "string", default: "balanced" },
        only: { type: "string", default: "" },
        every: { type: "string", default: "1" },
    },
});
const workbench = new Workbench({ cache: process.env.LIKEWISE_E2E_CACHE, ...values });
const referee = new Referee(values.python);
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(name, () => workbench.stop().finally(() => process.exit(1)));
}
const streamFile = path.join(workbench.root, "stream.jsonl");
const rows = [];
try {
    workbench.machineSettings = {
        ...workbench.machineSettings,
        "likewise.python": workbench.listeningPython(streamFile),
        "likewise.eagerness": values.eagerness,
    };
    workbench.writeSettings("Machine", workbench.machineSettings);
    const sessions = await referee.sessions();
    await workbench.start("start.py", "x = 1\n");
    const texts = new Texts(streamFile);
    const chosen = [...sessions.entries()].filter(
        ([number, { name }]) => name.includes(values.only) && number % Number(values.every) === 0,
    );
    for (const [number, session] of chosen) {
        for (const hands of HANDS) {
            const name = `kind_${number}_${hands}${session.suffix}`;
            const player = new Player(workbench, texts, referee, { session, number, hands, name });
            try {
                rows.push(await player.play());
                console.log(describe(rows.at(-1)));
            } catch (error) {
                process.exitCode = 1;
                console.log(`FAILED  ${session.name} (${hands}): ${error.message}`);
            }
            await workbench.press("Escape");
            await workbench.saved(name);
            // What was learned in a session must not help in the next one.
            await workbench.command("Likewise: Restart the Language Server");
            await sleep(1500);
        }
    }
    const lines = [table(rows), "", summarize(rows), ""];
    fs.writeFileSync(path.join(values.results, `kinds-${values.eagerness}.md`), lines.join("\n"));
    console.log(lines.join("\n"));
} catch (error) {
    process.exitCode = 1;
    console.log(error.stack);
    await workbench.page?.screenshot({ path: path.join(values.results, "kinds.png") }).catch(() => {});
} finally {
    referee.stop();
    await workbench.stop();
}
