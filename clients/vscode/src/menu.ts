/** The entries of the menu behind the status bar: what the user can do now. */

import { differenceOf, summaryOf, withContext } from "./display";
import type { LineText } from "./positions";
import type { Status, Suggestion } from "./protocol";
import { type Tally, tallyWords } from "./tally";

export interface Entry {
    readonly label: string;
    readonly command: string;
    readonly parameters: readonly unknown[];
}

/** A suggestion that is not sure enough to be shown by itself, in words. */
export function unsureWords(suggestion: Suggestion, lineText: LineText): string {
    const difference = differenceOf(suggestion);
    const line = difference.removed.start.line + 1;
    const change = summaryOf(withContext(difference, lineText));
    return `Not sure enough: line ${line} ${change}, ${Math.round(suggestion.confidence * 100)} %. Show it.`;
}

export interface Situation {
    readonly status: Status;
    readonly language: string | undefined;
    readonly tally: Tally;
    /** The likeliest next edit in words, where nothing is shown. */
    readonly unsure: string | undefined;
}

export function menuEntries({ status, language, tally, unsure }: Situation): Entry[] {
    const entry = (label: string, command: string, ...parameters: unknown[]): Entry => ({
        label,
        command,
        parameters,
    });
    return [
        ...(unsure === undefined ? [] : [entry(`$(lightbulb) ${unsure}`, "likewise.showUnsure")]),
        status.state === "snoozed"
            ? entry("$(bell) Wake up", "likewise.wake")
            : entry("$(bell-slash) Snooze…", "likewise.snooze"),
        ...(language === undefined
            ? []
            : [entry(`$(code) Turn on or off for ${language}`, "likewise.toggleLanguage")]),
        entry("$(replace-all) Apply everywhere…", "likewise.everywhere"),
        entry("$(question) Why this?", "likewise.why"),
        entry(`$(graph) ${tallyWords(tally)}`, "likewise.menu"),
        entry("$(mortar-board) Learn from my repository…", "likewise.learn"),
        entry("$(history) Forget dismissed suggestions", "likewise.forgetDismissed"),
        entry("$(gear) Settings", "workbench.action.openSettings", "@ext:likewise.likewise"),
        entry("$(debug-restart) Restart the language server", "likewise.restart"),
        entry("$(output) Show the log", "likewise.showLog"),
        entry("$(book) Get started", "likewise.openWalkthrough"),
    ];
}
