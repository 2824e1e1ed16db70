// Daily use, as people have their editor: what hurt once, one scenario an entry.
import assert from "node:assert/strict";
import fs from "node:fs";
import { COLUMN, changed, changeTwice, FAR, nextShown, PLACES, takeNext } from "./renaming.mjs";
import { sleep, until } from "./workbench.mjs";

const says = (workbench, words) =>
    until(`the status: ${words}`, async () => words.test(await workbench.status()));

/** The examples of the walkthrough: where its change is to be made by hand. */
const EXAMPLES = [
    { language: "Python", file: "../media/walkthrough/orders.py", from: "logger.info", to: "logger.debug" },
    { language: "TypeScript", file: "../../../tests/data/kinds/track_list.ts", from: "let ", to: "const " },
    { language: "Go", file: "../../../tests/data/kinds/config_store.go", from: "%s", to: "%w" },
];
/** The lines and columns, from 1, at which a text is found. */
const placesIn = (file, text) =>
    fs
        .readFileSync(new URL(file, import.meta.url), "utf8")
        .split("\n")
        .map((line, index) => ({ line: index + 1, column: line.indexOf(text) + 1 }))
        .filter(({ column }) => column > 0);
const written = async (workbench) => (await workbench.drawn()).flatMap((line) => line.written).join("\n");

export const daily = [
    {
        name: "on a line longer than the window the label stands beside it, and Tab jumps to what it says",
        async run(workbench) {
            const text = FAR.replace(
                '    log.info("reading the settings")\n',
                `    log.info("reading")${" ".repeat(2)}# ${"long ".repeat(50)}\n`,
            );
            const before = await changeTwice(workbench, "long.py", text);
            await workbench.hint(/^→ line (\d+): info → debug/);
            const label = (await workbench.drawn()).find(({ written }) => written.includes("Tab"));
            assert.notEqual(label.number, PLACES[1]);
            assert.ok(await workbench.isOnScreen("Tab"), "the label is off the screen");
            assert.deepEqual(
                (await workbench.gutter()).map(({ name }) => name),
                ["down"],
            );
            await workbench.press("Tab");
            assert.equal(await nextShown(workbench), 33);
            assert.equal(await workbench.saved("long.py"), before);
        },
    },
    {
        name: "where no label can be seen Tab is the user's, and the arrow in the gutter stays",
        async run(workbench) {
            const tail = `  # ${"long ".repeat(50)}`;
            const lines = FAR.trimEnd().split("\n");
            await workbench.open("hidden.py", lines.map((line) => `${line}${tail}\n`).join(""));
            for (const line of [7, 8]) await workbench.replace(line, COLUMN, "info", "debug");
            await until("the arrow", async () =>
                (await workbench.gutter()).some(({ line, name }) => line === 8 && name === "down"),
            );
            await workbench.hint(/^Alt\+L$/);
            const before = await workbench.saved("hidden.py");
            await workbench.press("Tab");
            await workbench.cursorOn(8);
            assert.notEqual(await workbench.saved("hidden.py"), before);
            await workbench.press("Control+z");
            await sleep(1000); // a drawing outlives its text for a moment
            await until("the arrow again", async () => (await workbench.gutter()).length > 0);
            await workbench.press("Alt+l");
            await workbench.cursorOn(33);
        },
    },
    {
        name: "in a split the label is not cut off",
        async run(workbench) {
            await changeTwice(workbench, "split.py", FAR);
            await workbench.hint(/^→ line (\d+): info → debug/);
            await workbench.press("Control+Backslash");
            await workbench.hint(/^→ line (\d+): info → debug/);
            assert.ok(await workbench.isOnScreen("Tab"), "the label is off the screen");
            await workbench.command("View: Close All Editors in Group");
        },
    },
    {
        name: "how many more there are is told and counts down; after the last, Tabs too many do nothing",
        async run(workbench) {
            const before = await changeTwice(workbench, "chain.py");
            await workbench.hint(/3 more: Tab, or apply all: Alt\+Shift\+L/);
            await workbench.picture("count", { height: 290, width: 1100 });
            const first = await takeNext(workbench);
            await workbench.hint(/2 more: Tab/);
            const second = await takeNext(workbench);
            await nextShown(workbench);
            for (let presses = 0; presses < 5; presses++) {
                await workbench.press("Tab");
                await sleep(150);
            }
            await workbench.hint(/^done, 3 places$/);
            const rest = [9, 10, 11].filter((line) => line !== first && line !== second);
            assert.equal(await workbench.saved("chain.py"), changed(before, first, second, ...rest));
            await workbench.showsNothing();
            await workbench.press("Tab");
            await until(
                "a Tab again",
                async () => (await workbench.saved("chain.py")) !== changed(before, 9, 10, 11),
            );
        },
    },
    {
        name: "Alt+Shift+L applies all, Alt+Y says why",
        async run(workbench) {
            const before = await changeTwice(workbench, "keys.py");
            await nextShown(workbench);
            await workbench.press("Alt+y");
            await workbench.page.locator(".quick-input-title", { hasText: "because you edited" }).waitFor();
            await workbench.press("Escape");
            await nextShown(workbench);
            await workbench.press("Alt+Shift+l");
            await workbench.page.locator(".quick-input-title", { hasText: "Likewise: apply in" }).waitFor();
            await workbench.press("Enter");
            const after = changed(before, 9, 10, 11);
            await until("applied", async () => (await workbench.saved("keys.py")) === after);
        },
    },
    {
        name: "the hover shows the change, and the mouse accepts it",
        async run(workbench) {
            const before = await changeTwice(workbench, "mouse.py");
            const line = await nextShown(workbench);
            assert.deepEqual(await workbench.gutter(), [{ line, name: "here" }]);
            await workbench.hoverStruck();
            const hover = workbench.page.locator(".monaco-hover:not(.hidden)", {
                hasText: "Likewise suggests",
            });
            await hover.waitFor();
            assert.match(
                await hover.innerText(),
                /-\s+log.info\("opening the files"\)\s+\+\s+log.debug\("opening the files"\)/,
            );
            await workbench.windowPicture("hover");
            await hover.locator("a", { hasText: "Accept" }).click();
            await until("applied", async () => (await workbench.saved("mouse.py")) === changed(before, line));
        },
    },
    {
        name: "the status says at once that a language is off, and why nothing is suggested",
        async run(workbench) {
            await changeTwice(workbench, "off.py");
            await nextShown(workbench);
            await workbench.command("Likewise: Turn On or Off for This Language");
            await workbench.showsNothing();
            await says(workbench, /Suggestions are off for this language\./);
            await workbench.command("Likewise: Turn On or Off for This Language");
            await nextShown(workbench);
            await workbench.press("Escape");
            await says(workbench, /Likewise is quiet: You dismissed this suggestion\./);
            await workbench.open(".env", "SECRET=1\n");
            await says(workbench, /This file is excluded because it may hold secrets\./);
        },
    },
    {
        name: "what is not sure enough stands in the menu, with today's counts, and can be shown and taken",
        async run(workbench) {
            await workbench.withSettings({ "likewise.threshold": 1 }, async () => {
                const before = await changeTwice(workbench, "unsure.py");
                await says(workbench, /No next edit is likely enough\./);
                await workbench.command("Likewise: Show What Likewise Is Doing");
                const entry = workbench.page.locator(".quick-input-list .monaco-list-row", {
                    hasText: /Not sure enough: line \d+ info → debug, \d+ %. Show it./,
                });
                await entry.waitFor();
                await workbench.page
                    .locator(".quick-input-list .monaco-list-row", {
                        hasText: /Today: \d+ offered, \d+ accepted, \d+ keys saved/,
                    })
                    .waitFor();
                await workbench.windowPicture("status");
                await entry.click();
                const line = await takeNext(workbench);
                assert.equal(await workbench.saved("unsure.py"), changed(before, line));
            });
        },
    },
    {
        name: "the log tells levels, and the time once",
        async run(workbench) {
            const log = await workbench.log();
            assert.match(log, /\[(info|debug)\]/);
            assert.doesNotMatch(log, /\[error\](?! Server process exited)/); // an earlier scenario kills it
            assert.doesNotMatch(log, /\d\d:\d\d:\d\d.*\d\d:\d\d:\d\d/);
        },
    },
    {
        name: "of two words on a line each is struck by itself, and Alt+K takes them one by one",
        async run(workbench) {
            const pairs = (names) => names.map((name) => `    ${name} = reader.take(${name})\n`).join("");
            const text = `def read(reader, width, height, depth, weight):\n${pairs(["width", "width", "width", "width"])}`;
            await workbench.open("words.py", text);
            for (const line of [2, 3]) {
                await workbench.replace(line, 5, "width", "size");
                await workbench.replace(line, 24, "width", "size");
            }
            await until("two struck words", async () =>
                (await workbench.drawn()).some(
                    ({ struck, written }) =>
                        struck === "widthwidth" && written.filter((each) => each === "size").length === 2,
                ),
            );
            const before = await workbench.saved("words.py");
            await workbench.press("Alt+k");
            await until(
                "one word taken",
                async () =>
                    (await workbench.saved("words.py")) === before.replace("    width =", "    size ="),
            );
            await workbench.press("Alt+k");
            await until(
                "both taken",
                async () =>
                    (await workbench.saved("words.py")) ===
                    before.replace("    width = reader.take(width)", "    size = reader.take(size)"),
            );
        },
    },
    {
        name: "while a word is half typed in front of another it is not repeated elsewhere",
        async run(workbench) {
            const text = `def start():\n${'    console.log("x")\n'.repeat(6)}`;
            await workbench.open("half.py", text);
            await workbench.goTo(2, 5);
            await workbench.type("self.");
            await workbench.goTo(3, 5);
            await workbench.type("se");
            await sleep(2000);
            assert.ok(!JSON.stringify(await workbench.drawn()).includes("seconsole"), "seconsole is offered");
            await workbench.type("lf.");
            await until("the next one", async () =>
                JSON.stringify(await workbench.drawn()).includes("self."),
            );
        },
    },
    {
        name: "who never wants Tab gets Alt+L, and Tab is left alone",
        async run(workbench) {
            await workbench.withSettings({ "likewise.neverUseTab": true }, async () => {
                const before = await changeTwice(workbench, "never.py");
                await nextShown(workbench);
                await workbench.hint(/^Alt\+L$/);
                await workbench.press("Tab");
                await until("a Tab in the text", async () => (await workbench.saved("never.py")) !== before);
                await workbench.press("Control+z");
                const line = await takeNext(workbench, "Alt+l");
                assert.equal(await workbench.saved("never.py"), changed(before, line));
            });
        },
    },
    {
        name: "in high contrast the new text has a border",
        async run(workbench) {
            await workbench.withSettings({ "workbench.colorTheme": "Default High Contrast" }, async () => {
                await workbench.page.waitForSelector(".monaco-workbench.hc-black");
                await changeTwice(workbench, "contrast.py");
                await nextShown(workbench);
                assert.ok(await workbench.hasBorder("debug"), "no border");
                await workbench.picture("contrast", { height: 290 });
            });
            await workbench.page.waitForSelector(".monaco-workbench.vs-dark");
            await nextShown(workbench);
            assert.ok(!(await workbench.hasBorder("debug")), "a border in another theme");
        },
    },
    ...EXAMPLES.map(({ language, file, from, to }) => ({
        name: `the walkthrough's example in ${language} succeeds`,
        async run(workbench) {
            const [first, second] = placesIn(file, from);
            await workbench.command("Likewise: Try It on an Example…");
            await workbench.page.locator(".quick-input-list .monaco-list-row", { hasText: language }).click();
            await workbench.says(`in line ${first.line}, then in line ${second.line}. Then press Tab`);
            await workbench.selectedOn(first.line);
            await workbench.replace(first.line, first.column, from, to);
            await workbench.replace(second.line, second.column, from, to);
            const [left] = await workbench.hint(/\d+ more(?=: Tab)/);
            // An acceptance lowers the threshold of the change, so the first one may leave as many places as before.
            await until("one place fewer", async () => {
                await workbench.press("Tab");
                await sleep(800);
                return !(await written(workbench)).includes(left);
            });
            await workbench.command("Notifications: Clear All Notifications");
            await workbench.command("View: Revert and Close Editor");
        },
    })),
    {
        name: "the port of the service is not forwarded",
        async run(workbench) {
            await workbench.command("Ports: Focus on Ports View");
            await sleep(4000);
            const rows = await workbench.page.locator(".part.panel .monaco-list-row").allInnerTexts();
            assert.ok(!rows.some((row) => /-m server|Likewise/.test(row)), rows.join("; "));
            await workbench.press("Control+j");
        },
    },
];
