// What a user does with Likewise, one scenario an entry. The pictures of the README are taken on the way.
import assert from "node:assert/strict";
import {
    COLUMN,
    changed,
    changeTwice,
    FAR,
    NEAR,
    nextShown,
    PLACES,
    startByHand,
    takeNext,
} from "./renaming.mjs";
import { signal, sleep, until } from "./workbench.mjs";

/** How many alternatives there are. */
const ALTERNATIVES = /other changes: [12]$/;

export const scenarios = [
    {
        name: "the language server starts out of the packaged extension",
        async run(workbench) {
            await until("the language server", () => workbench.processes("-m lsp").length === 1, 60_000);
            await until(
                "a word in the status bar",
                async () => /Likewise/.test(await workbench.status()),
                60_000,
            );
            await until("no more starting", async () => !/starting/.test(await workbench.status()), 60_000);
        },
    },
    {
        name: "after two edits the third is suggested, Tab Tab applies two more, one undo undoes one",
        async run(workbench) {
            const before = await changeTwice(workbench, "near.py");
            await nextShown(workbench);
            await workbench.picture("near", { height: 290 });
            const first = await takeNext(workbench);
            const second = await takeNext(workbench);
            assert.equal(await workbench.saved("near.py"), changed(before, first, second));
            await workbench.press("Control+z");
            assert.equal(await workbench.saved("near.py"), changed(before, first));
        },
    },
    {
        name: "Esc dismisses, and it stays away",
        async run(workbench) {
            await changeTwice(workbench, "dismissed.py");
            const dismissed = await nextShown(workbench);
            const isBack = async () =>
                (await workbench.drawn()).some(
                    ({ number, written }) => number === dismissed && written.includes("debug"),
                );
            await workbench.press("Escape");
            await until("the suggestion gone", async () => !(await isBack()));
            await workbench.press("End");
            await workbench.type("  # more");
            await sleep(1500);
            assert.ok(!(await isBack()), "dismissed, and back");
        },
    },
    {
        name: "one Esc clears all alternatives, in this file alone, until the palette forgets it",
        async run(workbench) {
            await changeTwice(workbench, "cleared.py");
            const dismissed = await nextShown(workbench);
            await workbench.hint(ALTERNATIVES);
            await workbench.press("Escape");
            await workbench.showsNothing();
            await sleep(1000);
            assert.deepEqual(await workbench.drawn(), []);
            await workbench.command("Likewise: Forget Dismissed Suggestions");
            assert.equal(await nextShown(workbench), dismissed);
            await workbench.press("Escape");
            await workbench.showsNothing();
            await changeTwice(workbench, "elsewhere.py");
            assert.equal(await nextShown(workbench), dismissed);
        },
    },
    {
        name: "far away: a hint, Tab jumps, Tab applies",
        async run(workbench) {
            const before = await changeTwice(workbench, "far.py", FAR);
            const [, place] = await workbench.hint(/^→ line (\d+): info → debug/);
            const line = Number(place);
            assert.ok(line > 30, `line ${line} is not far`);
            await workbench.picture("far", { height: 310, width: 1100 });
            await workbench.press("Tab");
            await workbench.cursorAt(line, COLUMN + "info".length);
            assert.equal(await nextShown(workbench), line);
            await workbench.picture("jumped", { height: 420 });
            await workbench.press("Tab");
            await workbench.cursorAt(line, COLUMN + "debug".length);
            assert.equal(await workbench.saved("far.py"), changed(before, line));
        },
    },
    {
        name: "Tab in leading white space indents, Alt+L accepts there",
        async run(workbench) {
            const before = await changeTwice(workbench, "indent.py");
            await nextShown(workbench);
            await workbench.goTo(8, 5);
            await workbench.hint(/^Alt\+L$/);
            await workbench.press("Tab");
            await workbench.cursorAt(8, 9);
            const indented = before.replace('    log.debug("reading', '        log.debug("reading');
            assert.equal(await workbench.saved("indent.py"), indented);
            await workbench.press("Control+z");
            const line = await takeNext(workbench, "Alt+l");
            assert.equal(await workbench.saved("indent.py"), changed(before, line));
        },
    },
    {
        name: "Tab is the selection's, the suggest widget's and several cursors' before it is ours",
        async run(workbench) {
            await changeTwice(workbench, "contested.py");
            await nextShown(workbench);
            await workbench.goTo(7, 1);
            await workbench.press("Shift+ArrowDown");
            await workbench.press("Shift+ArrowDown");
            await workbench.press("Tab");
            const indented = changed(NEAR, ...PLACES).replaceAll("    log.debug", "        log.debug");
            assert.equal(await workbench.saved("contested.py"), indented);
            await workbench.goTo(9, 8); // log|.info, which could become logging
            await workbench.press("Control+ ");
            await workbench.page.waitForSelector(".suggest-widget.visible .monaco-list-row");
            await workbench.press("Tab");
            await workbench.page.waitForSelector(".suggest-widget.visible", { state: "hidden" });
            await workbench.goTo(10, 20); // in the middle of two words, one below the other
            await workbench.press("Shift+Alt+ArrowDown");
            await workbench.press("Tab");
            const text = await workbench.saved("contested.py");
            assert.match(text, /log\.info\("conne +cting"\)/);
            assert.match(text, /logging\.info\("opening the files"\)/);
        },
    },
    {
        name: "the label says Tab only when Tab accepts: not with two cursors, not beside the list of completions",
        async run(workbench) {
            const before = await changeTwice(workbench, "label.py");
            await nextShown(workbench);
            await workbench.hint(/^Tab$/);
            await workbench.press("Shift+Alt+ArrowDown");
            await workbench.hint(/^Alt\+L$/);
            await workbench.press("Escape"); // one cursor again
            await workbench.hint(/^Tab$/);
            await workbench.goTo(8, 8); // log|.debug, which could become logging
            await workbench.hint(/^Tab$/);
            await workbench.press("Control+ ");
            await workbench.page.waitForSelector(".suggest-widget.visible .monaco-list-row");
            await workbench.hint(/^Alt\+L$/);
            const line = await takeNext(workbench, "Alt+l");
            assert.equal(await workbench.saved("label.py"), changed(before, line));
        },
    },
    {
        name: "with VS Code's own suggestions on, a complete word closes the list and Tab accepts",
        async run(workbench) {
            const text = `${NEAR}    debug_level = 3\n`;
            await workbench.open("widget.py", text);
            await workbench.replace(7, COLUMN, "info", "debug");
            await workbench.page.waitForSelector(".suggest-widget.visible .monaco-list-row");
            await workbench.replace(8, COLUMN, "info", "debug");
            await nextShown(workbench);
            await workbench.page.waitForSelector(".suggest-widget.visible", { state: "hidden" });
            await workbench.hint(/^Tab$/);
            const line = await takeNext(workbench);
            assert.equal(await workbench.saved("widget.py"), changed(text, ...PLACES, line));
        },
    },
    {
        name: "an insertion at the cursor is ghost text, typing along keeps it, Tab inserts the rest",
        async run(workbench) {
            // While the list of completions is open, VS Code shows no ghost text but that of the list.
            await workbench.withSettings({ "editor.quickSuggestions": false }, async () => {
                await workbench.open("ghost.py", NEAR);
                await startByHand(workbench);
                await workbench.picture("ghost", { height: 290 });
                await workbench.type("e");
                await until("the rest as ghost text", async () => (await workbench.ghost()) === "bug");
                await workbench.press("Tab");
                await workbench.cursorAt(8, COLUMN + "debug".length);
                assert.equal(await workbench.saved("ghost.py"), changed(NEAR, ...PLACES));
            });
        },
    },
    {
        name: "Alt+] and Alt+[ cycle through the alternatives",
        async run(workbench) {
            await changeTwice(workbench, "cycle.py");
            await nextShown(workbench);
            const shown = async () => JSON.stringify(await workbench.drawn());
            await workbench.hint(ALTERNATIVES);
            const first = await shown();
            await workbench.press("Alt+]");
            await until("another one", async () => (await shown()) !== first);
            await workbench.press("Alt+[");
            await until("the first again", async () => (await shown()) === first);
        },
    },
    {
        name: "apply everywhere previews all places and applies them in one undo step",
        async run(workbench) {
            const before = await changeTwice(workbench, "everywhere.py");
            await nextShown(workbench);
            await workbench.command("Likewise: Apply Everywhere…");
            await workbench.page.locator(".quick-input-title", { hasText: "Likewise: apply in" }).waitFor();
            const places = (await workbench.drawn()).filter(({ struck }) => struck === "info");
            assert.ok(places.length >= 2, `${places.length} places`);
            await workbench.windowPicture("everywhere");
            await workbench.press("Enter");
            const after = changed(before, ...places.map(({ number }) => number));
            await until("applied", async () => (await workbench.saved("everywhere.py")) === after);
            await workbench.press("Control+z");
            assert.equal(await workbench.saved("everywhere.py"), before);
        },
    },
    {
        name: "why this? tells the changes it follows from, each once, and leads there",
        async run(workbench) {
            await changeTwice(workbench, "why.py");
            await nextShown(workbench);
            await workbench.command("Likewise: Why This?");
            const row = workbench.page.locator(".quick-input-list .monaco-list-row", {
                hasText: /info → debug/,
            });
            await row.first().waitFor();
            assert.equal(await row.count(), 1);
            const [, newest] = /(?:line|lines 7,) ([78]): info → debug/.exec(await row.innerText());
            await workbench.windowPicture("why");
            await row.click();
            await workbench.selectedOn(newest);
        },
    },
    {
        name: "a suggestion for another version of the text is not applied",
        async run(workbench) {
            const before = await changeTwice(workbench, "stale.py");
            await nextShown(workbench);
            const [server] = workbench.processes("-m lsp");
            signal(server, "SIGSTOP"); // now nothing new can be suggested: only the old one is there
            try {
                await workbench.type("x");
                await workbench.press("Alt+l");
                await workbench.command("Likewise: Accept the Next Edit (or Jump to It)");
                await sleep(500);
                const text = await workbench.saved("stale.py");
                assert.equal(text, before.replace('debug("reading', 'debugx("reading'));
            } finally {
                signal(server, "SIGCONT");
            }
        },
    },
    {
        name: "what is offered in a file is still there when the user comes back to it",
        async run(workbench) {
            const before = await changeTwice(workbench, "left.py");
            await nextShown(workbench);
            await workbench.open("other.py", "y = 2\n");
            await workbench.showsNothing();
            await workbench.press("Control+PageUp");
            const line = await takeNext(workbench);
            assert.equal(await workbench.saved("left.py"), changed(before, line));
        },
    },
    {
        name: "one Tab jumps and applies when the user wants so",
        async run(workbench) {
            await workbench.withSettings({ "likewise.jumpAndApply": true }, async () => {
                const before = await changeTwice(workbench, "one.py", FAR);
                const [, place] = await workbench.hint(/^→ line (\d+): info → debug/);
                await workbench.press("Tab");
                await workbench.cursorAt(Number(place), COLUMN + "debug".length);
                assert.equal(await workbench.saved("one.py"), changed(before, Number(place)));
            });
        },
    },
    {
        name: "a light theme is as readable",
        async run(workbench) {
            await workbench.command("Preferences: Toggle between Light/Dark Themes");
            await workbench.page.waitForSelector(".monaco-workbench.vs");
            await changeTwice(workbench, "light.py");
            await nextShown(workbench);
            await workbench.picture("light", { height: 290 });
            await workbench.command("Preferences: Toggle between Light/Dark Themes");
        },
    },
    {
        name: "snoozed and woken",
        async run(workbench) {
            await changeTwice(workbench, "snoozed.py");
            await nextShown(workbench);
            await workbench.command("Likewise: Snooze…");
            await workbench.page
                .locator(".quick-input-list .monaco-list-row", { hasText: "30 minutes" })
                .waitFor();
            await workbench.press("Enter");
            await until("snoozed", async () => /snoozed/.test(await workbench.status()));
            await workbench.showsNothing();
            await workbench.command("Likewise: Wake Up");
            await until("awake", async () => !/snoozed/.test(await workbench.status()));
            await nextShown(workbench);
        },
    },
    {
        name: "a language server that is killed comes back, and suggests again",
        async run(workbench) {
            await restarts(workbench, "-m lsp");
            await changeTwice(workbench, "again.py");
            await takeNext(workbench);
        },
    },
    {
        name: "a service that is killed comes back, and suggests again",
        async run(workbench) {
            const before = await changeTwice(workbench, "service.py");
            await nextShown(workbench);
            await restarts(workbench, "-m server", () =>
                workbench.type("_").then(() => workbench.press("Backspace")),
            );
            await workbench.replace(9, COLUMN, "info", "debug");
            const line = await takeNext(workbench);
            assert.equal(await workbench.saved("service.py"), changed(before, 9, line));
        },
    },
    {
        name: "the language server is restarted without leaving a process behind",
        async run(workbench) {
            const [before] = workbench.processes("-m lsp");
            await workbench.command("Likewise: Restart the Language Server");
            await until("one new process", () => isNew(workbench.processes("-m lsp"), before));
            await until("one service", () => workbench.processes("-m server").length === 1);
        },
    },
];

/** Kills a process, does something while it is away, and waits until there is another and all is well. */
async function restarts(workbench, command, meanwhile = async () => {}) {
    const [before] = workbench.processes(command);
    signal(before, "SIGKILL");
    await meanwhile();
    await until(`a new ${command}`, () => isNew(workbench.processes(command), before));
    await until("no more trouble", async () => !/starting|trouble/.test(await workbench.status()), 60_000);
}

function isNew(processes, before) {
    return processes.length === 1 && processes[0] !== before;
}
