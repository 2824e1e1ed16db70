import { describe, expect, test } from "vitest";
import { LogReader } from "../src/serverLog";

const read = (...chunks: readonly string[]) => {
    const reader = new LogReader();
    return chunks.flatMap((chunk) => reader.read(chunk));
};

describe("a line of the language server's log", () => {
    test.each([
        ["DEBUG", "debug"],
        ["INFO", "info"],
        ["WARNING", "warning"],
        ["ERROR", "error"],
        ["CRITICAL", "error"],
    ])("of level %s is %s, without its time", (name, level) => {
        expect(read(`2026-11-18 09:10:11,123 ${name} lsp.workspace: no service\n`)).toEqual([
            { level, text: "lsp.workspace: no service" },
        ]);
    });

    test("of the service is told without its time, with its fields", () => {
        const line = { time: "2026-11-18T09:10:11.123Z", level: "info", event: "ready", port: 8377 };
        expect(read(`${JSON.stringify(line)}\n`)).toEqual([
            { level: "info", text: "service: ready port=8377" },
        ]);
    });

    test("may come in pieces, and several may come at once", () => {
        const text = "2026-11-18 09:10:11,123 INFO a: b\r\n2026-11-18 09:10:11,124 WARNING c: d\n";
        const whole = read(text);
        expect(whole).toEqual([
            { level: "info", text: "a: b" },
            { level: "warning", text: "c: d" },
        ]);
        for (let cut = 0; cut <= text.length; cut++) {
            expect(read(text.slice(0, cut), text.slice(cut))).toEqual(whole);
        }
    });

    test("without a level is an error, or goes with the line before", () => {
        expect(read("Traceback:\n")).toEqual([{ level: "error", text: "Traceback:" }]);
        expect(read("2026-11-18 09:10:11,123 WARNING a: b\n  line 3\n")[1]).toEqual({
            level: "warning",
            text: "  line 3",
        });
        expect(read('{"level": 3}\n{broken\n').map(({ level }) => level)).toEqual(["error", "error"]);
    });
});
