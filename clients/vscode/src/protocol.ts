/** The messages between the language server and this client beyond the standard protocol. No `vscode` here. */

export interface Position {
    readonly line: number;
    readonly character: number;
}

export interface Range {
    readonly start: Position;
    readonly end: Position;
}

/** A change that a suggestion follows from, and its places, the newest first: that is `range`, too. */
export interface Reason {
    readonly range: Range;
    readonly oldText: string;
    readonly newText: string;
    readonly places: readonly Range[];
}

/** A replacement of `range`, whose text is `oldText`, by `newText`. */
export interface Suggestion {
    readonly id: string;
    readonly range: Range;
    readonly newText: string;
    readonly oldText: string;
    readonly confidence: number;
    readonly because: readonly Reason[];
    /** Places where the same change is left, this one included. */
    readonly placesLeft: number;
}

/** `likewise/suggestion`: what the server would edit next in this version of the document, or why nothing. */
export interface SuggestionNotice {
    readonly uri: string;
    readonly version: number;
    readonly suggestion: Suggestion | null;
    readonly alternatives: readonly Suggestion[];
    readonly silence: string | null;
}

/** `setup` is this client's own: nothing can run yet. */
export type State = "starting" | "setup" | "ready" | "thinking" | "quiet" | "snoozed" | "off" | "trouble";

/** `likewise/status` */
export interface Status {
    readonly state: State;
    readonly reason: string;
    readonly message: string;
}

/** The answer to `likewise.lsp.explain`. */
export interface Explanation {
    readonly suggestion: Suggestion | null;
    readonly reasons: readonly (Reason & { readonly uri: string })[];
}

/** One of the places that `likewise.lsp.everywhere` found. */
export interface Place {
    readonly range: Range;
    readonly newText: string;
    readonly oldText: string;
    readonly confidence: number;
}

/** The answer to `likewise.lsp.everywhere`. */
export interface Places {
    readonly uri: string;
    readonly version: number;
    readonly edits: readonly Place[];
}

/** The answer to `likewise.lsp.candidate`: the likeliest next edit, whether or not it is sure enough. */
export interface UnsureCandidate {
    readonly version: number;
    readonly suggestion: Suggestion | null;
}

export const notifications = {
    suggestion: "likewise/suggestion",
    status: "likewise/status",
    cursor: "likewise/cursor",
    focus: "textDocument/didFocus",
    shown: "textDocument/didShowInlineEdit",
} as const;

export const serverCommands = {
    accept: "likewise.lsp.accept",
    acceptWord: "likewise.lsp.acceptWord",
    dismiss: "likewise.lsp.dismiss",
    forgetDismissed: "likewise.lsp.forgetDismissed",
    explain: "likewise.lsp.explain",
    everywhere: "likewise.lsp.everywhere",
    candidate: "likewise.lsp.candidate",
    snooze: "likewise.lsp.snooze",
} as const;
