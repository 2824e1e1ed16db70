/** Arithmetic on positions: lines and UTF-16 columns, as VS Code and the protocol count them. */

import type { Position, Range } from "./protocol";

/** The text of a line without its line break; empty for a line that is not there. */
export type LineText = (line: number) => string;

/** The offset of each line in `text`. A lone carriage return breaks a line too, as it does in the protocol. */
function lineStarts(text: string): number[] {
    return [
        0,
        ...Array.from(text.matchAll(/\r\n|\r|\n/g), ({ index, 0: lineBreak }) => index + lineBreak.length),
    ];
}

/** The position after `text`, when it begins at `start`. */
export function after(start: Position, text: string): Position {
    const starts = lineStarts(text);
    const lines = starts.length - 1;
    const character = text.length - (starts.at(-1) as number);
    return { line: start.line + lines, character: lines === 0 ? start.character + character : character };
}

export function isEqual(one: Position, other: Position): boolean {
    return one.line === other.line && one.character === other.character;
}

export function isEqualRange(one: Range, other: Range): boolean {
    return isEqual(one.start, other.start) && isEqual(one.end, other.end);
}

/** The offset of `position` in `text`, which begins at `start`; undefined when it is outside. */
export function offsetIn(text: string, start: Position, position: Position): number | undefined {
    const starts = lineStarts(text);
    const line = position.line - start.line;
    const lineStart = starts[line];
    if (lineStart === undefined) {
        return undefined;
    }
    const offset = lineStart + position.character - (line === 0 ? start.character : 0);
    const limit = starts[line + 1] === undefined ? text.length : (starts[line + 1] as number) - 1;
    return offset >= lineStart && offset <= limit ? offset : undefined;
}
