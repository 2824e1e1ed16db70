/**
 * Cursor positions after our own moves. Tab in leading white space is the user's, always; and the Tab after a jump must
 * apply. Both hold because we never put the cursor into leading white space where another place is in view.
 */

import { differenceOf, NEAR_LINES } from "./display";
import type { LineText } from "./positions";
import type { Position, Suggestion } from "./protocol";
import { isInIndentation } from "./tab";

/** The position after a jump: behind the removed text, so that it is read first, or as near as possible. */
export function landingOf(suggestion: Suggestion, lineText: LineText): Position {
    const { start, end } = differenceOf(suggestion).removed;
    const linesAbove = Array.from({ length: NEAR_LINES }, (_, index) => start.line - 1 - index);
    return firstOutsideIndentation(
        [end, ...lineEnds([start.line, end.line, ...linesAbove], lineText)],
        lineText,
    );
}

/** The position after a suggestion that ends here was applied: the next Tab may be meant for the next one. */
export function restingPlace(end: Position, lineText: LineText): Position {
    return firstOutsideIndentation([end, ...lineEnds([end.line], lineText)], lineText);
}

function lineEnds(lines: readonly number[], lineText: LineText): Position[] {
    return lines.map((line) => ({ line, character: lineText(line).length }));
}

function firstOutsideIndentation(places: readonly Position[], lineText: LineText): Position {
    const isOutside = ({ line, character }: Position) => !isInIndentation(lineText(line), character);
    return places.find(isOutside) ?? (places[0] as Position);
}
