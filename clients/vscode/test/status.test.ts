import { describe, expect, test } from "vitest";
import type { State } from "../src/protocol";
import { statusLine } from "../src/status";

const line = (state: State, message = "because") => statusLine({ state, reason: "code", message });

describe("the status bar", () => {
    test.each<State>(["starting", "ready", "thinking", "quiet", "snoozed", "off"])(
        "says %s with its reason",
        (state) => {
            expect(line(state).text).toContain("Likewise");
            expect(line(state).tooltip).toContain("because");
            expect(line(state)).toMatchObject({ command: "likewise.menu", isWarning: false });
        },
    );

    test("leads to the log when there is trouble", () => {
        expect(line("trouble")).toMatchObject({ command: "likewise.showLog", isWarning: true });
    });

    test("falls back to the short reason", () => {
        expect(line("quiet", "").tooltip).toContain("code");
    });
});
