import { describe, expect, test } from "vitest";
import { differenceLines, hoverText } from "../src/hoverText";
import { at, replacing } from "./suggestions";

describe("the hover", () => {
    test("shows the line before and after", () => {
        const lines = differenceLines(replacing("info", "debug", at(3, 4)), () => "log.info(x)");
        expect(lines).toEqual(["- log.info(x)", "+ log.debug(x)"]);
    });

    test("shows each line of a change of several", () => {
        const text = ["def f(", "    a,", "    b", ")"];
        const suggestion = replacing("a,\n    b", "b", at(1, 4));
        expect(differenceLines(suggestion, (line) => text[line] ?? "")).toEqual([
            "-     a,",
            "-     b",
            "+     b",
        ]);
    });

    test("cuts what is long", () => {
        const many = replacing("", "x\n".repeat(30), at(0, 0));
        expect(differenceLines(many, () => "y".repeat(500)).length).toBeLessThanOrEqual(14);
        expect(differenceLines(many, () => "y".repeat(500))[0]?.length).toBeLessThan(130);
    });

    test("leads to accept, dismiss, why and everywhere", () => {
        const text = hoverText(replacing("info", "debug", at(3, 4)), () => "log.info(x)");
        expect(text).toContain("in line 4 (90 % sure)");
        for (const command of ["acceptHere", "dismiss", "why", "everywhere"]) {
            expect(text).toContain(`(command:likewise.${command})`);
        }
    });

    test("the user's text cannot end its block", () => {
        const text = hoverText(replacing("a", "```\n[x](command:evil)", at(0, 0)), () => "a");
        expect(text).toContain("````diff");
    });
});
