import { expect, test } from "vitest";
import { displayOf } from "../src/display";
import { notesFor } from "../src/label";
import { at, replacing } from "./suggestions";

const near = displayOf(replacing("foo", "bar", at(10, 4)), at(10, 0));
const far = displayOf(replacing("foo", "bar", at(10, 4)), at(90, 0));
const facts = { key: "Tab", placesLeft: 1, others: 0 };

test("a single change near the cursor needs no words", () => {
    expect(notesFor(near, facts)).toEqual([]);
});

test("a change that repeats says how many are left, and the key that works", () => {
    expect(notesFor(near, { ...facts, placesLeft: 6 })).toEqual(["6 more: Tab, or apply all: Alt+Shift+L"]);
    expect(notesFor(near, { ...facts, key: "Alt+L", placesLeft: 2 })).toEqual([
        "2 more: Alt+L, or apply all: Alt+Shift+L",
    ]);
});

test("other changes are counted, not numbered", () => {
    expect(notesFor(near, { ...facts, others: 2 })).toEqual(["other changes: 2"]);
});

test("a far change says first where it is", () => {
    expect(notesFor(far, { ...facts, others: 1 })).toEqual(["→ line 11: foo → bar", "other changes: 1"]);
});
