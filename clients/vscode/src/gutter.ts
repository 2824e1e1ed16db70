/** Marks that stay on screen: an arrow in the gutter of the cursor line, a sign at the change and in the ruler. */

import * as vscode from "vscode";
import type { Display } from "./display";

export class Gutter implements vscode.Disposable {
    private readonly here: vscode.TextEditorDecorationType;
    private readonly up: vscode.TextEditorDecorationType;
    private readonly down: vscode.TextEditorDecorationType;
    private editor: vscode.TextEditor | undefined;

    constructor(media: vscode.Uri) {
        const type = (name: string, isRuled: boolean) =>
            vscode.window.createTextEditorDecorationType({
                gutterIconPath: vscode.Uri.joinPath(media, `gutter-${name}.svg`),
                gutterIconSize: "contain",
                ...(isRuled && {
                    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.modifiedForeground"),
                    overviewRulerLane: vscode.OverviewRulerLane.Full,
                }),
            });
        this.here = type("here", true);
        this.up = type("up", false);
        this.down = type("down", false);
    }

    show(editor: vscode.TextEditor, display: Display): void {
        if (this.editor !== editor || display.kind === "ghost") {
            this.clear();
        }
        if (display.kind === "ghost") {
            return;
        }
        this.editor = editor;
        const { start } = display.difference.removed;
        const cursor = editor.selection.active.line;
        const isFar = display.kind === "far" && start.line !== cursor;
        editor.setDecorations(this.here, [lineRange(start.line)]);
        editor.setDecorations(this.up, isFar && start.line < cursor ? [lineRange(cursor)] : []);
        editor.setDecorations(this.down, isFar && start.line > cursor ? [lineRange(cursor)] : []);
    }

    clear(): void {
        for (const type of [this.here, this.up, this.down]) {
            this.editor?.setDecorations(type, []);
        }
        this.editor = undefined;
    }

    dispose(): void {
        for (const type of [this.here, this.up, this.down]) {
            type.dispose();
        }
    }
}

function lineRange(line: number): vscode.Range {
    return new vscode.Range(line, 0, line, 0);
}
