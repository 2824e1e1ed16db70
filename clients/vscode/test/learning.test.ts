import { describe, expect, test } from "vitest";
import {
    failureMessage,
    learningLine,
    learningParameters,
    progressMessage,
    resultMessage,
} from "../src/learning";

describe("learning from a repository", () => {
    test("asks nothing on a terminal and names the folder", () => {
        const parameters = learningParameters("/work/my project", "quiet", 0);
        expect(parameters).toEqual(expect.arrayContaining(["-P", "--yes", "--json"]));
        expect(parameters[parameters.indexOf("--folder") + 1]).toBe("/work/my project");
        expect(parameters[parameters.indexOf("--minutes") + 1]).toBe("0");
    });

    test("reads the program's own lines and no others", () => {
        expect(learningLine('{"event": "note", "text": "Found"}')).toEqual({ event: "note", text: "Found" });
        expect(learningLine("a warning of a library")).toBeUndefined();
        expect(learningLine("17")).toBeUndefined();
    });

    test.each([
        [null, "play…"],
        [20, "play… (this step: 20 s left)"],
        [600, "play… (this step: 10 min left)"],
    ])("tells the time left: %s", (seconds, message) => {
        expect(progressMessage("play", seconds)).toBe(message);
    });

    test("says why it stays as it is", () => {
        const result = {
            event: "result",
            is_better: false,
            reason: "it may be chance",
            summary: "",
            report: "",
        } as const;
        expect(resultMessage(result)).toBe("Likewise stays as it is: it may be chance.");
        expect(resultMessage({ ...result, is_better: true, reason: "more Tabs" })).toContain("learned");
    });

    test("gives the last line of what went wrong", () => {
        expect(failureMessage("100 %|###|\rmore\ntraining.fit: there is too little to learn from.\n")).toBe(
            "there is too little to learn from.",
        );
        expect(failureMessage("")).toBe("it ended without a reason");
    });
});
