/** The text of the hover: the change as a small difference, and what the user can do with it. */

import { oneLine } from "./display";
import type { LineText } from "./positions";
import type { Suggestion } from "./protocol";

const LIMIT_LINES = 12;
const LIMIT_LINE = 120;

/** The commands behind the links, each with its words. */
export const HOVER_COMMANDS = {
    "likewise.acceptHere": "Accept",
    "likewise.dismiss": "Dismiss",
    "likewise.why": "Why this?",
    "likewise.everywhere": "Apply everywhere",
} as const;

/** Markdown for a suggestion. */
export function hoverText(suggestion: Suggestion, lineText: LineText): string {
    const percent = Math.round(suggestion.confidence * 100);
    const links = Object.entries(HOVER_COMMANDS).map(([command, words]) => `[${words}](command:${command})`);
    return [
        `Likewise suggests in line ${suggestion.range.start.line + 1} (${percent} % sure):`,
        fenced(differenceLines(suggestion, lineText).join("\n")),
        links.join(" · "),
    ].join("\n\n");
}

/** The changed lines as in a patch: what goes, then what comes. */
export function differenceLines({ range, newText }: Suggestion, lineText: LineText): string[] {
    const { start, end } = range;
    const count = end.line - start.line + 1;
    const old = Array.from({ length: count }, (_, index) => lineText(start.line + index));
    const before = lineText(start.line).slice(0, start.character);
    const behind = lineText(end.line).slice(end.character);
    const now = `${before}${newText}${behind}`.split(/\r\n|\r|\n/);
    return [...marked("-", old), ...marked("+", now)];
}

function marked(sign: string, lines: readonly string[]): string[] {
    const shown = lines.slice(0, LIMIT_LINES).map((line) => `${sign} ${cut(line)}`);
    return lines.length > LIMIT_LINES ? [...shown, `${sign} …`] : shown;
}

function cut(line: string): string {
    return line.length <= LIMIT_LINE ? line : oneLine(line, LIMIT_LINE, { trim: false });
}

/** The user's text must not end the block. */
function fenced(text: string): string {
    const runs = text.match(/`+/g) ?? [];
    const fence = "`".repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
    return `${fence}diff\n${text}\n${fence}`;
}
