import { describe, expect, test } from "vitest";
import { everyEntry, needsRestart, settingsFrom, toggled } from "../src/settings";

const read = (values: Record<string, unknown>) => settingsFrom((name) => values[name]);

describe("settings", () => {
    test("without any value are the defaults", () => {
        expect(read({})).toMatchObject({
            enabled: true,
            python: "",
            jumpAndApply: false,
            server: {
                push: true,
                eagerness: "balanced",
                threshold: null,
                serviceAddress: null,
                record: false,
                languages: { "*": true },
            },
        });
    });

    test("of the wrong type do no harm", () => {
        const { server } = read({
            threshold: "high",
            eagerness: "greedy",
            exclude: "*.key",
            languages: { python: "no", go: false },
            record: 1,
        });
        expect(server).toMatchObject({
            threshold: null,
            eagerness: "balanced",
            exclude: [],
            languages: { "*": true, go: false },
            record: false,
        });
    });

    test("hold the threshold between 0 and 1", () => {
        expect(read({ threshold: 3 }).server.threshold).toBe(1);
        expect(read({ threshold: 0.75 }).server.threshold).toBe(0.75);
    });

    test.each(["quiet", "balanced", "eager"])("pass on that it is %s, beside a threshold", (eagerness) => {
        expect(read({ eagerness }).server).toMatchObject({ eagerness, threshold: null });
        expect(read({ eagerness, threshold: 0.9 }).server).toMatchObject({ eagerness, threshold: 0.9 });
    });

    test("restart the server only when its process must differ", () => {
        expect(
            needsRestart(
                read({}),
                read({ threshold: 0.5, eagerness: "eager", exclude: ["*.md"], jumpAndApply: true }),
            ),
        ).toBe(false);
        expect(needsRestart(read({}), read({ python: "/usr/bin/python3" }))).toBe(true);
        expect(needsRestart(read({}), read({ enabled: false }))).toBe(true);
        expect(needsRestart(read({}), read({ serviceAddress: "http://127.0.0.1:1" }))).toBe(true);
    });

    test("turn a language off and on, whatever stands for the others", () => {
        expect(toggled({ "*": true }, "python")).toEqual({ "*": true, python: false });
        expect(toggled({ "*": true, python: false }, "python")).toEqual({ "*": true, python: true });
        expect(toggled({ "*": false }, "python")).toEqual({ "*": false, python: true });
    });
});

test("a workspace adds to the user's exclusions and takes none away", () => {
    expect(everyEntry({ globalValue: ["private/**"], workspaceValue: [] })).toEqual(["private/**"]);
    expect(everyEntry({ globalValue: ["a"], workspaceValue: ["b"], workspaceFolderValue: "c" })).toEqual([
        "a",
        "b",
    ]);
    expect(everyEntry(undefined)).toEqual([]);
});
