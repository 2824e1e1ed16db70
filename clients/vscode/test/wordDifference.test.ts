import { describe, expect, test } from "vitest";
import { changedWords } from "../src/wordDifference";

function applied(old: string, now: string): string {
    let result = "";
    let at = 0;
    for (const { start, end, added } of changedWords(old, now) ?? []) {
        result += old.slice(at, start) + added;
        at = end;
    }
    return result + old.slice(at);
}

describe("the changed words of a line", () => {
    test("two words are two spans", () => {
        const spans = changedWords("self.host = host", "self.name = name");
        expect(spans).toEqual([
            { start: 5, end: 9, added: "name" },
            { start: 12, end: 16, added: "name" },
        ]);
    });

    test("what wraps a word leaves the word alone", () => {
        expect(changedWords("Optional[str]", "str | None")).toEqual([
            { start: 0, end: 9, added: "" },
            { start: 12, end: 13, added: " | None" },
        ]);
    });

    test.each([
        ["'%s items' % count", "f'{count} items'"],
        ["foo", "bar"],
        ["", "added"],
        ["removed", ""],
        ["a b c", "c b a"],
        ["x.unwrap()", 'x.expect("poisoned")'],
        ["größe = 1", "länge = 1"],
    ])("%j becomes %j", (old, now) => {
        expect(applied(old, now)).toBe(now);
    });

    test("a word is never cut", () => {
        expect(changedWords("total_sum", "total_price")).toEqual([
            { start: 0, end: 9, added: "total_price" },
        ]);
    });

    test("several lines, and lines that share little, are one block", () => {
        expect(changedWords("a\nb", "c\nd")).toBeUndefined();
        expect(changedWords("a=1,b=2,c=3,d=4,e=5", "a=6,b=7,c=8,d=9,e=0")).toBeUndefined();
        expect(changedWords("x ".repeat(400), "y ".repeat(400))).toBeUndefined();
    });
});
