/** Makes a private Python environment for the language server: with progress, and it can be cancelled. */

import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import * as vscode from "vscode";
import type { PythonFinder } from "./interpreter";
import { environmentFor, OLDEST_PYTHON, OWN_FOLDER, progressFrom, setUpCommands, shellLine } from "./python";

class Cancelled extends Error {}

/** True when there is something new to start with. */
export async function setUp(
    finder: PythonFinder,
    log: vscode.LogOutputChannel,
    setting: string,
): Promise<boolean> {
    const { plan } = finder;
    if (plan === undefined) {
        void vscode.window.showWarningMessage(
            "This build of Likewise carries no Python packages; install it from its checkout.",
        );
        return false;
    }
    const python = await finder.newEnoughPython(setting);
    if (python === undefined) {
        const oldest = OLDEST_PYTHON.join(".");
        void vscode.window.showWarningMessage(`Likewise needs Python ${oldest} or newer; install it first.`);
        return false;
    }
    const { environment, requirements } = plan;
    const commands = setUpCommands(python, environment, requirements, {
        hasUv: await canRun("uv"),
        platform: process.platform,
    });
    const options = {
        location: vscode.ProgressLocation.Notification,
        title: "Likewise: setting up Python",
        cancellable: true,
    };
    try {
        await vscode.window.withProgress(options, async (progress, cancellation) => {
            for (const command of commands) {
                log.info(shellLine(command));
                await runCommand(command, log, progress, cancellation);
            }
        });
        return true;
    } catch (error) {
        await rm(environment, { recursive: true, force: true }); // half an environment helps nobody
        if (!(error instanceof Cancelled)) {
            log.error(`The environment could not be made: ${error}`);
            await sayFailed(log);
        }
        return false;
    }
}

async function sayFailed(log: vscode.LogOutputChannel): Promise<void> {
    const message = "Likewise could not set up Python.";
    if ((await vscode.window.showErrorMessage(message, "Show the Log")) !== undefined) {
        log.show();
    }
}

function runCommand(
    [program, ...parameters]: readonly string[],
    log: vscode.LogOutputChannel,
    progress: vscode.Progress<{ message?: string }>,
    cancellation: vscode.CancellationToken,
): Promise<void> {
    return new Promise((resolve, reject) => {
        const child = spawn(program as string, parameters, {
            cwd: OWN_FOLDER,
            env: environmentFor(undefined, process.env),
            stdio: ["ignore", "pipe", "pipe"],
        });
        const cancelling = cancellation.onCancellationRequested(() => child.kill());
        for (const stream of [child.stdout, child.stderr]) {
            stream.setEncoding("utf8");
            stream.on("data", (text: string) => {
                for (const line of text.split(/\r?\n|\r/).filter((each) => each.trim() !== "")) {
                    log.info(line);
                    const message = progressFrom(line);
                    if (message !== undefined) {
                        progress.report({ message });
                    }
                }
            });
        }
        child.on("error", reject);
        child.on("close", (code) => {
            cancelling.dispose();
            if (cancellation.isCancellationRequested) {
                reject(new Cancelled());
            } else if (code === 0) {
                resolve();
            } else {
                reject(new Error(`${program} ended with code ${code}`));
            }
        });
    });
}

function canRun(program: string): Promise<boolean> {
    return new Promise((resolve) => {
        const child = spawn(program, ["--version"], { cwd: OWN_FOLDER, stdio: "ignore" });
        child.on("error", () => resolve(false));
        child.on("close", (code) => resolve(code === 0));
    });
}
