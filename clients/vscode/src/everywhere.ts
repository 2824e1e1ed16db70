/** "Apply everywhere": all places of a change, previewed in the text, chosen in a list, applied in one undo step. */

import * as vscode from "vscode";
import { Decorations, rangeOf } from "./decorations";
import { differenceOf, oneLine, summaryOf, withContext } from "./display";
import { type Place, type Places, serverCommands } from "./protocol";
import type { LanguageServer } from "./server";

const LIMIT_LINE = 80;

interface PlaceItem extends vscode.QuickPickItem {
    readonly place: Place;
}

export async function applyEverywhere(server: LanguageServer): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined) {
        return;
    }
    const { document } = editor;
    const version = document.version;
    const found = await server.execute<Places>(serverCommands.everywhere, document.uri.toString(), version);
    if (found === undefined || found.edits.length === 0 || found.version !== document.version) {
        vscode.window.setStatusBarMessage("$(info) Likewise sees no further place to change.", 4000);
        return;
    }
    const chosen = await choosePlaces(editor, found.edits);
    if (chosen.length === 0) {
        return;
    }
    if (document.version !== version) {
        vscode.window.setStatusBarMessage("$(info) The text has changed; nothing was applied.", 4000);
        return;
    }
    await editor.edit((edit) => {
        for (const { range, newText } of chosen) {
            edit.replace(rangeOf(range), newText);
        }
    });
}

async function choosePlaces(editor: vscode.TextEditor, places: readonly Place[]): Promise<readonly Place[]> {
    const preview = new Decorations();
    const before = editor.visibleRanges[0];
    const items = places.map((place) => itemFor(editor.document, place));
    const list = vscode.window.createQuickPick<PlaceItem>();
    list.title = `Likewise: apply in ${places.length} ${places.length === 1 ? "place" : "places"}`;
    list.placeholder = "Enter applies the ticked places in one undo step";
    list.canSelectMany = true;
    list.matchOnDescription = true;
    list.items = items;
    list.selectedItems = items;
    const draw = (chosen: readonly PlaceItem[]) =>
        preview.preview(
            editor,
            chosen.map(({ place }) => differenceOf(place)),
        );
    draw(items);
    list.onDidChangeSelection(draw);
    list.onDidChangeActive(([active]) => {
        if (active !== undefined) {
            editor.revealRange(
                rangeOf(active.place.range),
                vscode.TextEditorRevealType.InCenterIfOutsideViewport,
            );
        }
    });
    const chosen = await new Promise<readonly PlaceItem[]>((resolve) => {
        list.onDidAccept(() => resolve(list.selectedItems));
        list.onDidHide(() => resolve([]));
        list.show();
    });
    list.dispose();
    preview.clear();
    preview.dispose();
    if (chosen.length === 0 && before !== undefined) {
        editor.revealRange(before, vscode.TextEditorRevealType.AtTop);
    }
    return chosen.map(({ place }) => place);
}

function itemFor(document: vscode.TextDocument, place: Place): PlaceItem {
    const difference = differenceOf(place);
    const line = difference.removed.start.line;
    return {
        place,
        label: `line ${line + 1}: ${summaryOf(withContext(difference, (each) => document.lineAt(each).text))}`,
        description: `${Math.round(place.confidence * 100)} %`,
        detail: oneLine(document.lineAt(line).text, LIMIT_LINE),
    };
}
