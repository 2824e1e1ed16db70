/** Finds the Python to run the language server with, and helps when there is none. */

import { execFile } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";
import {
    type Advice,
    adviceFor,
    type Bundled,
    type Candidate,
    choose,
    distributionsIn,
    environmentFor,
    type Findings,
    findingsFrom,
    isNewEnough,
    type Launch,
    OWN_FOLDER,
    PROBE,
    pythonIn,
    shellLine,
} from "./python";

const run = promisify(execFile);
const PROBE_MILLISECONDS = 15_000;
const isWindows = process.platform === "win32";

/** No interpreter can run the language server; the advice says what to do. */
export class NoPython {
    constructor(readonly advice: Advice) {}
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
        for (const { candidate, why, command } of found) {
            this.log.warn(`${candidate.python} (${candidate.origin}) cannot run Likewise: ${why}`);
            if (command !== undefined) {
                this.log.info(`This would help: ${shellLine(command)}`);
            }
        }
        return new NoPython(adviceFor(found, this.bundled));
    }

    dispose(): void {
        this.watching?.dispose();
        this.selections.dispose();
    }

    /** Says in one sentence why nothing runs, with one way out; the log has the rest. */
    async tell({ advice }: NoPython): Promise<void> {
        if ((await vscode.window.showInformationMessage(advice.message, advice.button)) !== undefined) {
            await vscode.commands.executeCommand(advice.command);
        }
    }

    /** The folder and the requirements of a private environment; undefined when this build carries no packages. */
    get plan(): { readonly environment: string; readonly requirements: string } | undefined {
        const { requirements } = this.bundled;
        return requirements === undefined ? undefined : { environment: this.ownEnvironment, requirements };
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
    async newEnoughPython(setting: string): Promise<string | undefined> {
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
        return pythonIn(this.ownEnvironment, process.platform);
    }
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
