// The edits of the recording: one entry a file, a checkpoint wherever the text is compared.
import fs from "node:fs";
import path from "node:path";
import { changeByHand, NEAR, startByHand, takeNext } from "../renaming.mjs";
import { sleep } from "../workbench.mjs";

const ORDERS = `import json
from pathlib import Path

RATES = {"standard": 0.2, "reduced": 0.1, "none": 0.0}


def total(orders, rate="standard"):
    result = 0
    for order in orders:
        price = order.price * order.count
        result += price * (1 + RATES[rate])
    return result


def load(path):
    text = Path(path).read_text()
    return json.loads(text)
`;

const PASTED = `
def report(orders):
    lines = [f"{order.name}: {order.price}" for order in orders]
    return "\\n".join(lines)
`;

async function keys(workbench, ...pressed) {
    for (const key of pressed) await workbench.press(key);
}

const times = (count, key) => Array.from({ length: count }, () => key);

async function paste(workbench, text) {
    await workbench.page.evaluate((copied) => navigator.clipboard.writeText(copied), text);
    await workbench.press("Control+v");
    await sleep(500); // the clipboard answers in its own time
}

export const edits = [
    {
        name: "typing, with brackets, quotes and indentation that come by themselves; deleting words",
        file: "typed.py",
        text: "",
        async run(workbench, checkpoint) {
            await workbench.type(
                'def area(shape):\nif shape["kind"] == "circle":\nreturn 3.14 * shape["r"] ** 2\n',
            );
            await keys(workbench, "Backspace");
            await workbench.type('return shape["width"] * (shape["height"])\n');
            await checkpoint();
            await workbench.type("x = [(");
            await keys(workbench, "Backspace", "Backspace"); // the pairs go together
            await workbench.type("some words too many");
            await keys(workbench, ...times(3, "Control+Backspace"));
            await keys(workbench, "Home", "Control+Delete", "Control+Delete");
        },
    },
    {
        name: "pasting lines, cutting a line, surrounding a selection",
        file: "pasted.py",
        text: ORDERS,
        async run(workbench, checkpoint) {
            await workbench.goTo(13, 1);
            await paste(workbench, PASTED);
            await checkpoint();
            await workbench.goTo(9, 1);
            await keys(workbench, "Control+x", "ArrowDown", "Control+v");
            await sleep(500);
            await checkpoint();
            await workbench.goTo(8, 5);
            await keys(workbench, "Control+Shift+ArrowRight");
            await workbench.type("(");
        },
    },
    {
        name: "several cursors: columns, next occurrences, line breaks",
        file: "cursors.py",
        text: ORDERS,
        async run(workbench, checkpoint) {
            await workbench.goTo(8, 5);
            await keys(workbench, "Shift+Alt+ArrowDown", "Shift+Alt+ArrowDown");
            await workbench.type("# ");
            await keys(workbench, "End");
            await workbench.type(" ;é");
            await keys(workbench, "Backspace", "Escape");
            await checkpoint();
            await workbench.goTo(7, 11);
            await keys(workbench, ...times(4, "Control+d"));
            await workbench.type("all_orders");
            await keys(workbench, "Enter", "Escape");
            await checkpoint();
            await keys(workbench, "Control+z", "Control+z");
        },
    },
    {
        name: "lines moved, copied, joined, deleted; blocks indented and commented; undone and redone",
        file: "lines.py",
        text: ORDERS,
        async run(workbench, checkpoint) {
            await workbench.goTo(10, 9);
            await keys(workbench, "Alt+ArrowUp", "Alt+ArrowUp", "Alt+ArrowDown");
            await checkpoint();
            await workbench.goTo(8, 1);
            await keys(workbench, "Shift+ArrowDown", "Shift+ArrowDown", "Control+/");
            await checkpoint();
            await keys(workbench, "Control+/", "Tab", "Shift+Tab", "Shift+Tab", "Alt+ArrowDown");
            await checkpoint();
            await workbench.goTo(4, 3);
            await workbench.command("Copy Line Down");
            await keys(workbench, "Control+Shift+k");
            await workbench.command("Join Lines");
            await workbench.command("Transform to Uppercase");
            await checkpoint();
            await keys(workbench, ...times(6, "Control+z"));
            await checkpoint();
            await keys(workbench, ...times(4, "Control+y"));
        },
    },
    {
        name: "all replaced, all deleted and brought back, tabs for blanks",
        file: "replaced.py",
        text: ORDERS,
        async run(workbench, checkpoint) {
            await keys(workbench, "Control+h");
            await workbench.page.locator(".find-widget.visible").waitFor();
            await keys(workbench, "Control+a");
            await workbench.type("order");
            await keys(workbench, "Tab", "Control+a");
            await workbench.type("item 🧾");
            await keys(workbench, "Control+Alt+Enter", "Escape");
            await checkpoint();
            await workbench.command("Convert Indentation to Tabs");
            await checkpoint();
            await keys(workbench, "Control+a", "Delete", "Control+z", "Control+Home");
            await workbench.type("# ");
        },
    },
    {
        name: "lines sorted, trailing white space trimmed",
        file: "sorted.txt",
        text: "pear  \napple\t\nÖl\nzebra\n\nfig   \nbanana",
        async run(workbench, checkpoint) {
            await keys(workbench, "Control+a");
            await workbench.command("Sort Lines Ascending");
            await checkpoint();
            await workbench.command("Trim Trailing Whitespace");
            await keys(workbench, "Control+End", "Enter");
        },
    },
    {
        name: "a document formatted",
        file: "formatted.json",
        text: '{"b":[1,2,{"c":"😀"}],\n"a":{"long":true,\n      "deep":{"er":null}}}',
        async run(workbench, checkpoint) {
            await workbench.command("Format Document");
            await workbench.page
                .locator(".editor-instance .view-line", { hasText: /^\s*"b":\s\[$/ })
                .waitFor();
            await checkpoint();
            await workbench.goTo(1, 2);
            await workbench.type("\n");
        },
    },
    {
        name: "characters outside of the first plane, combining ones, separators that end no line",
        file: "unicode.md",
        text: "# Zeichen 😀\n\nfamily: 👨‍👩‍👧 and 𝒳𝒴\nform\ffeed and\u2028separator and\u0085next\nnaïve e\u0301te\u0301\n",
        async run(workbench, checkpoint) {
            await workbench.goTo(1, 10);
            await keys(workbench, "End", "Backspace");
            await workbench.type("😎🏽 𝔘");
            await checkpoint();
            await workbench.goTo(3, 9);
            await keys(workbench, "Delete", "End", "ArrowLeft");
            await workbench.type("🇪🇺");
            await keys(workbench, "Backspace", "Backspace");
            await checkpoint();
            await workbench.goTo(4, 1);
            await keys(workbench, "End");
            await workbench.type(" 🚀 end");
            await keys(workbench, "ArrowDown", "Home", "Control+Delete", "Control+z");
            await checkpoint();
            await workbench.goTo(1, 3);
            await keys(workbench, "Shift+Alt+ArrowDown", "Shift+Alt+ArrowDown", "End");
            await workbench.type("🙂");
            await keys(workbench, "Escape", "Control+Shift+k", "Alt+ArrowDown");
        },
    },
    {
        name: "a file with CRLF: typed, pasted, joined, sorted, then with LF",
        file: "windows.txt",
        text: "first line\r\nsecond 😀 line\r\nthird line\r\n\r\nlast line",
        async run(workbench, checkpoint) {
            await keys(workbench, "End", "Enter");
            await workbench.type("typed\nlines");
            await paste(workbench, "\npasted with LF\nand 𝒳\n");
            await checkpoint();
            await keys(workbench, "Control+Home", "End", "Delete", "Delete", "Control+End");
            await keys(workbench, "Home", "Backspace", "Backspace", "Enter", "Enter");
            await checkpoint();
            await keys(workbench, "Control+a");
            await workbench.command("Sort Lines Descending");
            await checkpoint();
            await workbench.command("Change End of Line Sequence");
            await workbench.page.locator('.quick-input-list .monaco-list-row[aria-label^="LF"]').click();
            await workbench.page.locator("#status\\.editor\\.eol", { hasText: /^LF$/ }).waitFor();
            await keys(workbench, "Control+End");
            await workbench.type("\nnow with LF");
            await checkpoint();
            await keys(workbench, "Control+Home");
            await workbench.type("top\n");
        },
    },
    {
        name: "line ends of every kind in one file",
        file: "mixed.txt",
        text: "one\r\ntwo\nthree\rfour\n\r\nfive\r\rsix\n",
        async run(workbench) {
            await workbench.goTo(3, 3);
            await workbench.type("X\nY");
            await keys(workbench, "Control+End", "Backspace", "Control+Home", "End", "Delete");
        },
    },
    {
        name: "the file changed by another program",
        file: "reloaded.py",
        text: ORDERS,
        async run(workbench) {
            const file = path.join(workbench.folder, "reloaded.py");
            const others = ORDERS.replaceAll("price", "amount").replace("import json\n", "");
            fs.writeFileSync(file, `${others}\n# by another 🤖\n`);
            await workbench.page
                .locator(".editor-instance .view-line", { hasText: "amount" })
                .first()
                .waitFor();
            await workbench.goTo(2, 1);
            await workbench.type("# mine\n");
        },
    },
    {
        name: "suggestions accepted, a closed file opened again",
        file: "accepted.py",
        text: NEAR,
        async run(workbench, checkpoint) {
            await changeByHand(workbench);
            await takeNext(workbench);
            await takeNext(workbench);
            await checkpoint();
            await keys(workbench, "Control+z");
            await checkpoint();
            await workbench.command("View: Close Editor");
            await workbench.reopen("accepted.py");
            await workbench.type("# opened again 🙂\n");
        },
    },
    {
        name: "ghost text accepted",
        file: "ghost.py",
        text: NEAR,
        async run(workbench) {
            await startByHand(workbench);
            await workbench.press("Tab");
        },
    },
];
