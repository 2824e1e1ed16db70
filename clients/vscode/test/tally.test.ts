import { expect, test } from "vitest";
import { dayOf, keysFor, tallyOf, tallyWords, withAcceptance, withOffer } from "../src/tally";
import { at, replacing } from "./suggestions";

const rename = replacing("info", "debug", at(3, 4));

test("counts offers, acceptances and the keys that they saved", () => {
    const tally = withAcceptance(withOffer(withOffer(tallyOf("2026-1-2", undefined))), rename, 1);
    expect(tallyWords(tally)).toBe("Today: 2 offered, 1 accepted, 8 keys saved");
    expect(keysFor(rename)).toBe(9);
});

test("goes on today and begins again tomorrow", () => {
    const tally = withOffer(tallyOf("2026-1-2", undefined));
    expect(tallyOf("2026-1-2", tally)).toEqual(tally);
    expect(tallyOf("2026-1-3", tally).offered).toBe(0);
});

test.each([null, 3, "text", {}, { day: "d", offered: "1" }])("what was stored as %j does no harm", (kept) => {
    expect(tallyOf("d", kept)).toEqual({ day: "d", offered: 0, accepted: 0, keys: 0 });
});

test("a day is that of the user's own clock", () => {
    expect(dayOf(new Date(2026, 10, 18, 23, 59))).toBe("2026-11-18");
});
