import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import {
    type Bundled,
    choose,
    commandFor,
    distributionsIn,
    environmentFor,
    type Findings,
    findingsFrom,
    judge,
    OWN_FOLDER,
    PROBE,
    shellLine,
} from "../src/python";

const candidate = { python: "/usr/bin/python3", origin: "on the path" };
const bundled: Bundled = { packages: "/ext/bundled", requirements: "/ext/bundled/requirements.txt" };
const nothing: Bundled = { packages: undefined, requirements: undefined };
const found = (findings: Partial<Findings>): Findings => ({
    version: [3, 12],
    hasLikewise: false,
    missing: [],
    ...findings,
});

describe("an interpreter", () => {
    test("with Likewise installed uses its own", () => {
        expect(judge(candidate, bundled, found({ hasLikewise: true }))).toEqual({
            ...candidate,
            packages: undefined,
        });
    });

    test("with the dependencies alone uses the packages in the extension", () => {
        expect(judge(candidate, bundled, found({}))).toEqual({ ...candidate, packages: "/ext/bundled" });
    });

    test("without the dependencies is told the command", () => {
        expect(judge(candidate, bundled, found({ missing: ["pygls"] }))).toMatchObject({
            why: "it lacks pygls",
            command: ["/usr/bin/python3", "-m", "pip", "install", "-r", "/ext/bundled/requirements.txt"],
        });
    });

    test("without anything, and nothing in the extension, is told to install from a checkout", () => {
        expect(judge(candidate, nothing, found({}))).toMatchObject({
            why: "Likewise is not installed there",
        });
    });

    test("that is too old is refused", () => {
        expect(judge(candidate, bundled, found({ version: [3, 9] }))).toMatchObject({
            why: "it is Python 3.9; Likewise needs 3.11 or newer",
        });
    });

    test("that does not run is refused with the reason", () => {
        expect(judge(candidate, bundled, new Error("ENOENT"))).toMatchObject({
            why: "it does not run (ENOENT)",
        });
    });
});

describe("choosing", () => {
    const candidates = ["a", "b", "c"].map((python) => ({ python, origin: "test" }));

    test("takes the first that works", async () => {
        const probe = async (python: string) => (python === "a" ? new Error("ENOENT") : found({}));
        expect(await choose(candidates, bundled, probe)).toMatchObject({ python: "b" });
    });

    test("says why of each when none does", async () => {
        const refusals = await choose(candidates, bundled, async () => found({ missing: ["numpy"] }));
        expect(refusals).toHaveLength(3);
    });
});

test("a shell line quotes what needs it", () => {
    expect(shellLine(["/my python", "-m", "pip"])).toBe('"/my python" -m pip');
});

test("requirements give their distributions", () => {
    expect(distributionsIn("uvicorn[standard]>=0.54\n# note\n\npygls>=2,<3\npydantic-settings\n")).toEqual([
        "uvicorn",
        "pygls",
        "pydantic-settings",
    ]);
});

describe("the language server imports nothing from the workspace", () => {
    test("since it starts with a safe path and in a folder of ours", () => {
        const launch = { ...candidate, packages: "/ext/bundled" };
        expect(commandFor(launch, {})).toMatchObject({
            command: "/usr/bin/python3",
            args: ["-P", "-m", "lsp"],
            options: { cwd: path.resolve(__dirname, "../src") },
        });
    });

    test("since PYTHONPATH names our packages alone", () => {
        expect(environmentFor("/ext/bundled", { PYTHONPATH: "/mine", EMPTY: undefined })).toEqual({
            PYTHONSAFEPATH: "1",
            PYTHONUTF8: "1",
            PYTHONPATH: "/ext/bundled",
        });
        expect(environmentFor(undefined, { PythonPath: "/mine", HOME: "/home/me" })).toEqual({
            HOME: "/home/me",
            PYTHONSAFEPATH: "1",
            PYTHONUTF8: "1",
        });
    });
});

describe("the probe", () => {
    const checkout = path.resolve(__dirname, "../../..");
    const probe = (packages: string | undefined) =>
        findingsFrom(
            execFileSync("python3", ["-c", PROBE, "pip", "no-such-distribution-at-all"], {
                encoding: "utf8",
                cwd: OWN_FOLDER,
                env: environmentFor(packages, process.env),
            }),
        );

    test("names the distributions that a real Python lacks", () => {
        expect(probe(undefined).missing).toEqual(["no-such-distribution-at-all"]);
    });

    test("finds Likewise where it is installed, and only there", () => {
        expect(probe(checkout).hasLikewise).toBe(true);
        expect(probe(undefined).hasLikewise).toBe(false);
    });

    test("does not take another package of that name for Likewise", () => {
        const folder = fs.mkdtempSync(path.join(os.tmpdir(), "likewise-"));
        fs.mkdirSync(path.join(folder, "lsp"));
        fs.writeFileSync(path.join(folder, "lsp", "__init__.py"), "");
        expect(probe(folder).hasLikewise).toBe(false);
        fs.rmSync(folder, { recursive: true });
    });
});
