/** The display of a suggestion, seen from the cursor: as ghost text, near the cursor, or as a hint at a far place. */

import { after, type LineText, offsetIn } from "./positions";
import type { Position, Range, Suggestion } from "./protocol";
import { isInView, type Viewport } from "./view";
import { changedWords } from "./wordDifference";

/** A place this many lines from the cursor is still in the corner of the eye: no jump is needed. */
export const NEAR_LINES = 3;
/** Longer texts are cut: a hint must fit beside the code. */
const LIMIT_HINT = 40;
const LIMIT_ADDED = 100;

/** The removed and the added text, without the words that both have at their ends. */
export interface Difference {
    readonly removed: Range;
    readonly removedText: string;
    readonly addedText: string;
}

export interface Ghost {
    readonly kind: "ghost";
    readonly position: Position;
    readonly text: string;
}

export interface Near {
    readonly kind: "near";
    readonly difference: Difference;
    /** The same, word by word. */
    readonly words: readonly Difference[];
}

export interface Far {
    readonly kind: "far";
    readonly difference: Difference;
    readonly words: readonly Difference[];
    readonly hint: string;
}

export type Display = Ghost | Near | Far;

/** The circumstances, beside the cursor, that decide how a suggestion is shown. */
export interface Circumstances {
    /** A change that the user does not see is far, however few lines away. Without one, everything is seen. */
    readonly viewport?: Viewport;
    /**
     * An insertion is drawn like any other change, not as ghost text. So it is where our own jump put the cursor: VS
     * Code takes a moment to show ghost text, and the second Tab must not fall into it.
     */
    readonly isDrawn?: boolean;
}

export function displayOf(
    suggestion: Suggestion,
    cursor: Position,
    lineText: LineText = () => "",
    { viewport, isDrawn = false }: Circumstances = {},
): Display {
    const inserted = isDrawn ? undefined : insertedAt(suggestion, cursor);
    if (inserted !== undefined) {
        return { kind: "ghost", position: cursor, text: inserted };
    }
    const difference = differenceOf(suggestion);
    const words = wordsOf(difference);
    const isSeen = viewport === undefined || isInView(viewport, difference.removed.end, lineText);
    if (isSeen && linesBetween(difference.removed, cursor) <= NEAR_LINES) {
        return { kind: "near", difference, words };
    }
    return { kind: "far", difference, words, hint: hintFor(difference, lineText) };
}

/** A difference word by word: what stays between two changed words is no part of it. */
export function wordsOf(difference: Difference): readonly Difference[] {
    const { removed, removedText, addedText } = difference;
    const spans = changedWords(removedText, addedText);
    return spans === undefined || spans.length <= 1
        ? [difference]
        : spans.map(({ start, end, added }) => ({
              removed: {
                  start: after(removed.start, removedText.slice(0, start)),
                  end: after(removed.start, removedText.slice(0, end)),
              },
              removedText: removedText.slice(start, end),
              addedText: added,
          }));
}

/** The text that the suggestion inserts exactly at the cursor; undefined when it does anything else. */
export function insertedAt(
    { range, oldText, newText }: Pick<Suggestion, "range" | "oldText" | "newText">,
    cursor: Position,
): string | undefined {
    const offset = offsetIn(oldText, range.start, cursor);
    if (offset === undefined || newText.length <= oldText.length) {
        return undefined;
    }
    const before = oldText.slice(0, offset);
    const behind = oldText.slice(offset);
    if (!newText.startsWith(before) || !newText.endsWith(behind)) {
        return undefined;
    }
    return newText.slice(offset, newText.length - behind.length);
}

export function differenceOf({
    range,
    oldText,
    newText,
}: Pick<Suggestion, "range" | "oldText" | "newText">): Difference {
    const prefix = commonPrefix(oldText, newText);
    const suffix = commonSuffix(oldText.slice(prefix), newText.slice(prefix));
    const removedText = oldText.slice(prefix, oldText.length - suffix);
    const start = after(range.start, oldText.slice(0, prefix));
    return {
        removed: { start, end: after(start, removedText) },
        removedText,
        addedText: newText.slice(prefix, newText.length - suffix),
    };
}

/** One line for a change: "foo → bar", "add bar", "remove foo". */
export function summaryOf({ removedText, addedText }: Pick<Difference, "removedText" | "addedText">): string {
    const removed = oneLine(removedText, LIMIT_HINT);
    const added = oneLine(addedText, LIMIT_HINT);
    if (removed === "") {
        return `add ${added}`;
    }
    return added === "" ? `remove ${removed}` : `${removed} → ${added}`;
}

/** The added text as a decoration shows it: one line, blanks that CSS keeps. */
export function addedLabel(addedText: string): string {
    return oneLine(addedText, LIMIT_ADDED, { trim: false }).replaceAll(" ", "\u00a0");
}

export function oneLine(text: string, limit: number, { trim = true } = {}): string {
    const line = text.replaceAll(/(\r\n|\r|\n)[ \t]*/g, "⏎").replaceAll("\t", "⇥");
    const shown = trim ? line.trim() : line;
    // Half of a surrogate pair is no character.
    return shown.length <= limit ? shown : `${shown.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

function hintFor(difference: Difference, lineText: LineText): string {
    return `→ line ${difference.removed.start.line + 1}: ${summaryOf(withContext(difference, lineText))}`;
}

/** A sign that belongs to the word behind it: the hint says "%s → %w", not "s → w". */
const SIGN_BEFORE = /[%$@#&.\\~^-]{1,2}$/u;
const TOKEN_BEFORE = /(?:[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]{1,2})$/u;
const TOKEN_BEHIND = /^(?:[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]{1,2})/u;

/** The texts of a change in one line, with what stands beside it where they say little by themselves. */
export function withContext(
    { removed, removedText, addedText }: Difference,
    lineText: LineText,
): Pick<Difference, "removedText" | "addedText"> {
    if (/[\r\n]/.test(removedText + addedText)) {
        return { removedText, addedText };
    }
    const line = lineText(removed.start.line);
    const before = line.slice(0, removed.start.character);
    const behind = line.slice(removed.end.character);
    const isReplacement = removedText !== "" && addedText !== "";
    const isTelling = isReplacement && Math.min(removedText.length, addedText.length) > 1;
    const [left] = isTelling ? [""] : ((isReplacement ? SIGN_BEFORE : TOKEN_BEFORE).exec(before) ?? [""]);
    const [right] = isReplacement || left !== "" ? [""] : (TOKEN_BEHIND.exec(behind) ?? [""]);
    return { removedText: left + removedText + right, addedText: left + addedText + right };
}

function linesBetween({ start, end }: Range, { line }: Position): number {
    return Math.max(start.line - line, line - end.line, 0);
}

const isWord = (character: string | undefined) =>
    character !== undefined && /[\p{L}\p{N}\p{Surrogate}_]/u.test(character);

/** True if cutting `text` at `offset` would cut a word (or a surrogate pair) in two. */
function cutsWord(text: string, offset: number): boolean {
    return isWord(text[offset - 1]) && isWord(text[offset]);
}

function commonPrefix(one: string, other: string): number {
    const limit = Math.min(one.length, other.length);
    let length = 0;
    while (length < limit && one[length] === other[length]) {
        length++;
    }
    while (length > 0 && (cutsWord(one, length) || cutsWord(other, length))) {
        length--;
    }
    return length;
}

function commonSuffix(one: string, other: string): number {
    const limit = Math.min(one.length, other.length);
    let length = 0;
    while (length < limit && one[one.length - 1 - length] === other[other.length - 1 - length]) {
        length++;
    }
    while (length > 0 && (cutsWord(one, one.length - length) || cutsWord(other, other.length - length))) {
        length--;
    }
    return length;
}
