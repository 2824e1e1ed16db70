/** An editor and its document in the plain words of the pure files. */

import * as vscode from "vscode";
import type { Snapshot } from "./offer";
import type { LineText } from "./positions";
import type { Position } from "./protocol";
import { isInIndentation } from "./tab";
import type { Viewport } from "./view";

export function linesOf(document: vscode.TextDocument): LineText {
    return (line) => (line >= 0 && line < document.lineCount ? document.lineAt(line).text : "");
}

export function snapshotOf(document: vscode.TextDocument): Snapshot {
    return { uri: document.uri.toString(), version: document.version };
}

export function positionOf({ line, character }: vscode.Position): Position {
    return { line, character };
}

export function viewportOf(editor: vscode.TextEditor): Viewport {
    const { visibleRanges, selection, options, document } = editor;
    const wrapping = vscode.workspace.getConfiguration("editor", document).get("wordWrap");
    return {
        lines: visibleRanges.map(({ start, end }) => ({ first: start.line, last: end.line })),
        cursor: positionOf(selection.active),
        editors: vscode.window.tabGroups.all.length,
        tabSize: typeof options.tabSize === "number" ? options.tabSize : 4,
        isWrapped: wrapping === "on" || wrapping === "bounded",
    };
}

export function isCursorInIndentation({ document, selection }: vscode.TextEditor): boolean {
    const { line, character } = document.validatePosition(selection.active); // a change is known before the cursor's move
    return isInIndentation(document.lineAt(line).text, character);
}

export function moveCursor(
    editor: vscode.TextEditor,
    { line, character }: Position,
    reveal: vscode.TextEditorRevealType,
): void {
    const position = new vscode.Position(line, character);
    editor.selection = new vscode.Selection(position, position);
    editor.revealRange(editor.selection, reveal);
}
