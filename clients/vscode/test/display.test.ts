import { describe, expect, test } from "vitest";
import {
    addedLabel,
    differenceOf,
    displayOf,
    insertedAt,
    oneLine,
    summaryOf,
    withContext,
} from "../src/display";
import { at, replacing } from "./suggestions";

describe("ghost text", () => {
    test("an insertion at the cursor is ghost text", () => {
        expect(displayOf(replacing("", "bar", at(3, 4)), at(3, 4))).toEqual({
            kind: "ghost",
            position: at(3, 4),
            text: "bar",
        });
    });

    test("a replacement that keeps all of the old text and adds at the cursor is ghost text too", () => {
        expect(insertedAt(replacing("foo()", "foo(x)", at(0, 0)), at(0, 4))).toBe("x");
    });

    test("an insertion of several lines at the cursor is ghost text", () => {
        expect(insertedAt(replacing("", "\n    return x", at(2, 8)), at(2, 8))).toBe("\n    return x");
    });

    test("an insertion beside the cursor is not", () => {
        expect(displayOf(replacing("", "bar", at(3, 4)), at(3, 5)).kind).toBe("near");
        expect(displayOf(replacing("", "bar", at(3, 4)), at(2, 4)).kind).toBe("near");
    });

    test("an insertion that our own jump led to is drawn, so that the second Tab finds it", () => {
        expect(displayOf(replacing("", "bar", at(3, 4)), at(3, 4), undefined, { isDrawn: true }).kind).toBe(
            "near",
        );
    });

    test("a replacement that drops text is not, even at the cursor", () => {
        expect(displayOf(replacing("foo", "bar", at(3, 4)), at(3, 7)).kind).toBe("near");
        expect(displayOf(replacing("foo", "", at(3, 4)), at(3, 7)).kind).toBe("near");
    });

    test("the place of a repeated character is the cursor's when that is one of the possible places", () => {
        expect(insertedAt(replacing("aa", "aaa", at(0, 0)), at(0, 1))).toBe("a");
    });
});

describe("near and far", () => {
    const rename = replacing("foo", "bar", at(10, 4));

    test.each([7, 9, 10, 13])("from line %i the place is near", (line) => {
        expect(displayOf(rename, at(line, 0)).kind).toBe("near");
    });

    test.each([0, 6, 14, 200])("from line %i the place is far", (line) => {
        expect(displayOf(rename, at(line, 0)).kind).toBe("far");
    });

    test("the hint names the line as the user counts it, and the change", () => {
        expect(displayOf(rename, at(88, 0))).toMatchObject({ kind: "far", hint: "→ line 11: foo → bar" });
    });

    test("inside a change of many lines nothing is far", () => {
        expect(displayOf(replacing("a\n\n\n\n\n\n\n\n\n\nb", "c", at(0, 0)), at(5, 0)).kind).toBe("near");
    });
});

describe("the difference", () => {
    test("leaves out the words at both ends", () => {
        expect(differenceOf(replacing("call(foo, 1)", "call(bar, 1)", at(2, 4)))).toEqual({
            removed: { start: at(2, 9), end: at(2, 12) },
            removedText: "foo",
            addedText: "bar",
        });
    });

    test("never cuts a word", () => {
        expect(differenceOf(replacing("total_sum", "total_price", at(0, 0)))).toMatchObject({
            removedText: "total_sum",
            addedText: "total_price",
        });
        expect(differenceOf(replacing("old_name", "new_name", at(0, 0)))).toMatchObject({
            removedText: "old_name",
            addedText: "new_name",
        });
    });

    test("never cuts a surrogate pair", () => {
        expect(differenceOf(replacing("😀", "😁", at(0, 0)))).toMatchObject({
            removedText: "😀",
            addedText: "😁",
        });
    });

    test("finds its place over line breaks, with CRLF too", () => {
        expect(differenceOf(replacing("a\r\nb c", "a\r\nb d", at(5, 3))).removed).toEqual({
            start: at(6, 2),
            end: at(6, 3),
        });
    });

    test("of an insertion removes nothing", () => {
        expect(differenceOf(replacing("f(a)", "f(a, b)", at(0, 0)))).toEqual({
            removed: { start: at(0, 3), end: at(0, 3) },
            removedText: "",
            addedText: ", b",
        });
    });
});

describe("the hint", () => {
    const hint = (line: string, oldText: string, newText: string) => {
        const start = at(0, line.indexOf(oldText));
        return summaryOf(withContext(differenceOf(replacing(oldText, newText, start)), () => line));
    };

    test.each([
        ['fmt.Errorf("open: %s", err)', '"open: %s"', '"open: %w"', "%s → %w"],
        ["log.info(x)", "info", "debug", "info → debug"],
        ["sha1(data, secure=False)", ", secure=False", "", "data, secure=False → data"],
        ["f(data)", "data", "data, timeout=3", "data → data, timeout=3"],
        ["  x = load()", "load", "await load", "load → await load"],
        ["f(i)", "i", "j", "i → j"],
        ["return name", "name", "self.name", "name → self.name"],
    ])("of %j, %j to %j, is %j", (line, oldText, newText, words) => {
        expect(hint(line, oldText, newText)).toBe(words);
    });

    test("of whole lines has no context", () => {
        expect(hint("a = 1", "a = 1", "a = 1\nb = 2")).toBe("add ⏎b = 2");
    });

    test("is in the display of a far suggestion", () => {
        const display = displayOf(replacing("%s", "%w", at(0, 3)), at(88, 0), () => 'f("%s")');
        expect(display).toMatchObject({ kind: "far", hint: "→ line 1: %s → %w" });
    });
});

describe("words for a change", () => {
    test.each([
        ["foo", "bar", "foo → bar"],
        ["foo", "", "remove foo"],
        ["", "bar", "add bar"],
        ["a\n    b", "c", "a⏎b → c"],
    ])("%j to %j is %j", (removedText, addedText, words) => {
        expect(summaryOf({ removedText, addedText })).toBe(words);
    });

    test("are cut when long", () => {
        expect(oneLine("x".repeat(50), 40)).toBe(`${"x".repeat(39)}…`);
        expect(oneLine("😀😀😀", 4)).toBe("😀…");
    });

    test("keep blanks that CSS would drop", () => {
        expect(addedLabel(" a b")).toBe("\u00a0a\u00a0b");
    });
});
