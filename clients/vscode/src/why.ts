/** "Why this?": the changes of the user that a suggestion follows from, in a list whose entries lead there. */

import * as vscode from "vscode";
import { rangeOf } from "./decorations";
import { differenceOf, summaryOf } from "./display";
import { type Explanation, type Suggestion, serverCommands } from "./protocol";
import { wordsFor } from "./reasons";
import type { LanguageServer } from "./server";

interface ReasonItem extends vscode.QuickPickItem {
    readonly place: vscode.Location;
}

export async function explainWhy(server: LanguageServer, suggestion: Suggestion | undefined): Promise<void> {
    if (suggestion === undefined) {
        vscode.window.setStatusBarMessage("$(info) There is no suggestion to explain.", 4000);
        return;
    }
    const explanation = await server.execute<Explanation>(serverCommands.explain, suggestion.id);
    const reasons = explanation?.reasons ?? [];
    const items: ReasonItem[] = reasons.map((reason) => ({
        place: new vscode.Location(vscode.Uri.parse(reason.uri), rangeOf(reason.range)),
        label: `$(edit) ${withoutIcons(wordsFor(reason))}`,
        description: vscode.workspace.asRelativePath(vscode.Uri.parse(reason.uri)),
    }));
    const percent = Math.round(suggestion.confidence * 100);
    const picked = await vscode.window.showQuickPick<ReasonItem>(items, {
        title: `Likewise suggests ${summaryOf(differenceOf(suggestion))} (${percent} % sure), because you edited:`,
        placeHolder: items.length === 0 ? "No single earlier edit stands out" : "Enter shows the edit",
        onDidSelectItem: (item) => reveal(item as ReasonItem),
    });
    if (picked !== undefined) {
        await vscode.window.showTextDocument(picked.place.uri, { selection: picked.place.range });
    }
}

/** A "$(name)" of the user's text is not to be drawn as an icon: a word joiner, which is not seen, keeps it text. */
function withoutIcons(words: string): string {
    return words.replaceAll("$(", "$\u2060(");
}

function reveal({ place }: ReasonItem): void {
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.uri.toString() === place.uri.toString()) {
        editor.revealRange(place.range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }
}
