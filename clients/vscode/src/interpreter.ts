/** Finds the Python to run the language server with, and helps when there is none. */

import { execFile } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";
import {
    type Bundled,
    type Candidate,
    choose,
    distributionsIn,
    environmentFor,
    type Findings,
    findingsFrom,
    isNewEnough,
    judge,
    type Launch,
    OLDEST_PYTHON,
    OWN_FOLDER,
    PROBE,
    type Refusal,
    shellLine,
} from "./python";

const run = promisify(execFile);
const PROBE_MILLISECONDS = 15_000;
/** How often to look whether the user has run the command. */
const LOOK_AGAIN_MILLISECONDS = 3000;
const isWindows = process.platform === "win32";

/** No interpreter can run the language server; the message says what to do. */
export class NoPython {
    readonly message: string;

    constructor(readonly refusals: readonly Refusal[]) {
        this.message = explain(refusals);
    }
}

export class PythonFinder implements vscode.Disposable {
    private readonly bundled: Bundled;
    /** The environment that `setUp` makes, for those whose interpreter should stay as it is. */
    private readonly ownEnvironment: string;
    private readonly selections = new vscode.EventEmitter<void>();
    private watching: vscode.Disposable | undefined;
    /** The user has selected another interpreter in the Python extension. */
    readonly onDidSelect = this.selections.event;

    constructor(
        context: vscode.ExtensionContext,
        private readonly log: vscode.LogOutputChannel,
    ) {
        const packages = context.asAbsolutePath("bundled");
        const requirements = path.join(packages, "requirements.txt");
        this.bundled = {
            packages: fs.existsSync(path.join(packages, "lsp")) ? packages : undefined,
            requirements: fs.existsSync(requirements) ? requirements : undefined,
        };
        this.ownEnvironment = path.join(context.globalStorageUri.fsPath, "environment");
    }

    async find(setting: string): Promise<Launch | NoPython> {
        const found = await choose(await this.candidates(setting), this.bundled, (python) =>
            this.probe(python),
        );
        if ("python" in found) {
            return found;
        }
        for (const { candidate, why } of found) {
            this.log.warn(`${candidate.python} (${candidate.origin}) cannot run Likewise: ${why}`);
        }
        return new NoPython(found);
    }

    dispose(): void {
        this.watching?.dispose();
        this.selections.dispose();
    }

    /** Makes a private environment with all that Likewise needs. True when there is something new to start with. */
    async setUp(setting: string): Promise<boolean> {
        const { requirements } = this.bundled;
        if (requirements === undefined) {
            void vscode.window.showWarningMessage(
                "This build of Likewise carries no Python packages; install it from its checkout.",
            );
            return false;
        }
        const python = await this.newEnoughPython(setting);
        if (python === undefined) {
            const oldest = OLDEST_PYTHON.join(".");
            void vscode.window.showErrorMessage(
                `Likewise needs Python ${oldest} or newer; install it first.`,
            );
            return false;
        }
        const steps = [
            [python, "-m", "venv", this.ownEnvironment],
            [this.ownPython(), "-m", "pip", "install", "--disable-pip-version-check", "-r", requirements],
        ];
        const options = {
            location: vscode.ProgressLocation.Notification,
            title: "Likewise: making a private Python environment",
        };
        try {
            await vscode.window.withProgress(options, async () => {
                for (const [command, ...parameters] of steps) {
                    this.log.info(shellLine([command as string, ...parameters]));
                    await run(command as string, parameters, {
                        cwd: OWN_FOLDER,
                        env: environmentFor(undefined, process.env),
                    });
                }
            });
            return true;
        } catch (error) {
            this.log.error(`The environment could not be made: ${error}`);
            const choice = await vscode.window.showErrorMessage(
                "Likewise could not make its Python environment.",
                "Show the Log",
            );
            if (choice !== undefined) {
                this.log.show();
            }
            return false;
        }
    }

    /** Says why nothing runs, and offers each way out. */
    async tell({ message, refusals }: NoPython): Promise<void> {
        const helpful = helpfulOf(refusals);
        const buttons = [
            ...(this.bundled.requirements === undefined ? [] : ["Set Up for Me"]),
            ...(helpful === undefined ? [] : ["Copy Command"]),
            "Choose Interpreter",
        ];
        switch (await vscode.window.showErrorMessage(message, ...buttons)) {
            case "Set Up for Me":
                await vscode.commands.executeCommand("likewise.setUpPython");
                break;
            case "Copy Command":
                await this.waitForCommand(helpful as Helpful);
                break;
            case "Choose Interpreter":
                await vscode.commands.executeCommand("workbench.action.openSettings", "likewise.python");
                break;
        }
    }

    /** Copies the command and starts as soon as it has helped, or until the user has had enough. */
    private async waitForCommand({ candidate, command }: Helpful): Promise<void> {
        await vscode.env.clipboard.writeText(shellLine(command));
        const options = {
            location: vscode.ProgressLocation.Notification,
            title: "Likewise: the command is copied. Run it in a terminal; Likewise starts when it is done.",
            cancellable: true,
        };
        await vscode.window.withProgress(options, async (_, cancellation) => {
            while (!cancellation.isCancellationRequested) {
                await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MILLISECONDS));
                if (!("why" in judge(candidate, this.bundled, await this.probe(candidate.python)))) {
                    await vscode.commands.executeCommand("likewise.restart");
                    return;
                }
            }
        });
    }

    private async candidates(setting: string): Promise<Candidate[]> {
        const candidates =
            setting === ""
                ? await this.usualCandidates()
                : [{ python: setting, origin: "the setting likewise.python" }];
        if (fs.existsSync(this.ownPython())) {
            candidates.push({ python: this.ownPython(), origin: "Likewise's own environment" });
        }
        return candidates;
    }

    private async usualCandidates(): Promise<Candidate[]> {
        const candidates = [{ python: isWindows ? "python" : "python3", origin: "on the path" }];
        // In an untrusted workspace the selected interpreter may be a program that came with the files.
        const selected = vscode.workspace.isTrusted ? await this.selectedInPythonExtension() : undefined;
        if (selected !== undefined) {
            candidates.unshift({ python: selected, origin: "the Python extension's interpreter" });
        }
        return candidates;
    }

    /** One to make the environment with, which needs nothing but to be new enough. */
    private async newEnoughPython(setting: string): Promise<string | undefined> {
        const named = setting === "" ? [] : [{ python: setting }];
        for (const { python } of [...named, ...(await this.usualCandidates())]) {
            const found = await this.probe(python);
            if (!(found instanceof Error) && isNewEnough(found.version)) {
                return python;
            }
        }
        return undefined;
    }

    private async selectedInPythonExtension(): Promise<string | undefined> {
        const extension = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
        if (extension === undefined) {
            return undefined;
        }
        try {
            const { environments } = await extension.activate();
            this.watching ??= environments.onDidChangeActiveEnvironmentPath(() => this.selections.fire());
            const resource = vscode.workspace.workspaceFolders?.[0]?.uri;
            const active = environments.getActiveEnvironmentPath(resource);
            return (await environments.resolveEnvironment(active))?.executable.uri?.fsPath;
        } catch (error) {
            this.log.warn(`The Python extension did not name its interpreter: ${error}`);
            return undefined;
        }
    }

    private async probe(python: string): Promise<Findings | Error> {
        const { requirements } = this.bundled;
        const distributions =
            requirements === undefined ? [] : distributionsIn(fs.readFileSync(requirements, "utf8"));
        try {
            const { stdout } = await run(python, ["-c", PROBE, ...distributions], {
                timeout: PROBE_MILLISECONDS,
                cwd: OWN_FOLDER,
                env: environmentFor(undefined, process.env),
            });
            return findingsFrom(stdout);
        } catch (error) {
            return error instanceof Error
                ? new Error(error.message.split("\n")[0])
                : new Error(String(error));
        }
    }

    private ownPython(): string {
        return path.join(this.ownEnvironment, ...(isWindows ? ["Scripts", "python.exe"] : ["bin", "python"]));
    }
}

type Helpful = Refusal & { readonly command: readonly string[] };

function helpfulOf(refusals: readonly Refusal[]): Helpful | undefined {
    return refusals.find((refusal): refusal is Helpful => refusal.command !== undefined);
}

function explain(refusals: readonly Refusal[]): string {
    const reasons = refusals.map(
        ({ candidate, why }) => `${candidate.python} (${candidate.origin}): ${why}.`,
    );
    const helpful = helpfulOf(refusals);
    const advice = helpful === undefined ? [] : [`Run: ${shellLine(helpful.command)}`];
    return ["Likewise found no Python to run with.", ...reasons, ...advice].join(" ");
}

/** The part of the Python extension's interface that we use. */
interface PythonExtension {
    readonly environments: {
        readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
        getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
        resolveEnvironment(environment: {
            readonly path: string;
        }): Promise<{ readonly executable: { readonly uri: vscode.Uri | undefined } } | undefined>;
    };
}
