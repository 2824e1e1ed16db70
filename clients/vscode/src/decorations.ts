/** Draws a suggestion into an editor: the removed text struck through, the new text beside it, a hint, a key to press. */

import * as vscode from "vscode";
import { addedLabel, type Difference, type Display } from "./display";
import type { Range } from "./protocol";

const color = (name: string) => new vscode.ThemeColor(name);

/** Everything drawn for one display, in one editor. */
export class Decorations implements vscode.Disposable {
    private readonly removed = vscode.window.createTextEditorDecorationType({
        backgroundColor: color("diffEditor.removedTextBackground"),
        textDecoration: "line-through",
        rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
        overviewRulerColor: color("editorOverviewRuler.modifiedForeground"),
        overviewRulerLane: vscode.OverviewRulerLane.Center,
    });
    /** What is written into the line; its text differs each time, so it travels with the range. */
    private readonly written = vscode.window.createTextEditorDecorationType({
        rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    });
    private editor: vscode.TextEditor | undefined;

    /** `key` is what the user presses to accept it now. */
    show(editor: vscode.TextEditor, display: Display, key: string): void {
        this.clear();
        if (display.kind === "ghost") {
            return; // the editor itself draws ghost text
        }
        this.editor = editor;
        const isFar = display.kind === "far";
        const written = [placeDecoration(display.difference, isFar ? undefined : key)];
        if (isFar) {
            written.push(hintDecoration(editor, display.hint, key));
        }
        editor.setDecorations(this.removed, removedRanges([display.difference]));
        editor.setDecorations(this.written, written);
    }

    /** Several places at once, without a key: the preview of "apply everywhere". */
    preview(editor: vscode.TextEditor, differences: readonly Difference[]): void {
        this.clear();
        this.editor = editor;
        editor.setDecorations(this.removed, removedRanges(differences));
        editor.setDecorations(
            this.written,
            differences.map((difference) => placeDecoration(difference, undefined)),
        );
    }

    clear(): void {
        this.editor?.setDecorations(this.removed, []);
        this.editor?.setDecorations(this.written, []);
        this.editor = undefined;
    }

    dispose(): void {
        this.removed.dispose();
        this.written.dispose();
    }
}

export function rangeOf({ start, end }: Range): vscode.Range {
    return new vscode.Range(start.line, start.character, end.line, end.character);
}

function removedRanges(differences: readonly Difference[]): vscode.Range[] {
    return differences.map(({ removed }) => rangeOf(removed)).filter((range) => !range.isEmpty);
}

function placeDecoration(difference: Difference, key: string | undefined): vscode.DecorationOptions {
    const { end } = rangeOf(difference.removed);
    const added = difference.addedText === "" ? undefined : addedAttachment(difference);
    return {
        range: new vscode.Range(end, end),
        renderOptions: {
            ...(added && { before: added }),
            ...(key && { after: keyAttachment(key) }),
        },
    };
}

function addedAttachment({ addedText }: Difference): vscode.ThemableDecorationAttachmentRenderOptions {
    return {
        contentText: addedLabel(addedText),
        color: color("editor.foreground"),
        backgroundColor: color("diffEditor.insertedTextBackground"),
    };
}

function hintDecoration(editor: vscode.TextEditor, hint: string, key: string): vscode.DecorationOptions {
    const { range } = editor.document.lineAt(editor.selection.active.line);
    return {
        range: new vscode.Range(range.end, range.end),
        renderOptions: {
            before: {
                contentText: hint.replaceAll(" ", "\u00a0"),
                color: color("editorCodeLens.foreground"),
                fontStyle: "italic",
                margin: "0 0 0 3ch",
            },
            after: keyAttachment(key),
        },
    };
}

/** The name of a key, drawn like the keys in VS Code's own menus. */
function keyAttachment(key: string): vscode.ThemableDecorationAttachmentRenderOptions {
    return {
        contentText: `\u00a0${key}\u00a0`,
        color: color("keybindingLabel.foreground"),
        backgroundColor: color("keybindingLabel.background"),
        border: "1px solid",
        borderColor: color("keybindingLabel.bottomBorder"),
        margin: "0 0 0 1ch",
    };
}
