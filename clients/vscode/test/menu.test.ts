import { expect, test } from "vitest";
import { menuEntries, type Situation, unsureWords } from "../src/menu";
import { at, replacing } from "./suggestions";

const situation: Situation = {
    status: { state: "quiet", reason: "below-threshold", message: "No next edit is likely enough." },
    language: "python",
    tally: { day: "d", offered: 3, accepted: 2, keys: 17 },
    unsure: undefined,
};

test("the best candidate stands first, with its line and how sure it is", () => {
    const unsure = unsureWords(
        { ...replacing("info", "debug", at(130, 4)), confidence: 0.76 },
        () => "log.info(x)",
    );
    expect(unsure).toBe("Not sure enough: line 131 info → debug, 76 %. Show it.");
    expect(menuEntries({ ...situation, unsure })[0]).toMatchObject({
        label: `$(lightbulb) ${unsure}`,
        command: "likewise.showUnsure",
    });
});

test("today's counts are there, and no language where there is no file", () => {
    const labels = menuEntries({ ...situation, language: undefined }).map(({ label }) => label);
    expect(labels).toContain("$(graph) Today: 3 offered, 2 accepted, 17 keys saved");
    expect(labels.join()).not.toContain("Turn on or off");
});

test("whoever is snoozed can wake up", () => {
    const status = { ...situation.status, state: "snoozed" as const };
    expect(menuEntries({ ...situation, status })[0]?.command).toBe("likewise.wake");
});
