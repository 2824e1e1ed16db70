/** Today's offers, acceptances and saved keys. They are counted here and go nowhere. */

import { differenceOf } from "./display";
import type { Suggestion } from "./protocol";

export interface Tally {
    readonly day: string;
    readonly offered: number;
    readonly accepted: number;
    readonly keys: number;
}

/** The tally to go on with: yesterday's does not count today. `kept` may be anything that was stored. */
export function tallyOf(day: string, kept: unknown): Tally {
    const { day: keptDay, offered, accepted, keys } = (kept ?? {}) as Partial<Tally>;
    const numbers = [offered, accepted, keys];
    const isToday = keptDay === day && numbers.every((number) => typeof number === "number");
    return isToday ? (kept as Tally) : { day, offered: 0, accepted: 0, keys: 0 };
}

export function withOffer(tally: Tally): Tally {
    return { ...tally, offered: tally.offered + 1 };
}

/** With a suggestion that was accepted, and the keys that were pressed for it. */
export function withAcceptance(tally: Tally, suggestion: Suggestion, pressed: number): Tally {
    const keys = Math.max(0, keysFor(suggestion) - pressed);
    return { ...tally, accepted: tally.accepted + 1, keys: tally.keys + keys };
}

/** The keys that make a change by hand where the cursor stands: one for each character that goes or comes. */
export function keysFor(suggestion: Suggestion): number {
    const { removedText, addedText } = differenceOf(suggestion);
    return removedText.length + addedText.length;
}

export function tallyWords({ offered, accepted, keys }: Tally): string {
    return `Today: ${offered} offered, ${accepted} accepted, ${keys} keys saved`;
}

/** The day in the user's own time zone. */
export function dayOf(date: Date): string {
    return [date.getFullYear(), date.getMonth() + 1, date.getDate()].join("-");
}
