import { describe, expect, test } from "vitest";
import type { Range } from "../src/protocol";
import { changeOf, linesOf, wordsFor } from "../src/reasons";
import { at } from "./suggestions";

const on = (...lines: readonly number[]): Range[] =>
    lines.map((line) => ({ start: at(line - 1, 4), end: at(line - 1, 9) }));

describe("a change in words", () => {
    test.each([
        ["info", "debug", "info → debug"],
        ["", "timeout=3", "added `timeout=3`"],
        ["self.", "", "removed `self.`"],
    ])("%j to %j is %j", (oldText, newText, words) => {
        expect(changeOf({ oldText, newText })).toBe(words);
    });

    test.each([
        ["", " and b", "added `·and b`"],
        ["x ", "y", "x· → y"],
        ["  ", "    ", "·· → ····"],
        ["    ", "\t", "···· → ⇥"],
        ["", "\n", "added `⏎`"],
        ["\r\n\r\n", "", "removed `⏎⏎`"],
        ["\n    ", "\n\t", "⏎···· → ⏎⇥"],
    ])("shows the blanks of %j to %j", (oldText, newText, words) => {
        expect(changeOf({ oldText, newText })).toBe(words);
    });

    test.each([
        ["", "\n    import b", "added `import b`"],
        ["\r\n\r\nf()\r\n", "", "removed `f()`"],
        ["", "\nif a:\n    b()", "added `if a:⏎b()`"],
    ])("tells the lines of %j to %j without the breaks around them", (oldText, newText, words) => {
        expect(changeOf({ oldText, newText })).toBe(words);
    });

    test("is shortened on each side", () => {
        const words = changeOf({ oldText: "a".repeat(90), newText: "b".repeat(90) });
        expect(words).toBe(`${"a".repeat(39)}… → ${"b".repeat(39)}…`);
    });
});

describe("its lines", () => {
    test.each([
        [[7], "line 7"],
        [[8, 7], "lines 7, 8"],
        [[12, 3, 12], "lines 3, 12"],
        [[5, 5], "line 5"],
        [[40, 30, 20, 10], "lines 10, 20, 30, 40"],
        [[50, 40, 30, 20, 10], "lines 10, 20, 30 and 2 more"],
    ])("of %j are %j", (lines, words) => {
        expect(linesOf(on(...lines))).toBe(words);
    });

    test("come first", () => {
        const [newest, oldest] = on(8, 7) as [Range, Range];
        const reason = { range: newest, oldText: "info", newText: "debug", places: [newest, oldest] };
        expect(wordsFor(reason)).toBe("lines 7, 8: info → debug");
    });
});
