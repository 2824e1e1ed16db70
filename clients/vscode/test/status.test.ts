import { describe, expect, test } from "vitest";
import type { State } from "../src/protocol";
import { statusLine } from "../src/status";

const line = (state: State, message = "because") => statusLine({ state, reason: "code", message });

describe("the status bar", () => {
    test.each<[State, string, string]>([
        ["starting", "the service is being started", "Likewise is starting: the service is being started."],
        ["ready", "ready", "Likewise is ready."],
        ["ready", "Likewise is ready, with the bundle one.", "Likewise is ready, with the bundle one."],
        ["thinking", "waiting for the model", "Likewise is thinking."],
        ["quiet", "No next edit is likely enough.", "Likewise is quiet: No next edit is likely enough."],
        ["snoozed", "Suggestions are snoozed.", "Likewise is snoozed."],
        [
            "off",
            "Suggestions are off for this language.",
            "Likewise is off here: Suggestions are off for this language.",
        ],
        ["trouble", "the service did not answer", "Likewise is in trouble: the service did not answer."],
        ["trouble", "Likewise lost its way.", "Likewise lost its way."],
        [
            "setup",
            "Likewise needs a few Python libraries before it can start.",
            "Likewise needs a few Python libraries before it can start.",
        ],
    ])("says in words that it is %s: %s", (state, message, sentence) => {
        expect(line(state, message).tooltip.split("\n")[0]).toBe(sentence);
    });

    test.each<[State, string]>([
        ["starting", "Likewise: starting"],
        ["setup", "Likewise: set up"],
        ["ready", "Likewise"],
        ["thinking", "Likewise"],
        ["quiet", "Likewise"],
        ["snoozed", "Likewise: snoozed"],
        ["off", "Likewise: off here"],
        ["trouble", "Likewise: trouble"],
    ])("shows %s as %s", (state, text) => {
        expect(line(state).text.replace(/^\$\(.*?\) /, "")).toBe(text);
    });

    test("leads to the menu as long as nothing is wrong", () => {
        for (const state of ["starting", "ready", "thinking", "quiet", "snoozed", "off"] as const) {
            expect(line(state)).toMatchObject({ command: "likewise.menu", isWarning: false });
        }
    });

    test("leads to the log when there is trouble", () => {
        expect(line("trouble")).toMatchObject({ command: "likewise.showLog", isWarning: true });
    });

    test("leads to the set-up when nothing can run yet, and that is no warning", () => {
        expect(line("setup")).toMatchObject({ command: "likewise.setUpPython", isWarning: false });
    });

    test("falls back to the short reason", () => {
        expect(line("quiet", "").tooltip).toContain("code");
    });
});
