// Which Python runs the language server, and what is said when none can.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { changeTwice, takeNext } from "./renaming.mjs";
import { until } from "./workbench.mjs";

const NO_PYTHON = "Likewise found no Python 3.11 or newer to run with.";
const NO_LIBRARIES = "Likewise needs a few Python libraries before it can start.";

/** What the user chose: in our own setting, and in the Python extension. */
function choose(workbench, { setting = "", selected = "" }) {
    workbench.writeSettings("Machine", {
        ...workbench.machineSettings,
        "likewise.python": setting,
        "python.defaultInterpreterPath": selected,
    });
}

/** All as the other scenarios need it. */
async function restore(workbench) {
    workbench.writeSettings("Machine", workbench.machineSettings);
    await workbench.runsWith(workbench.python);
    await workbench.command("Notifications: Clear All Notifications");
}

export const findingPython = [
    {
        name: "Python is that of the setting, else that of the Python extension, else python3",
        async run(workbench) {
            const selected = workbench.pythonWithLibraries("selected");
            const another = workbench.pythonWithLibraries("another");
            choose(workbench, { setting: workbench.python, selected });
            await workbench.runsWith(workbench.python);
            choose(workbench, { selected });
            await workbench.runsWith(selected);
            choose(workbench, { selected: another }); // the user selects another one in the Python extension
            await workbench.runsWith(another);
            await changeTwice(workbench, "another.py");
            await takeNext(workbench);
            choose(workbench, {});
            await workbench.runsWith(workbench.pythonOnPath);
            await restore(workbench);
        },
    },
    {
        name: "no Python, or one without the libraries: one sentence, one button, and the log says what to run",
        async run(workbench) {
            workbench.makeWheels();
            choose(workbench, { setting: "/no/such/python" });
            await workbench.says(NO_PYTHON);
            await until("set up in the status bar", async () => /set up/.test(await workbench.status()));
            await until("no process", () => workbench.processes("-m lsp").length === 0);
            const lacking = workbench.barePython("lacking");
            choose(workbench, { setting: lacking });
            const message = await workbench.says(NO_LIBRARIES);
            assert.deepEqual(await message.locator(".monaco-button").allInnerTexts(), ["Set Up"]);
            assert.doesNotMatch(await workbench.status(), /trouble/);
            await workbench.windowPicture("no-python");
            const [, wrapped] = /This would help: ([^[]*requirements\.txt)/.exec(await workbench.log());
            const command = wrapped.replaceAll("\n", "");
            assert.ok(command.startsWith(`${lacking} -m pip install -r`), command);
            const done = spawnSync("sh", ["-c", command], { encoding: "utf8", env: workbench.environment });
            if (done.status !== 0) throw new Error(`${command}: ${done.stdout}${done.stderr}`);
            await workbench.command("Likewise: Restart the Language Server");
            await workbench.runsWith(lacking);
            await restore(workbench);
        },
    },
    {
        name: "a Python without the libraries: one click makes an environment, tells how far it is, and starts",
        async run(workbench) {
            workbench.makeWheels();
            choose(workbench, { setting: workbench.barePython("bare") });
            await workbench.answer(NO_LIBRARIES, "Set Up");
            const progress = await workbench.says("Likewise: setting up Python");
            await until("no trouble", async () => /starting/.test(await workbench.status()));
            await until("what it is doing", async () =>
                /Processing|Collecting|Installing/.test(await progress.innerText()),
            );
            const environment = "User/globalStorage/likewise.likewise/environment";
            await workbench.runsWith(path.join(workbench.data, environment, "bin/python"));
            await changeTwice(workbench, "set-up.py");
            await takeNext(workbench);
            await restore(workbench);
        },
    },
    {
        name: "a set-up that is cancelled leaves nothing behind, and can be begun again",
        async run(workbench) {
            workbench.makeWheels();
            const environment = path.join(workbench.data, "User/globalStorage/likewise.likewise/environment");
            fs.rmSync(environment, { recursive: true, force: true });
            choose(workbench, { setting: workbench.barePython("cancelled") });
            await workbench.answer(NO_LIBRARIES, "Set Up");
            await workbench.answer("Likewise: setting up Python", "Cancel");
            await workbench.says(NO_LIBRARIES);
            assert.ok(!fs.existsSync(environment));
            await restore(workbench);
        },
    },
];
