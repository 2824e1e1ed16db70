import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { EXAMPLES, exampleFor, instructionFor, placesIn } from "../src/examples";

const where = (file: string) =>
    file.startsWith("bundled/walkthrough/")
        ? file.replace("bundled/walkthrough", "../../tests/data/kinds")
        : file;

describe.each(EXAMPLES)("the example in $language", (example) => {
    const text = readFileSync(where(example.file), "utf8");
    const places = placesIn(text, example);

    test("looks like a real file, and its change repeats", () => {
        expect(text.split("\n").length).toBeGreaterThan(150);
        expect(places.length).toBeGreaterThanOrEqual(6);
        for (const place of places) {
            expect(text.slice(place, place + example.from.length)).toBe(example.from);
        }
    });

    test("comes with one sentence on what to change and one on what to press", () => {
        expect(instructionFor(example, [3, 9])).toContain(
            `Change ${example.from} to ${example.to} in line 3`,
        );
    });
});

test("another language gets the first example", () => {
    expect(exampleFor("cobol").language).toBe("python");
    expect(exampleFor("go").language).toBe("go");
});
