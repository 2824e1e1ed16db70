/** The status bar's words for each state of the language server. */

import type { State, Status } from "./protocol";

export interface StatusLine {
    readonly text: string;
    readonly tooltip: string;
    readonly command: string;
    readonly isWarning: boolean;
}

const ICONS: Record<State, string> = {
    starting: "$(loading~spin)",
    setup: "$(tools)",
    ready: "$(check-all)",
    thinking: "$(loading~spin)",
    quiet: "$(check-all)",
    snoozed: "$(bell-slash)",
    off: "$(circle-slash)",
    trouble: "$(warning)",
};

/** The text behind the name in the status bar; states in which Likewise simply works show the name alone. */
const LABELS: Record<State, string> = {
    starting: ": starting",
    setup: ": set up",
    ready: "",
    thinking: "",
    quiet: "",
    snoozed: ": snoozed",
    off: ": off here",
    trouble: ": trouble",
};

const SENTENCES: Record<State, string> = {
    starting: "Likewise is starting",
    setup: "Likewise needs to be set up",
    ready: "Likewise is ready",
    thinking: "Likewise is thinking",
    quiet: "Likewise is quiet",
    snoozed: "Likewise is snoozed",
    off: "Likewise is off here",
    trouble: "Likewise is in trouble",
};

/** A click helps; where it does nothing special it opens the menu. */
const CLICKS: Partial<Record<State, readonly [command: string, words: string]>> = {
    setup: ["likewise.setUpPython", "Click to set it up."],
    trouble: ["likewise.showLog", "Click for the log."],
};

/** Nothing is wrong, or the user asked for it. */
const SELF_EXPLAINING: ReadonlySet<State> = new Set(["thinking", "snoozed"]);

export function statusLine(status: Status): StatusLine {
    const { state } = status;
    const isWarning = state === "trouble";
    const [command, click] = CLICKS[state] ?? ["likewise.menu", "Click for what you can do."];
    return {
        text: `${ICONS[state]} Likewise${LABELS[state]}`,
        tooltip: `${sentence(status)}\n${click}`,
        command,
        isWarning,
    };
}

/** One line that says the state and why. A message that is a sentence about Likewise itself stands alone. */
function sentence({ state, reason, message }: Status): string {
    const why = message || reason;
    if (SELF_EXPLAINING.has(state) || why === "" || why === state) {
        return `${SENTENCES[state]}.`;
    }
    const said = /[.!?]$/.test(why) ? why : `${why}.`;
    return said.startsWith("Likewise ") ? said : `${SENTENCES[state]}: ${said}`;
}
