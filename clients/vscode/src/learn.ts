/** "Learn from My Repository": runs the learning in the background, only when asked, and can be cancelled. */

import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import * as os from "node:os";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { NoPython, type PythonFinder } from "./interpreter";
import {
    failureMessage,
    LEARNING_DISTRIBUTIONS,
    type LearningLine,
    learningLine,
    learningParameters,
    MISSING_MODULES,
    progressMessage,
    resultMessage,
} from "./learning";
import { environmentFor, type Launch, OWN_FOLDER, shellLine } from "./python";
import type { Settings } from "./settings";

const run = promisify(execFile);
const NETWORK_MINUTES = 10;

let isRunning = false;

export async function learnFromRepository(
    python: PythonFinder,
    settings: Settings,
    log: vscode.LogOutputChannel,
): Promise<void> {
    if (isRunning) {
        void vscode.window.showInformationMessage("Likewise is learning already.");
        return;
    }
    isRunning = true;
    try {
        await learn(python, settings, log);
    } finally {
        isRunning = false;
    }
}

async function learn(python: PythonFinder, settings: Settings, log: vscode.LogOutputChannel): Promise<void> {
    if (!vscode.workspace.isTrusted) {
        // git runs programs that the configuration of a repository names.
        void vscode.window.showWarningMessage("Likewise learns from trusted workspaces only.");
        return;
    }
    const folder = await pickFolder();
    if (folder === undefined) {
        return;
    }
    const launch = await python.find(settings.python);
    if (launch instanceof NoPython) {
        await python.tell(launch);
        return;
    }
    const missing = await missingModules(launch, [...LEARNING_DISTRIBUTIONS, "torch"]);
    const needed = missing.filter((name) => name !== "torch");
    if (needed.length > 0 && !(await install(launch, needed, log))) {
        return;
    }
    const minutes = missing.includes("torch") ? 0 : await pickNetworkMinutes();
    if (minutes !== undefined) {
        const parameters = learningParameters(folder.uri.fsPath, settings.server.eagerness, minutes);
        await showLearning(launch, parameters, log);
    }
}

async function pickFolder(): Promise<vscode.WorkspaceFolder | undefined> {
    const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
    if (folders.length === 0) {
        void vscode.window.showWarningMessage("Open a folder with a git repository to learn from it.");
    }
    return folders.length > 1 ? vscode.window.showWorkspaceFolderPick() : folders[0];
}

/** Asks for the minutes of the network: 0 lets the judge learn alone, undefined means cancelled. */
async function pickNetworkMinutes(): Promise<number | undefined> {
    const items = [
        { label: "The judge", description: "some minutes", minutes: 0 },
        {
            label: "The judge and the network",
            description: `${NETWORK_MINUTES} minutes more`,
            minutes: NETWORK_MINUTES,
        },
    ];
    return (await vscode.window.showQuickPick(items, { title: "What shall learn?" }))?.minutes;
}

async function missingModules(launch: Launch, names: readonly string[]): Promise<string[]> {
    const { stdout } = await run(launch.python, ["-c", MISSING_MODULES, ...names], {
        cwd: OWN_FOLDER,
        env: environmentFor(launch.packages, process.env),
    });
    return JSON.parse(stdout) as string[];
}

/** Installs what is missing, if the user agrees. True when it is there now. */
async function install(
    launch: Launch,
    names: readonly string[],
    log: vscode.LogOutputChannel,
): Promise<boolean> {
    const command = [launch.python, "-m", "pip", "install", ...names];
    const choice = await vscode.window.showInformationMessage(
        `To learn, Likewise needs ${names.join(", ")} in ${launch.python}.`,
        "Install",
        "Copy Command",
    );
    if (choice === "Copy Command") {
        await vscode.env.clipboard.writeText(shellLine(command));
    }
    if (choice !== "Install") {
        return false;
    }
    log.info(shellLine(command));
    const options = { location: vscode.ProgressLocation.Notification, title: "Likewise: installing" };
    try {
        const [program, ...parameters] = command;
        const environment = environmentFor(undefined, process.env);
        await vscode.window.withProgress(options, () =>
            run(program as string, parameters, { cwd: OWN_FOLDER, env: environment }),
        );
        return true;
    } catch (error) {
        log.error(`The installation failed: ${error}`);
        void vscode.window.showErrorMessage(`Likewise could not install them. Run: ${shellLine(command)}`);
        return false;
    }
}

async function showLearning(
    launch: Launch,
    parameters: readonly string[],
    log: vscode.LogOutputChannel,
): Promise<void> {
    const options = {
        location: vscode.ProgressLocation.Notification,
        title: "Likewise learns from your repository",
        cancellable: true,
    };
    const ended = await vscode.window.withProgress(options, (progress, cancellation) => {
        const child = spawn(launch.python, parameters, {
            cwd: OWN_FOLDER,
            env: environmentFor(launch.packages, process.env),
        });
        lowerPriority(child, log);
        cancellation.onCancellationRequested(() => child.kill());
        return follow(child, log, (line, increment) =>
            progress.report({ increment, message: progressMessage(line.title, line.seconds_left) }),
        );
    });
    if (typeof ended !== "string") {
        const choice = await vscode.window.showInformationMessage(resultMessage(ended), "Show the Report");
        if (choice !== undefined) {
            await vscode.env.openExternal(vscode.Uri.file(ended.report));
        }
    } else if (ended !== "") {
        void vscode.window.showErrorMessage(`Likewise did not learn: ${ended}`);
    }
}

/** The result, or the reason why there is none; "" after a cancellation, which loses nothing. */
function follow(
    child: ChildProcessWithoutNullStreams,
    log: vscode.LogOutputChannel,
    report: (line: LearningLine & { readonly event: "progress" }, increment: number) => void,
): Promise<(LearningLine & { readonly event: "result" }) | string> {
    let reached = 0;
    let errors = "";
    let result: (LearningLine & { readonly event: "result" }) | undefined;
    child.stderr.on("data", (data: Buffer) => {
        errors = (errors + data.toString()).slice(-4000);
    });
    createInterface({ input: child.stdout }).on("line", (printed) => {
        const line = learningLine(printed);
        if (line?.event === "progress") {
            report(line, 100 * (line.share - reached));
            reached = line.share;
        } else if (line?.event === "note") {
            log.info(line.text);
        } else if (line?.event === "result") {
            result = line;
        }
    });
    return new Promise((resolve) => {
        child.on("error", (error) => resolve(error.message));
        child.on("close", () => {
            const isStopped = child.killed || child.signalCode !== null;
            resolve(result ?? (isStopped ? "" : failureMessage(errors)));
        });
    });
}

function lowerPriority(child: ChildProcessWithoutNullStreams, log: vscode.LogOutputChannel): void {
    try {
        if (child.pid !== undefined) {
            os.setPriority(child.pid, os.constants.priority.PRIORITY_LOW);
        }
    } catch (error) {
        log.warn(`The priority could not be lowered: ${error}`);
    }
}
