import { describe, expect, test } from "vitest";
import { isWordComplete } from "../src/word";

/** The text with the cursor at `|`. */
const complete = (text: string) => {
    const [before, behind] = text.split("|") as [string, string];
    return isWordComplete(before, behind);
};

describe("the word at the cursor is complete", () => {
    test.each([
        "merged = 1\nprint(merged|)",
        "merged|\nmerged_cookies\nmerged = 2",
        "f(x)|",
        "|",
        "name |",
        "größe| größe",
        "$a| + $a",
    ])("in %j", (text) => {
        expect(complete(text)).toBe(true);
    });

    test.each(["mer|\nmerged = 1", "merged|\nmerged_cookies", "unmerged merged|", "me|rged\nme", "$a| + a"])(
        "but not in %j",
        (text) => {
            expect(complete(text)).toBe(false);
        },
    );
});
