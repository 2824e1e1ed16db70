import { describe, expect, test } from "vitest";
import { displayOf } from "../src/display";
import { placeFor } from "../src/label";
import { columnOf, isInView, labelPlace, type Viewport } from "../src/view";
import { at, replacing } from "./suggestions";

const viewport = (changes: Partial<Viewport> = {}): Viewport => ({
    lines: [{ first: 0, last: 40 }],
    cursor: at(10, 4),
    editors: 1,
    tabSize: 4,
    isWrapped: false,
    ...changes,
});
const lines =
    (texts: Readonly<Record<number, string>>, other = "    short()") =>
    (line: number) =>
        texts[line] ?? other;
const LONG = "x".repeat(300);

describe("what the user sees", () => {
    test("lines of the viewport, columns of a window", () => {
        const text = lines({ 12: LONG });
        expect(isInView(viewport(), at(12, 50), text)).toBe(true);
        expect(isInView(viewport(), at(12, 250), text)).toBe(false);
        expect(isInView(viewport(), at(41, 0), text)).toBe(false);
    });

    test("an editor that shares the window shows fewer columns", () => {
        expect(isInView(viewport({ editors: 2 }), at(12, 70), lines({ 12: LONG }))).toBe(false);
    });

    test("a cursor far to the right has scrolled the window", () => {
        const text = lines({ 10: LONG, 12: LONG });
        const scrolled = viewport({ cursor: at(10, 200) });
        expect(isInView(scrolled, at(12, 205), text)).toBe(true);
        expect(isInView(scrolled, at(12, 3), text)).toBe(false);
        expect(isInView(scrolled, at(12, 260), text)).toBe(false);
    });

    test("wrapped lines are seen to their ends", () => {
        expect(isInView(viewport({ isWrapped: true }), at(12, 250), lines({ 12: LONG }))).toBe(true);
    });

    test("a tab takes the columns up to the next stop", () => {
        expect(columnOf("\tx\ty", 4, 4)).toBe(9);
        expect(columnOf("  \tx", 4, 8)).toBe(9);
    });
});

describe("the label", () => {
    const rename = replacing("foo", "bar", at(90, 4));
    const far = (view: Viewport, text: (line: number) => string) =>
        placeFor(displayOf(rename, view.cursor, text, { viewport: view }), view, text);

    test("of a far change stands at the end of the cursor line", () => {
        expect(far(viewport(), lines({ 10: "    call()" }))).toEqual(at(10, 10));
    });

    test("on a line longer than the window it stands on a line beside it", () => {
        expect(far(viewport(), lines({ 10: LONG, 11: LONG, 9: "    ok" }))).toEqual(at(9, 6));
    });

    test("where it fits nowhere there is none", () => {
        expect(far(viewport(), lines({}, LONG))).toBeUndefined();
        expect(far(viewport({ lines: [{ first: 200, last: 240 }] }), lines({}))).toBeUndefined();
    });

    test("of a near change on a long line stands right behind the change", () => {
        expect(labelPlace(viewport(), 12, lines({ 12: LONG }), at(12, 20))).toEqual(at(12, 20));
    });

    test("a change close by that is not seen is told as a far one", () => {
        const hidden = replacing("foo", "bar", at(12, 250));
        const text = lines({ 12: LONG });
        expect(displayOf(hidden, at(10, 4), text, { viewport: viewport() }).kind).toBe("far");
        expect(displayOf(hidden, at(10, 4), text).kind).toBe("near");
    });
});
