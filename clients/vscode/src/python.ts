/** Chooses the Python that runs the language server, or advises the user. The caller runs the processes. */

import { posix, win32 } from "node:path";

export const OLDEST_PYTHON: readonly [number, number] = [3, 11];

/** An interpreter to try, in the words that the user knows it by. */
export interface Candidate {
    readonly python: string;
    readonly origin: string;
}

/** The findings of the probe in an interpreter. */
export interface Findings {
    readonly version: readonly [number, number];
    /** True if Likewise itself is installed there. */
    readonly hasLikewise: boolean;
    /** Distributions that it needs and that are not there. */
    readonly missing: readonly string[];
}

/** The interpreter that runs the language server, and the packages that it needs from us. */
export interface Launch {
    readonly python: string;
    readonly origin: string;
    /** The folder with our packages, when the interpreter has only their dependencies. */
    readonly packages: string | undefined;
}

/** Why a candidate cannot be used. */
export interface Refusal {
    readonly candidate: Candidate;
    readonly why: string;
    /** The command that would help, if one would. */
    readonly command: readonly string[] | undefined;
}

export type Probe = (python: string) => Promise<Findings | Error>;

/** The part of the extension's folder with our Python packages; empty when the vsix was built without them. */
export interface Bundled {
    readonly packages: string | undefined;
    readonly requirements: string | undefined;
}

/** The first candidate that can run the language server, or each one's refusal. */
export async function choose(
    candidates: readonly Candidate[],
    bundled: Bundled,
    probe: Probe,
): Promise<Launch | readonly Refusal[]> {
    const refusals: Refusal[] = [];
    for (const candidate of candidates) {
        const launch = judge(candidate, bundled, await probe(candidate.python));
        if ("why" in launch) {
            refusals.push(launch);
        } else {
            return launch;
        }
    }
    return refusals;
}

export function judge(candidate: Candidate, bundled: Bundled, found: Findings | Error): Launch | Refusal {
    const refuse = (why: string, command?: readonly string[]): Refusal => ({ candidate, why, command });
    if (found instanceof Error) {
        return refuse(`it does not run (${found.message})`);
    }
    if (!isNewEnough(found.version)) {
        return refuse(
            `it is Python ${found.version.join(".")}; Likewise needs ${OLDEST_PYTHON.join(".")} or newer`,
        );
    }
    const packages = found.hasLikewise ? undefined : bundled.packages;
    if (!found.hasLikewise && packages === undefined) {
        const checkout = "path/to/likewise[cpu]"; // there is no such distribution on an index: we install from a checkout
        return refuse("Likewise is not installed there", [
            candidate.python,
            "-m",
            "pip",
            "install",
            "-e",
            checkout,
        ]);
    }
    if (found.missing.length > 0) {
        return refuse(
            `it lacks ${found.missing.join(", ")}`,
            installCommand(candidate.python, bundled, found.missing),
        );
    }
    return { ...candidate, packages };
}

/** The advice when nothing can run the language server: one sentence, and the command of one button. */
export function adviceFor(refusals: readonly Refusal[], bundled: Bundled): Advice {
    const canSetUp =
        bundled.requirements !== undefined && refusals.some(({ command }) => command !== undefined);
    if (canSetUp) {
        return {
            message: "Likewise needs a few Python libraries before it can start.",
            button: "Set Up",
            command: "likewise.setUpPython",
        };
    }
    return {
        message: `Likewise found no Python ${OLDEST_PYTHON.join(".")} or newer to run with.`,
        button: "Choose Interpreter",
        command: "likewise.chooseInterpreter",
    };
}

export interface Advice {
    readonly message: string;
    readonly button: string;
    readonly command: string;
}

/** The interpreter of a virtual environment. */
export function pythonIn(environment: string, platform: NodeJS.Platform): string {
    return platform === "win32"
        ? win32.join(environment, "Scripts", "python.exe")
        : posix.join(environment, "bin", "python");
}

/** The commands that make a private environment with all that Likewise needs. `uv` does it faster where it is installed. */
export function setUpCommands(
    python: string,
    environment: string,
    requirements: string,
    { hasUv, platform }: { readonly hasUv: boolean; readonly platform: NodeJS.Platform },
): readonly (readonly string[])[] {
    const own = pythonIn(environment, platform);
    return hasUv
        ? [
              ["uv", "venv", "--python", python, environment],
              ["uv", "pip", "install", "--python", own, "-r", requirements],
          ]
        : [
              [python, "-m", "venv", environment],
              [own, "-m", "pip", "install", "--disable-pip-version-check", "-r", requirements],
          ];
}

/** A line that pip or uv prints, as the progress shows it; undefined when it says nothing to a user. */
export function progressFrom(line: string): string | undefined {
    const [, verb, what] =
        /^\s*(Collecting|Downloading|Installing|Prepared|Resolved|Installed|Processing)\b(.*)$/.exec(line) ??
        [];
    if (verb === undefined || what === undefined) {
        return undefined;
    }
    const names = what.replace(/https?:\/\/\S*\/|(?<=\s)\S*[\\/](?=\S+\.whl)/, "").replace(/\s+/g, " ");
    const text = `${verb}${names}`.trim();
    return text.length <= LIMIT_PROGRESS ? text : `${text.slice(0, LIMIT_PROGRESS - 1)}…`;
}

const LIMIT_PROGRESS = 60;

function installCommand(python: string, bundled: Bundled, missing: readonly string[]): readonly string[] {
    const what = bundled.requirements === undefined ? missing : ["-r", bundled.requirements];
    return [python, "-m", "pip", "install", ...what];
}

/** A command as it is typed into a shell. */
export function shellLine(command: readonly string[]): string {
    return command.map((word) => (/^[\w@%+=:,./\\-]+$/.test(word) ? word : `"${word}"`)).join(" ");
}

/**
 * The folder that our Python processes run in, never the workspace: Python imports from where it runs, and Windows looks
 * for programs there.
 */
export const OWN_FOLDER = __dirname;

/** The command that starts the language server. */
export function commandFor(launch: Launch, inherited: NodeJS.ProcessEnv) {
    return {
        command: launch.python,
        args: ["-P", "-m", "lsp"],
        options: { cwd: OWN_FOLDER, env: environmentFor(launch.packages, inherited) },
    };
}

/**
 * The environment of a Python process of ours. Nothing of the workspace may be imported in place of our packages, so
 * PYTHONPATH names them or is not there: the user's own value may name folders of the workspace.
 */
export function environmentFor(
    packages: string | undefined,
    inherited: NodeJS.ProcessEnv,
): Record<string, string> {
    const kept = Object.entries(inherited).filter(
        // Windows has environment variables in any case.
        (entry): entry is [string, string] =>
            entry[1] !== undefined && entry[0].toUpperCase() !== "PYTHONPATH",
    );
    return {
        ...Object.fromEntries(kept),
        PYTHONSAFEPATH: "1",
        PYTHONUTF8: "1",
        ...(packages === undefined ? {} : { PYTHONPATH: packages }),
    };
}

/** Distribution names out of a requirements file: "uvicorn[standard]>=0.54" is uvicorn. */
export function distributionsIn(requirements: string): string[] {
    return requirements
        .split(/\r?\n/)
        .map((line) => /^[A-Za-z0-9][\w.-]*/.exec(line.trim())?.[0])
        .filter((name) => name !== undefined);
}

/**
 * A program for `python -c`, with distribution names as its arguments; prints Findings as JSON. It must run in any
 * Python 3. The module `lsp.probe` is there for it alone: an interpreter that has it has Likewise.
 */
export const PROBE = `
import importlib.metadata, importlib.util, json, sys

def has_module(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False

def has_distribution(name):
    alternatives = [name, "onnxruntime-gpu"] if name == "onnxruntime" else [name]
    for alternative in alternatives:
        try:
            importlib.metadata.version(alternative)
            return True
        except importlib.metadata.PackageNotFoundError:
            pass
    return False

print(json.dumps({
    "version": list(sys.version_info[:2]),
    "hasLikewise": has_module("lsp.probe"),
    "missing": [name for name in sys.argv[1:] if not has_distribution(name)],
}))
`;

export function findingsFrom(printed: string): Findings {
    const found = JSON.parse(printed) as {
        version: [number, number];
        hasLikewise: boolean;
        missing: string[];
    };
    return { version: found.version, hasLikewise: found.hasLikewise, missing: found.missing };
}

export function isNewEnough([major, minor]: Findings["version"]): boolean {
    return major > OLDEST_PYTHON[0] || (major === OLDEST_PYTHON[0] && minor >= OLDEST_PYTHON[1]);
}
