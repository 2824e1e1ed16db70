import { describe, expect, test } from "vitest";
import { chosenOf, cycle, isFor, type Offer, offerFrom, typedAlong } from "../src/offer";
import { at, noticeOf, replacing } from "./suggestions";

const first = replacing("foo", "bar", at(3, 0));
const second = replacing("foo", "baz", at(3, 0));
const third = replacing("foo", "qux", at(9, 0));
const offer = offerFrom(noticeOf(first, second, third)) as Offer;

describe("an offer", () => {
    test("of silence is none", () => {
        expect(offerFrom(noticeOf())).toBeUndefined();
    });

    test("shows the suggestion first", () => {
        expect(chosenOf(offer)).toBe(first);
    });

    test("holds each edit once", () => {
        expect(offerFrom(noticeOf(first, { ...first, id: "again" }, second))?.choices).toEqual([
            first,
            second,
        ]);
    });

    test("keeps the user's choice when the same version is offered again", () => {
        const again = offerFrom(noticeOf(first, { ...second, id: "new" }), cycle(offer, 1)) as Offer;
        expect(chosenOf(again)).toMatchObject({ id: "new", newText: "baz" });
    });

    test("begins anew for another version", () => {
        const again = offerFrom({ ...noticeOf(first, second), version: 8 }, cycle(offer, 1)) as Offer;
        expect(chosenOf(again)).toBe(first);
    });

    test("is for its own document and version alone", () => {
        expect(isFor(offer, { uri: "file:///a.py", version: 7 })).toBe(true);
        expect(isFor(offer, { uri: "file:///a.py", version: 8 })).toBe(false);
        expect(isFor(offer, { uri: "file:///a.py", version: 6 })).toBe(false);
        expect(isFor(offer, { uri: "file:///b.py", version: 7 })).toBe(false);
    });
});

describe("cycling", () => {
    const shown = (steps: readonly number[]) => chosenOf(steps.reduce(cycle, offer));

    test("goes forward, backward, and round at both ends", () => {
        expect(shown([1])).toBe(second);
        expect(shown([1, 1, 1])).toBe(first);
        expect(shown([-1])).toBe(third);
        expect(shown([-1, 1])).toBe(first);
    });

    test("of a single choice stays", () => {
        expect(chosenOf(cycle(offerFrom(noticeOf(first)) as Offer, -1))).toBe(first);
    });
});

describe("typing along", () => {
    const ghost = offerFrom(noticeOf(replacing("", "price", at(2, 4)))) as Offer;
    const typed = (text: string, start = at(2, 4), end = start) =>
        typedAlong(ghost, { range: { start, end }, text }, 8);

    test("keeps the rest of the suggestion, for the new version", () => {
        const rest = typed("pr") as Offer;
        expect(rest.version).toBe(8);
        expect(chosenOf(rest)).toMatchObject({
            range: { start: at(2, 6), end: at(2, 6) },
            newText: "ice",
            oldText: "",
        });
    });

    test("can be done letter by letter", () => {
        const letter = { range: { start: at(2, 5), end: at(2, 5) }, text: "r" };
        expect(chosenOf(typedAlong(typed("p") as Offer, letter, 9) as Offer).newText).toBe("ice");
    });

    test("ends with something else, with all of it, elsewhere, and with a deletion", () => {
        expect(typed("x")).toBeUndefined();
        expect(typed("price")).toBeUndefined();
        expect(typed("p", at(2, 3))).toBeUndefined();
        expect(typed("p", at(2, 4), at(2, 5))).toBeUndefined();
        expect(typed("")).toBeUndefined();
    });

    test("is for insertions only", () => {
        const change = { range: { start: at(3, 3), end: at(3, 3) }, text: "b" };
        expect(typedAlong(offer, change, 8)).toBeUndefined();
    });
});
