// Which Python runs the language server, and what is said when none can.
import { spawnSync } from "node:child_process";
import path from "node:path";
import { changeTwice, takeNext } from "./renaming.mjs";
import { until } from "./workbench.mjs";

const NO_PYTHON = "Likewise found no Python to run with.";

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
        name: "a Python without the libraries: it says what to run, and that helps",
        async run(workbench) {
            workbench.makeWheels();
            choose(workbench, { setting: "/no/such/python" });
            await workbench.says(
                `${NO_PYTHON} /no/such/python (the setting likewise.python): it does not run`,
            );
            await until("trouble in the status bar", async () => /trouble/.test(await workbench.status()));
            await until("no process", () => workbench.processes("-m lsp").length === 0);
            const lacking = workbench.barePython("lacking");
            choose(workbench, { setting: lacking });
            await workbench.says(
                `${NO_PYTHON} ${lacking} (the setting likewise.python): it lacks fastapi, numpy,`,
            );
            await workbench.windowPicture("no-python");
            await workbench.answer(`Run: ${lacking} -m pip install -r`, "Copy Command");
            await workbench.says("Run it in a terminal; Likewise starts when it is done.");
            const command = await workbench.page.evaluate(() => navigator.clipboard.readText());
            const done = spawnSync("sh", ["-c", command], { encoding: "utf8", env: workbench.environment });
            if (done.status !== 0) throw new Error(`${command}: ${done.stdout}${done.stderr}`);
            await workbench.runsWith(lacking);
            await restore(workbench);
        },
    },
    {
        name: "a Python without the libraries: set up for me makes an environment and starts with it",
        async run(workbench) {
            workbench.makeWheels();
            choose(workbench, { setting: workbench.barePython("bare") });
            await workbench.answer(NO_PYTHON, "Set Up for Me");
            await workbench.says("making a private Python environment");
            const environment = "User/globalStorage/likewise.likewise/environment";
            await workbench.runsWith(path.join(workbench.data, environment, "bin/python"));
            await changeTwice(workbench, "set-up.py");
            await takeNext(workbench);
            await restore(workbench);
        },
    },
];
