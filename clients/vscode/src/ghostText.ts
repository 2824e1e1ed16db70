/** Ghost text: hands what the server pushed to VS Code when it asks, so that push and pull always agree. */

import * as vscode from "vscode";
import type { Display, Ghost } from "./display";
import type { Suggestion } from "./protocol";

/** The offer for this text and its display at this position. */
export type Lookup = (
    document: vscode.TextDocument,
    position: vscode.Position,
) => { readonly suggestion: Suggestion; readonly display: Display } | undefined;

export class GhostText implements vscode.InlineCompletionItemProvider {
    /** The ghost text that VS Code was last asked to show. */
    private shown: Ghost | undefined;

    constructor(private readonly lookUp: Lookup) {}

    provideInlineCompletionItems(
        document: vscode.TextDocument,
        position: vscode.Position,
        context: vscode.InlineCompletionContext,
    ): vscode.InlineCompletionItem[] {
        const found = this.lookUp(document, position);
        if (found?.display.kind !== "ghost" || context.selectedCompletionInfo !== undefined) {
            return [];
        }
        const item = new vscode.InlineCompletionItem(
            found.display.text,
            new vscode.Range(position, position),
        );
        item.command = {
            title: "Accepted",
            command: "likewise.ghostAccepted",
            arguments: [found.suggestion],
        };
        return [item];
    }

    /** Makes VS Code ask again, but only when there is something new: asking makes the text flicker. */
    show(ghost: Ghost): void {
        const isNew = JSON.stringify(ghost) !== JSON.stringify(this.shown);
        this.shown = ghost;
        if (isNew) {
            void vscode.commands.executeCommand("editor.action.inlineSuggest.trigger");
        }
    }

    hide(): void {
        if (this.shown !== undefined) {
            this.shown = undefined;
            void vscode.commands.executeCommand("editor.action.inlineSuggest.hide");
        }
    }

    /** VS Code itself follows what is typed along the text, so it need not be asked. */
    follow(ghost: Ghost): void {
        this.shown = ghost;
    }

    /** True if this text is all of the ghost text: then it was accepted. */
    isAllOf(text: string | undefined): boolean {
        return text !== undefined && text === this.shown?.text;
    }

    forget(): void {
        this.shown = undefined;
    }
}
