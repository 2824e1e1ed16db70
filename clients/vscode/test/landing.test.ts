import { describe, expect, test } from "vitest";
import { displayOf } from "../src/display";
import { landingOf, restingPlace } from "../src/landing";
import type { LineText } from "../src/positions";
import { isInIndentation } from "../src/tab";
import { at, replacing } from "./suggestions";

const FILE = ["def f():", "    foo(1)", "", "    bar(2)", "", "", "", "", "    "];
const lineText: LineText = (line) => FILE[line] ?? "";

describe("a jump lands", () => {
    test("behind what is removed", () => {
        expect(landingOf(replacing("foo", "baz", at(1, 4)), lineText)).toEqual(at(1, 7));
    });

    test("where text is inserted", () => {
        expect(landingOf(replacing("", "x, ", at(1, 8)), lineText)).toEqual(at(1, 8));
    });

    test("at the end of the line when the change is in its leading white space", () => {
        expect(landingOf(replacing("", "    ", at(1, 4)), lineText)).toEqual(at(1, 10));
        expect(landingOf(replacing("", "    baz()\n", at(3, 0)), lineText)).toEqual(at(3, 10));
        expect(landingOf(replacing("    ", "", at(1, 0)), lineText)).toEqual(at(1, 10));
    });

    test("at the end of the first line when whole lines are removed", () => {
        expect(landingOf(replacing("    foo(1)\n", "", at(1, 0)), lineText)).toEqual(at(1, 10));
    });

    test("at the end of a line above when the line has nothing else", () => {
        expect(landingOf(replacing("", "baz()", at(2, 0)), lineText)).toEqual(at(1, 10));
        expect(landingOf(replacing("", "baz()", at(6, 0)), lineText)).toEqual(at(3, 10));
    });

    test("in white space only where nothing else is in view", () => {
        expect(landingOf(replacing("", "baz()", at(8, 4)), lineText)).toEqual(at(8, 4));
    });

    test("near the suggestion, so that the next Tab applies and does not jump again", () => {
        for (const [line, text] of FILE.entries()) {
            for (let character = 0; character <= text.length; character++) {
                const suggestion = replacing("", "new", at(line, character));
                const landing = landingOf(suggestion, lineText);
                expect(displayOf(suggestion, landing, lineText, { isDrawn: true }).kind).toBe("near");
                expect(isInIndentation(lineText(landing.line), landing.character)).toBe(line >= 7);
            }
        }
    });
});

describe("after a suggestion was applied the cursor stays", () => {
    test("at its end", () => {
        expect(restingPlace(at(1, 7), lineText)).toEqual(at(1, 7));
    });

    test("at the end of the line rather than in its leading white space", () => {
        expect(restingPlace(at(3, 0), lineText)).toEqual(at(3, 10));
    });

    test("on a line of white space, where the user goes on typing", () => {
        expect(restingPlace(at(8, 4), lineText)).toEqual(at(8, 4));
    });
});
