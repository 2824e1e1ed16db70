// What a user does with Likewise, one scenario an entry. Pictures for the README are taken on the way.
import assert from "node:assert/strict";
import { signal, sleep, until } from "./workbench.mjs";

const INVOICE = `def invoice(rows, rate):
    amount = 0
    for row in rows:
        amount += row.price
    tax = amount * rate
    print(amount, tax)
    return amount + tax
`;

/** Renames by hand what stands in the first two places: the third is Likewise's to offer. */
async function renameTwice(workbench, name, text = INVOICE) {
    await workbench.open(name, text);
    await workbench.replace(2, 5, "amount", "subtotal");
    await workbench.replace(4, 9, "amount", "subtotal");
}

const FILLER = Array.from({ length: 40 }, (_, index) => `    step_${index} = ${index}\n`).join("");
const LONG = INVOICE.replace("    tax =", `${FILLER}    tax =`);

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
        name: "after two edits the third is suggested, Tab Tab applies the rest, one undo undoes one",
        async run(workbench) {
            await renameTwice(workbench, "near.py");
            await workbench.shows("amount", "subtotal");
            await workbench.picture("near", { height: 220 });
            await workbench.press("Tab");
            await workbench.cursorAt(5, 19);
            await workbench.shows("amount", "subtotal");
            await workbench.press("Tab");
            await workbench.cursorAt(6, 19);
            const two = INVOICE.replaceAll("amount", "subtotal").replace("return subtotal", "return amount");
            assert.equal(await workbench.saved("near.py"), two);
            await workbench.press("Control+z");
            assert.equal(await workbench.saved("near.py"), two.replace("print(subtotal", "print(amount"));
        },
    },
    {
        name: "Esc dismisses, and it stays away",
        async run(workbench) {
            await renameTwice(workbench, "dismissed.py");
            await workbench.shows("amount", "subtotal");
            const isBack = async () => (await workbench.struckLines()).includes(5);
            assert.ok(await isBack(), "the third place is not the first to be offered");
            await workbench.press("Escape");
            await until("the suggestion gone", async () => !(await isBack()));
            await workbench.goTo(5, 11);
            await workbench.press("End");
            await workbench.type(" ");
            await workbench.press("Backspace");
            await sleep(1000);
            assert.ok(!(await isBack()), "dismissed, and back");
        },
    },
    {
        name: "far away: a hint, Tab jumps, Tab applies",
        async run(workbench) {
            await renameTwice(workbench, "far.py", LONG);
            const hint = /^→ line 45: amount → subtotal/;
            await until("a hint", async () =>
                (await workbench.drawn()).written.some((text) => hint.test(text)),
            );
            await workbench.picture("far", { height: 260 });
            await workbench.press("Tab");
            await workbench.cursorAt(45, 17);
            await workbench.shows("amount", "subtotal");
            await workbench.press("Tab");
            await workbench.cursorAt(45, 19);
            const text = await workbench.saved("far.py");
            assert.ok(text.includes("tax = subtotal * rate"), text);
        },
    },
    {
        name: "Tab in leading white space indents, Alt+L accepts there",
        async run(workbench) {
            await renameTwice(workbench, "indent.py");
            await workbench.shows("amount", "subtotal");
            await workbench.goTo(5, 5);
            await until("Alt+L named as the key", async () =>
                (await workbench.drawn()).written.some((text) => text.includes("Alt+L")),
            );
            await workbench.press("Tab");
            await workbench.cursorAt(5, 9);
            const indented = INVOICE.replace("    amount = 0", "    subtotal = 0")
                .replace("amount +=", "subtotal +=")
                .replace("    tax", "        tax");
            assert.equal(await workbench.saved("indent.py"), indented);
            await workbench.shows("amount", "subtotal");
            await workbench.press("Alt+l");
            await until("accepted", async () =>
                (await workbench.saved("indent.py")).includes("tax = subtotal * rate"),
            );
        },
    },
    {
        name: "Tab is the selection's, and the suggest widget's, before it is ours",
        async run(workbench) {
            await renameTwice(workbench, "contested.py");
            await workbench.shows("amount", "subtotal");
            await workbench.goTo(3, 1);
            await workbench.press("Shift+ArrowDown");
            await workbench.press("Shift+ArrowDown");
            await workbench.press("Tab");
            const indented = INVOICE.replace("amount = 0", "subtotal = 0")
                .replace("    for", "        for")
                .replace("    amount +=", "        subtotal +=");
            assert.equal(await workbench.saved("contested.py"), indented);
            await workbench.goTo(6, 8); // pri|nt
            await workbench.press("Control+ ");
            await workbench.page.waitForSelector(".suggest-widget.visible .monaco-list-row");
            await workbench.press("Tab");
            await workbench.page.waitForSelector(".suggest-widget.visible", { state: "hidden" });
            await workbench.goTo(5, 15); // in the middle of two words, one below the other
            await workbench.press("Shift+Alt+ArrowDown");
            await workbench.press("Tab");
            const text = await workbench.saved("contested.py");
            assert.match(text, /tax = amou +nt \* rate/);
        },
    },
    {
        name: "an insertion at the cursor is ghost text, typing along keeps it, Tab inserts the rest",
        async run(workbench) {
            await workbench.open("ghost.py", "def total(a, rate):\n    \n");
            await workbench.goTo(2, 5);
            await workbench.type("result = ");
            await until("ghost text", async () => (await workbench.ghost()) === "total * rate");
            await workbench.picture("ghost", { height: 160 });
            await workbench.type("to", 120);
            await until("the rest as ghost text", async () => (await workbench.ghost()) === "tal * rate");
            await workbench.press("Tab");
            assert.equal(
                await workbench.saved("ghost.py"),
                "def total(a, rate):\n    result = total * rate\n",
            );
        },
    },
    {
        name: "Alt+] and Alt+[ cycle through the alternatives",
        async run(workbench) {
            await renameTwice(workbench, "cycle.py");
            await workbench.shows("amount", "subtotal");
            await workbench.press("Alt+]");
            const other = await until("another text", async () => {
                const { written } = await workbench.drawn();
                return written.length > 0 && written[0] !== "subtotal" && written[0];
            });
            await workbench.picture("alternative", { height: 220 });
            await workbench.press("Alt+[");
            await workbench.shows("amount", "subtotal");
            assert.notEqual(other, "subtotal");
        },
    },
    {
        name: "apply everywhere previews all places and applies them in one undo step",
        async run(workbench) {
            await renameTwice(workbench, "everywhere.py");
            await workbench.shows("amount", "subtotal");
            await workbench.command("Likewise: Apply Everywhere…");
            await until(
                "all places previewed",
                async () =>
                    (await workbench.drawn()).written.filter((text) => text === "subtotal").length >= 3,
            );
            await workbench.windowPicture("everywhere");
            const before = INVOICE.replace("amount", "subtotal").replace("amount +=", "subtotal +=");
            await workbench.press("Enter");
            await until(
                "applied",
                async () =>
                    (await workbench.saved("everywhere.py")) === INVOICE.replaceAll("amount", "subtotal"),
            );
            await workbench.press("Control+z");
            assert.equal(await workbench.saved("everywhere.py"), before);
        },
    },
    {
        name: "why this? lists the edits it follows from, and leads there",
        async run(workbench) {
            await renameTwice(workbench, "why.py");
            await workbench.shows("amount", "subtotal");
            await workbench.command("Likewise: Why This?");
            const row = workbench.page.locator(".quick-input-list .monaco-list-row", { hasText: "line 2" });
            await row.first().waitFor();
            await workbench.windowPicture("why");
            await row.first().click();
            await until("cursor on line 2", async () =>
                /Ln 2,/.test(await workbench.page.locator("#status\\.editor\\.selection").innerText()),
            );
        },
    },
    {
        name: "a suggestion for another version of the text is not applied",
        async run(workbench) {
            await renameTwice(workbench, "stale.py");
            await workbench.shows("amount", "subtotal");
            const [server] = workbench.processes("-m lsp");
            signal(server, "SIGSTOP"); // now nothing new can be suggested: only the old one is there
            try {
                await workbench.type("x");
                await workbench.press("Alt+l");
                await workbench.command("Likewise: Accept the Next Edit (or Jump to It)");
                await sleep(300);
                const text = await workbench.saved("stale.py");
                assert.ok(text.includes("subtotalx += row.price"), text);
                assert.ok(text.includes("tax = amount * rate"), text);
            } finally {
                signal(server, "SIGCONT");
            }
        },
    },
    {
        name: "what is offered in a file is still there when the user comes back to it",
        async run(workbench) {
            await renameTwice(workbench, "left.py");
            await workbench.shows("amount", "subtotal");
            await workbench.open("other.py", "y = 2\n");
            await workbench.showsNothing();
            await workbench.press("Control+PageUp");
            await workbench.shows("amount", "subtotal");
            await workbench.press("Tab");
            await workbench.cursorAt(5, 19);
        },
    },
    {
        name: "one Tab does both when the user wants so",
        async run(workbench) {
            workbench.writeSettings("Machine", {
                ...workbench.machineSettings,
                "likewise.jumpAndApply": true,
            });
            await sleep(1000);
            await renameTwice(workbench, "one.py", LONG);
            await until("a hint", async () =>
                (await workbench.drawn()).written.some((text) => text.startsWith("→ line 45")),
            );
            await workbench.press("Tab");
            await workbench.cursorAt(45, 19);
            assert.ok((await workbench.saved("one.py")).includes("tax = subtotal * rate"));
            workbench.writeSettings("Machine", workbench.machineSettings);
        },
    },
    {
        name: "a light theme is as readable",
        async run(workbench) {
            await workbench.command("Preferences: Toggle between Light/Dark Themes");
            await workbench.page.waitForSelector(".monaco-workbench.vs");
            await renameTwice(workbench, "light.py", INVOICE.replace(" + tax", ""));
            await workbench.shows("amount", "subtotal");
            await workbench.picture("light", { height: 220 });
            await workbench.press("Tab");
            await workbench.cursorAt(5, 19);
            await workbench.press("Tab");
            await workbench.cursorAt(6, 19);
            await workbench.shows("amount", "subtotal");
            await workbench.picture("light-end", { height: 220 });
            await workbench.command("Preferences: Toggle between Light/Dark Themes");
        },
    },
    {
        name: "without a usable Python it says what to do, and starts when there is one",
        async run(workbench) {
            const say = (text) =>
                workbench.page.locator(".notification-toast", { hasText: text }).first().waitFor();
            const setPython = (python) =>
                workbench.writeSettings("Machine", {
                    ...workbench.machineSettings,
                    "likewise.python": python,
                });
            setPython("/no/such/python");
            await say("/no/such/python (the setting likewise.python): it does not run");
            await until("trouble in the status bar", async () => /trouble/.test(await workbench.status()));
            await until("no process", () => workbench.processes("-m lsp").length === 0);
            setPython(workbench.barePython());
            await say("-m pip install -r");
            await workbench.windowPicture("no-python");
            workbench.writeSettings("Machine", workbench.machineSettings);
            await until("the language server", () => workbench.processes("-m lsp").length === 1);
            await until("no more starting", async () => !/starting|trouble/.test(await workbench.status()));
            await workbench.command("Notifications: Clear All Notifications");
        },
    },
    {
        name: "a language server that is killed comes back, and suggests again",
        async run(workbench) {
            const [before] = workbench.processes("-m lsp");
            signal(before, "SIGKILL");
            await until("a new one", () => {
                const now = workbench.processes("-m lsp");
                return now.length === 1 && now[0] !== before;
            });
            await until("no more starting", async () => !/starting|trouble/.test(await workbench.status()));
            await renameTwice(workbench, "again.py");
            await workbench.shows("amount", "subtotal");
        },
    },
    {
        name: "a service that is killed comes back, and suggests again",
        async run(workbench) {
            await renameTwice(workbench, "service.py");
            await workbench.shows("amount", "subtotal");
            const [before] = workbench.processes("-m server");
            signal(before, "SIGKILL");
            await workbench.press("End");
            await workbench.type("  # typed while it was away");
            await until("a new one", () => {
                const now = workbench.processes("-m server");
                return now.length === 1 && now[0] !== before;
            });
            await until("no more trouble", async () => !/starting|trouble/.test(await workbench.status()));
            await workbench.type(" and back");
            await workbench.shows("amount", "subtotal");
            await workbench.press("Alt+l");
            await workbench.cursorAt(5, 19);
            const text = await workbench.saved("service.py");
            assert.ok(
                text.includes("row.price  # typed while it was away and back\n    tax = subtotal * rate"),
                text,
            );
        },
    },
    {
        name: "the language server is restarted without leaving a process behind",
        async run(workbench) {
            const [before] = workbench.processes("-m lsp");
            await workbench.command("Likewise: Restart the Language Server");
            await until("one new process", () => {
                const now = workbench.processes("-m lsp");
                return now.length === 1 && now[0] !== before;
            });
        },
    },
];
