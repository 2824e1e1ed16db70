/** Suggestions for the tests, written as short as they are read. */

import { after } from "../src/positions";
import type { Position, Suggestion, SuggestionNotice } from "../src/protocol";

export const at = (line: number, character: number): Position => ({ line, character });

export function replacing(oldText: string, newText: string, start: Position): Suggestion {
    return {
        id: `${oldText}>${newText}@${start.line}:${start.character}`,
        range: { start, end: after(start, oldText) },
        oldText,
        newText,
        confidence: 0.9,
        because: [],
        placesLeft: 1,
    };
}

export function noticeOf(...choices: readonly Suggestion[]): SuggestionNotice {
    const [suggestion, ...alternatives] = choices;
    return {
        uri: "file:///a.py",
        version: 7,
        suggestion: suggestion ?? null,
        alternatives,
        silence: suggestion === undefined ? "empty" : null,
    };
}
