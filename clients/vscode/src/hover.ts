/** The hover on a suggestion: for the mouse, and for those who want to see the change before they take it. */

import * as vscode from "vscode";
import { differenceOf } from "./display";
import { linesOf } from "./editors";
import { HOVER_COMMANDS, hoverText } from "./hoverText";
import type { Position, Suggestion } from "./protocol";

/** The suggestion that the user sees in this document, and where its label stands. */
export type Shown = (
    document: vscode.TextDocument,
) => { readonly suggestion: Suggestion; readonly label: Position | undefined } | undefined;

export class SuggestionHover implements vscode.HoverProvider {
    constructor(private readonly shown: Shown) {}

    provideHover(document: vscode.TextDocument, position: vscode.Position): vscode.Hover | undefined {
        const found = this.shown(document);
        if (found === undefined) {
            return undefined;
        }
        const { suggestion, label } = found;
        const range = document.validateRange(reach(suggestion));
        const isAtLabel = label?.line === position.line && position.character >= label.character;
        if (!range.contains(position) && !isAtLabel) {
            return undefined;
        }
        const text = new vscode.MarkdownString(hoverText(suggestion, linesOf(document)));
        text.isTrusted = { enabledCommands: Object.keys(HOVER_COMMANDS) };
        return new vscode.Hover(text, isAtLabel ? new vscode.Range(position, position) : range);
    }
}

/** The change, and a character on each side: an insertion has no width of its own. */
function reach(suggestion: Suggestion): vscode.Range {
    const { start, end } = differenceOf(suggestion).removed;
    return new vscode.Range(start.line, Math.max(start.character - 1, 0), end.line, end.character + 1);
}
