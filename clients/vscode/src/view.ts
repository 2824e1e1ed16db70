/** The part of the text that the user surely sees. VS Code tells which lines are visible, but not how wide a line is. */

import type { LineText } from "./positions";
import type { Position } from "./protocol";

/** An editor alone in its window shows about this many columns; editors side by side share them. */
const COLUMNS = 100;
/** VS Code keeps this many columns visible behind the cursor. */
const BEHIND_CURSOR = 15;
/** The key that is written beside a suggestion, with its margin. */
const KEY_COLUMNS = 9;
/** A label may stand on a line this far from its own, where there is no room for it. */
const NEIGHBOURS = [1, -1, 2, -2, 3, -3];

export interface Viewport {
    /** Visible lines, from the first to the last of each run. */
    readonly lines: readonly { readonly first: number; readonly last: number }[];
    readonly cursor: Position;
    /** Editors beside each other, this one included. */
    readonly editors: number;
    readonly tabSize: number;
    readonly isWrapped: boolean;
}

/** True if the user surely sees the place. */
export function isInView(viewport: Viewport, place: Position, lineText: LineText, margin = 0): boolean {
    return isLineVisible(viewport, place.line) && isColumnVisible(viewport, place, lineText, margin);
}

/**
 * Finds the position for the label of a suggestion: at the end of its line, else at `fallback`, else at the end of
 * a line close by. Undefined when the user would see none of them.
 */
export function labelPlace(
    viewport: Viewport,
    line: number,
    lineText: LineText,
    fallback?: Position,
): Position | undefined {
    const endOf = (each: number) => ({ line: each, character: lineText(each).length });
    const neighbours = NEIGHBOURS.map((step) => line + step).filter((each) => each >= 0);
    const places = [endOf(line), ...(fallback === undefined ? [] : [fallback]), ...neighbours.map(endOf)];
    return places.find((place) => isInView(viewport, place, lineText, KEY_COLUMNS));
}

export function isLineVisible({ lines }: Viewport, line: number): boolean {
    return lines.some(({ first, last }) => first <= line && line <= last);
}

/** The column at which a character is drawn: a tab reaches to the next stop. */
export function columnOf(text: string, character: number, tabSize: number): number {
    let column = 0;
    for (const each of text.slice(0, character)) {
        column = each === "\t" ? column + tabSize - (column % tabSize) : column + 1;
    }
    return column;
}

function isColumnVisible(viewport: Viewport, place: Position, lineText: LineText, margin: number): boolean {
    if (viewport.isWrapped) {
        return true;
    }
    const { cursor, tabSize } = viewport;
    const width = COLUMNS / Math.max(viewport.editors, 1);
    const column = columnOf(lineText(place.line), place.character, tabSize);
    const cursorColumn = columnOf(lineText(cursor.line), cursor.character, tabSize);
    // Beyond the width the window is scrolled, just as far as the cursor needs it.
    const last = Math.max(width, cursorColumn + BEHIND_CURSOR);
    return last - width <= column && column + margin <= last;
}
