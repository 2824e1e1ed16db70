/** The log lines that the language server and its service write to stderr: level and text, without their own time. */

export type Level = "debug" | "info" | "warning" | "error";

export interface LogLine {
    readonly level: Level;
    readonly text: string;
}

/** "2026-11-18 09:10:11,123 INFO lsp.workspace: ..." of the language server. */
const PLAIN = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d{3} ([A-Z]+) (.*)$/;
const LEVELS: Readonly<Record<string, Level>> = {
    debug: "debug",
    info: "info",
    warning: "warning",
    error: "error",
    critical: "error",
};

/** Puts lines together from the chunks of a stream. */
export class LogReader {
    private rest = "";
    /** The level of a line that names none is that of the line before: a stack has many lines. */
    private level: Level = "error";

    read(chunk: string): LogLine[] {
        const lines = (this.rest + chunk).split(/\r?\n/);
        this.rest = lines.pop() as string;
        return lines.filter((line) => line.trim() !== "").map((line) => this.parse(line));
    }

    private parse(line: string): LogLine {
        const found = parsePlain(line) ?? parseStructured(line) ?? { level: this.level, text: line };
        this.level = found.level;
        return found;
    }
}

function parsePlain(line: string): LogLine | undefined {
    const [, name, text] = PLAIN.exec(line) ?? [];
    const level = LEVELS[name?.toLowerCase() ?? ""];
    return level === undefined || text === undefined ? undefined : { level, text };
}

/** One JSON object of the service: time, level, event and other fields. */
function parseStructured(line: string): LogLine | undefined {
    if (!line.startsWith("{")) {
        return undefined;
    }
    try {
        const { time: _, level: name, event, ...fields } = JSON.parse(line) as Record<string, unknown>;
        const level = LEVELS[String(name)];
        if (level === undefined || typeof event !== "string") {
            return undefined;
        }
        const details = Object.entries(fields).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
        return { level, text: ["service:", event, ...details].join(" ") };
    } catch {
        return undefined;
    }
}
