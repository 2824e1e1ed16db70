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
    ready: "$(check-all)",
    thinking: "$(loading~spin)",
    quiet: "$(check-all)",
    snoozed: "$(bell-slash)",
    off: "$(circle-slash)",
    trouble: "$(warning)",
};

const MEANINGS: Record<State, string> = {
    starting: "starting",
    ready: "ready",
    thinking: "thinking",
    quiet: "quiet",
    snoozed: "snoozed",
    off: "off here",
    trouble: "trouble",
};

export function statusLine({ state, reason, message }: Status): StatusLine {
    const said = message || reason;
    const isWarning = state === "trouble";
    return {
        text:
            state === "ready" || state === "quiet" || state === "thinking"
                ? `${ICONS[state]} Likewise`
                : `${ICONS[state]} Likewise: ${MEANINGS[state]}`,
        tooltip: [
            said ? `Likewise is ${MEANINGS[state]}: ${said}` : `Likewise is ${MEANINGS[state]}`,
            isWarning ? "Click for the log." : "Click for what you can do.",
        ].join("\n"),
        command: isWarning ? "likewise.showLog" : "likewise.menu",
        isWarning,
    };
}
