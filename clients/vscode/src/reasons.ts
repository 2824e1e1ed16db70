/** The user's past changes in words: "line 7: info → debug", "lines 3, 9: added `timeout=3`". No `vscode` here. */

import { oneLine } from "./display";
import type { Range, Reason } from "./protocol";

/** Of each side of a change: both must fit into one line of a list. */
const LIMIT_TEXT = 40;
const LIMIT_LINES = 4;

export function wordsFor(reason: Reason): string {
    return `${linesOf(reason.places)}: ${changeOf(reason)}`;
}

/** The lines as the user counts them, each once and in the order of the text. */
export function linesOf(places: readonly Range[]): string {
    const lines = [...new Set(places.map(({ start }) => start.line + 1))].sort((one, other) => one - other);
    const more = lines.length > LIMIT_LINES ? ` and ${lines.length - LIMIT_LINES + 1} more` : "";
    const named = more === "" ? lines : lines.slice(0, LIMIT_LINES - 1);
    return `${lines.length === 1 ? "line" : "lines"} ${named.join(", ")}${more}`;
}

export function changeOf({ oldText, newText }: Pick<Reason, "oldText" | "newText">): string {
    if (oldText === "") {
        return `added \`${visible(withoutBreaks(newText))}\``;
    }
    if (newText === "") {
        return `removed \`${visible(withoutBreaks(oldText))}\``;
    }
    return `${visible(oldText)} → ${visible(newText)}`;
}

/** A whole line that came or went is told without its break; an empty line is nothing but that. */
function withoutBreaks(text: string): string {
    return text.trim() === "" ? text : text.replace(/^(?:[\r\n]+[ \t]*)+|[\r\n]+$/g, "");
}

/** Blanks at the ends would not be seen; those between words are. */
function visible(text: string): string {
    const marked = text.replace(/^[ \t]+|[ \t]+$/g, (blanks) =>
        blanks.replaceAll(" ", "·").replaceAll("\t", "⇥"),
    );
    return oneLine(marked, LIMIT_TEXT, { trim: false });
}
