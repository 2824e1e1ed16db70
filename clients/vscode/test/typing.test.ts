import { describe, expect, test } from "vitest";
import { suits, wordAt } from "../src/typing";
import { at, replacing } from "./suggestions";

/** The word at the cursor, which stands at `|`, on line 5. */
function word(marked: string) {
    const cursor = at(5, marked.indexOf("|"));
    const found = wordAt(cursor, () => marked.replace("|", ""));
    if (found === undefined) {
        throw new Error(`no word in ${marked}`);
    }
    return found;
}

describe("while a word is being typed, a suggestion", () => {
    test("may complete it", () => {
        expect(suits(replacing("", "bug", at(5, 6)), word("log.de|"))).toBe(true);
        expect(suits(replacing("unwrap()", 'xpect("x")', at(5, 3)), word("x.e|unwrap()"))).toBe(true);
    });

    test("must not edit it otherwise", () => {
        expect(suits(replacing("de", "info", at(5, 4)), word("log.de|"))).toBe(false);
        expect(suits(replacing("", "x", at(5, 5)), word("log.de|"))).toBe(false);
        expect(suits(replacing("log.de", "log.info", at(5, 0)), word("log.de|"))).toBe(false);
    });

    test("must not repeat elsewhere what is only half typed in front of another word", () => {
        expect(suits(replacing("console", "seconsole", at(90, 4)), word("se|console.log"))).toBe(false);
        expect(suits(replacing("console", "self.console", at(90, 4)), word("se|console.log"))).toBe(true);
    });

    test("may change everything else", () => {
        expect(suits(replacing("info", "debug", at(90, 4)), word("log.debug|"))).toBe(true);
        expect(suits(replacing("log", "logger", at(5, 0)), word("log.debug|"))).toBe(true);
        expect(suits(replacing("a\nb", "c", at(3, 0)), word("log.debug|"))).toBe(true);
    });
});

test("behind a sign no word is being typed", () => {
    expect(wordAt(at(0, 5), () => "self.console")).toBeUndefined();
});
