/** The word that the user is typing: a suggestion may complete it, and must not edit it otherwise. */

import { differenceOf } from "./display";
import { isEqual, type LineText } from "./positions";
import type { Position, Range, Suggestion } from "./protocol";

const BEFORE = /[\p{L}\p{N}_$]+$/u;
const BEHIND = /^[\p{L}\p{N}_$]+/u;

export interface TypedWord {
    readonly text: string;
    readonly range: Range;
    readonly cursor: Position;
}

/** The word around the cursor; undefined where there is none. */
export function wordAt(cursor: Position, lineText: LineText): TypedWord | undefined {
    const line = lineText(cursor.line);
    const [before] = BEFORE.exec(line.slice(0, cursor.character)) ?? [""];
    const [behind] = BEHIND.exec(line.slice(cursor.character)) ?? [""];
    if (before === "") {
        return undefined;
    }
    const place = (character: number) => ({ line: cursor.line, character });
    return {
        text: before + behind,
        range: {
            start: place(cursor.character - before.length),
            end: place(cursor.character + behind.length),
        },
        cursor,
    };
}

/**
 * True if a suggestion makes sense while this word is being typed. It may change the text behind the cursor, which
 * completes the word; and it must not repeat a word elsewhere that the user has only half typed in front of another.
 */
export function suits(suggestion: Suggestion, word: TypedWord): boolean {
    const { removed, addedText } = differenceOf(suggestion);
    if (!isEqual(removed.start, word.cursor) && isInside(removed, word.range)) {
        return false;
    }
    const isInMiddle = !isEqual(word.cursor, word.range.end);
    return !isInMiddle || isEqual(removed.start, word.cursor) || !hasWord(addedText, word.text);
}

/** True if a change removes a part of the word, or inserts something into it or behind it. */
function isInside({ start, end }: Range, word: Range): boolean {
    if (start.line > word.start.line || end.line < word.start.line) {
        return false;
    }
    const first = start.line < word.start.line ? -1 : start.character;
    const last = end.line > word.start.line ? Number.POSITIVE_INFINITY : end.character;
    const isInsertion = first === last;
    return isInsertion
        ? first > word.start.character && first < word.end.character
        : first < word.end.character && last > word.start.character;
}

function hasWord(text: string, word: string): boolean {
    const words: readonly string[] = text.match(/[\p{L}\p{N}_$]+/gu) ?? [];
    return words.includes(word);
}
