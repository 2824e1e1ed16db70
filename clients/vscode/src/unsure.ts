/** The likeliest next edit of the active file, which the user may want to see although it is not sure enough. */

import * as vscode from "vscode";
import { linesOf } from "./editors";
import { unsureWords } from "./menu";
import type { NextEdit } from "./nextEdit";
import { serverCommands, type UnsureCandidate } from "./protocol";
import type { LanguageServer } from "./server";

export class Unsure {
    private found:
        | { readonly document: vscode.TextDocument; readonly candidate: UnsureCandidate }
        | undefined;

    constructor(
        private readonly server: LanguageServer,
        private readonly nextEdit: NextEdit,
    ) {}

    /** It in words; undefined when something is shown, or there is none. */
    async look(): Promise<string | undefined> {
        this.found = undefined;
        const document = vscode.window.activeTextEditor?.document;
        if (document === undefined || this.nextEdit.current() !== undefined) {
            return undefined;
        }
        const uri = document.uri.toString();
        const candidate = await this.server.execute<UnsureCandidate>(serverCommands.candidate, uri);
        if (candidate === undefined || candidate.suggestion === null) {
            return undefined;
        }
        this.found = { document, candidate };
        return unsureWords(candidate.suggestion, linesOf(document));
    }

    show(): void {
        const { document, candidate } = this.found ?? {};
        if (document !== undefined && candidate !== undefined && candidate.suggestion !== null) {
            this.nextEdit.offerAnyway(document, candidate.version, candidate.suggestion);
        }
    }
}
