/** The offer for one version of one document: the suggestion, its alternatives, and which of them is shown. */

import { insertedAt } from "./display";
import { after, isEqual, isEqualRange } from "./positions";
import type { Position, Range, Suggestion, SuggestionNotice } from "./protocol";

export interface Offer {
    readonly uri: string;
    readonly version: number;
    readonly choices: readonly Suggestion[];
    readonly chosen: number;
}

/** A document as far as an offer needs to know it. */
export interface Snapshot {
    readonly uri: string;
    readonly version: number;
}

/** One replacement in the text, as the editor reports it. */
export interface Change {
    readonly range: Range;
    readonly text: string;
}

/** The offer that a notice makes; the choice of an earlier offer survives if it is still among the choices. */
export function offerFrom(notice: SuggestionNotice, earlier?: Offer): Offer | undefined {
    if (notice.suggestion === null) {
        return undefined;
    }
    const choices = distinct([notice.suggestion, ...notice.alternatives]);
    const kept =
        earlier?.uri === notice.uri && earlier.version === notice.version
            ? choices.findIndex((choice) => isSameEdit(choice, chosenOf(earlier)))
            : 0;
    return { uri: notice.uri, version: notice.version, choices, chosen: Math.max(kept, 0) };
}

/** An offer of these choices; the first is shown. */
export function offerOf(uri: string, version: number, choices: readonly Suggestion[]): Offer {
    return { uri, version, choices, chosen: 0 };
}

export function chosenOf(offer: Offer): Suggestion {
    return offer.choices[offer.chosen] as Suggestion;
}

/** The offer with the next (step 1) or previous (step -1) choice shown, round and round. */
export function cycle(offer: Offer, step: number): Offer {
    const count = offer.choices.length;
    return { ...offer, chosen: (((offer.chosen + step) % count) + count) % count };
}

/** True if the offer was made for exactly this text. It may be applied to no other text. */
export function isFor(offer: Offer, document: Snapshot): boolean {
    return offer.uri === document.uri && offer.version === document.version;
}

function isSameEdit(one: Suggestion, other: Suggestion): boolean {
    return one.newText === other.newText && isEqualRange(one.range, other.range);
}

/**
 * The rest of an offer after the user typed on: when the typed text is how the shown insertion begins, the rest of
 * it, for the new version. Undefined when the user typed something else, or all of it.
 */
export function typedAlong(offer: Offer, change: Change, version: number): Offer | undefined {
    const cursor = change.range.start;
    if (change.text === "" || !isEqual(cursor, change.range.end)) {
        return undefined;
    }
    const chosen = chosenOf(offer);
    const inserted = insertedAt(chosen, cursor);
    if (inserted === undefined || inserted === change.text || !inserted.startsWith(change.text)) {
        return undefined;
    }
    const position = after(cursor, change.text);
    return { ...offer, version, choices: [remainder(chosen, inserted, change.text, position)], chosen: 0 };
}

function remainder(suggestion: Suggestion, inserted: string, typed: string, position: Position): Suggestion {
    return {
        ...suggestion,
        range: { start: position, end: position },
        oldText: "",
        newText: inserted.slice(typed.length),
    };
}

function distinct(suggestions: readonly Suggestion[]): Suggestion[] {
    return suggestions.filter(
        (one, index) => suggestions.findIndex((other) => isSameEdit(one, other)) === index,
    );
}
