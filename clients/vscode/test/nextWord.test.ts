import { expect, test } from "vitest";
import { nextWordOf } from "../src/nextWord";
import { at, replacing } from "./suggestions";

test("of two changed words the first is taken first", () => {
    const step = nextWordOf(replacing("host = host", "name = name", at(3, 4)));
    expect(step.difference).toMatchObject({ removedText: "host", addedText: "name" });
    expect(step).toMatchObject({ end: at(3, 8), isLast: false });
});

test("an insertion is taken word by word, with the signs in front of each", () => {
    const step = nextWordOf(replacing("", ", timeout=timeout", at(0, 5)));
    expect(step.difference.addedText).toBe(", timeout");
    expect(step.isLast).toBe(false);
});

test("one word is the last", () => {
    expect(nextWordOf(replacing("info", "debug", at(0, 4)))).toMatchObject({ isLast: true, end: at(0, 9) });
    expect(nextWordOf(replacing("info", "", at(0, 4))).isLast).toBe(true);
});
