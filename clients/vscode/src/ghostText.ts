/** Ghost text: hands what the server pushed to VS Code when it asks, so that push and pull always agree. */

import * as vscode from "vscode";
import { displayOf, type Ghost } from "./display";
import { chosenOf, isFor, type Offer } from "./offer";

export class GhostText implements vscode.InlineCompletionItemProvider {
    /** What VS Code was last asked to show. */
    private shown: Ghost | undefined;

    constructor(private readonly currentOffer: () => Offer | undefined) {}

    provideInlineCompletionItems(
        document: vscode.TextDocument,
        position: vscode.Position,
        context: vscode.InlineCompletionContext,
    ): vscode.InlineCompletionItem[] {
        const offer = this.currentOffer();
        const isOurs = offer && isFor(offer, { uri: document.uri.toString(), version: document.version });
        if (!isOurs || context.selectedCompletionInfo !== undefined) {
            return [];
        }
        const suggestion = chosenOf(offer);
        const display = displayOf(suggestion, position);
        if (display.kind !== "ghost") {
            return [];
        }
        const item = new vscode.InlineCompletionItem(display.text, new vscode.Range(position, position));
        item.command = { title: "Accepted", command: "likewise.ghostAccepted", arguments: [suggestion.id] };
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

    forget(): void {
        this.shown = undefined;
    }
}
