import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import {
    adviceFor,
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
    progressFrom,
    pythonIn,
    type Refusal,
    setUpCommands,
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

describe("the set-up", () => {
    const python = { linux: "/home/me/env/bin/python", win32: "C:\\Users\\me\\env\\Scripts\\python.exe" };

    test("the interpreter of an environment has its place on each system", () => {
        expect(pythonIn("/home/me/env", "linux")).toBe(python.linux);
        expect(pythonIn("/Users/me/Library/Application Support/env", "darwin")).toBe(
            "/Users/me/Library/Application Support/env/bin/python",
        );
        expect(pythonIn("C:\\Users\\me\\env", "win32")).toBe(python.win32);
    });

    test("takes pip, or uv where it is installed", () => {
        const pip = setUpCommands("python", "C:\\Users\\me\\env", "C:\\r.txt", {
            hasUv: false,
            platform: "win32",
        });
        expect(pip).toEqual([
            ["python", "-m", "venv", "C:\\Users\\me\\env"],
            [python.win32, "-m", "pip", "install", "--disable-pip-version-check", "-r", "C:\\r.txt"],
        ]);
        const uv = setUpCommands("python3", "/home/me/env", "/r.txt", { hasUv: true, platform: "linux" });
        expect(uv).toEqual([
            ["uv", "venv", "--python", "python3", "/home/me/env"],
            ["uv", "pip", "install", "--python", python.linux, "-r", "/r.txt"],
        ]);
    });

    test.each([
        [
            "Collecting numpy (from -r /x/requirements.txt (line 3))",
            "Collecting numpy (from -r /x/requirements.txt (line 3))",
        ],
        [
            "  Downloading https://host/simple/numpy-2.0-cp311.whl (17.1 MB)",
            "Downloading numpy-2.0-cp311.whl (17.1 MB)",
        ],
        ["Processing /tmp/wheels/numpy-2.0.whl", "Processing numpy-2.0.whl"],
        ["Installing collected packages: a, b", "Installing collected packages: a, b"],
        ["     |████████| 3 kB", undefined],
    ])("of %j the user sees %j", (line, expected) => {
        expect(progressFrom(line)).toBe(expected);
    });

    test("one sentence and one button: libraries that are missing can be set up", () => {
        const lacking = judge(
            { python: "/usr/bin/python3", origin: "on the path" },
            { packages: "/p", requirements: "/p/requirements.txt" },
            { version: [3, 12], hasLikewise: false, missing: ["fastapi", "numpy"] },
        ) as Refusal;
        const advice = adviceFor([lacking], { packages: "/p", requirements: "/p/requirements.txt" });
        expect(advice).toMatchObject({ button: "Set Up", command: "likewise.setUpPython" });
        expect(advice.message).not.toContain("/usr/bin");
        expect(advice.message.match(/\./g)).toHaveLength(1);
    });

    test("without any new enough Python the user chooses one", () => {
        const old = judge(
            { python: "python3", origin: "on the path" },
            { packages: "/p", requirements: "/p/requirements.txt" },
            { version: [3, 9], hasLikewise: false, missing: [] },
        ) as Refusal;
        expect(adviceFor([old], { packages: "/p", requirements: "/p/requirements.txt" })).toMatchObject({
            message: "Likewise found no Python 3.11 or newer to run with.",
            button: "Choose Interpreter",
        });
    });
});
