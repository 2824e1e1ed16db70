/** The words beside a suggestion: the key that accepts it, where it leads, how many more there are. */

import type { Display } from "./display";
import type { LineText } from "./positions";
import type { Position } from "./protocol";
import { labelPlace, type Viewport } from "./view";

export interface Label {
    /** Undefined when the user would not see it anywhere. */
    readonly place: Position | undefined;
    readonly key: string;
    readonly notes: readonly string[];
}

export interface LabelFacts {
    readonly key: string;
    /** Places where the same change is left, this one included. */
    readonly placesLeft: number;
    /** Other changes to choose from. */
    readonly others: number;
}

/** Finds the position for the label of a display; undefined when the user would see it nowhere. */
export function placeFor(display: Display, viewport: Viewport, lineText: LineText): Position | undefined {
    if (display.kind === "ghost") {
        return display.position;
    }
    if (display.kind === "far") {
        return labelPlace(viewport, viewport.cursor.line, lineText);
    }
    const { end } = display.difference.removed;
    return labelPlace(viewport, end.line, lineText, end);
}

export function notesFor(display: Display, { key, placesLeft, others }: LabelFacts): string[] {
    return [
        ...(display.kind === "far" ? [display.hint] : []),
        ...(placesLeft > 1 ? [`${placesLeft} more: ${key}, or apply all: Alt+Shift+L`] : []),
        ...(others > 0 ? [`other changes: ${others}`] : []),
    ];
}
