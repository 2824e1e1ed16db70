/** Draws a suggestion into an editor: the removed text struck through, the new text beside it, a hint, a key to press. */

import * as vscode from "vscode";
import { addedLabel, type Difference, type Display } from "./display";
import type { Range } from "./protocol";

const color = (name: string) => new vscode.ThemeColor(name);

/** What the user presses to accept what is shown, and which of how many choices it is. */
export interface Keys {
    readonly accept: string;
    readonly chosen: number;
    readonly count: number;
}

/** Everything drawn for one display, in one editor. */
export class Decorations implements vscode.Disposable {
    // No background: VS Code would draw it under the new text too, which stands at the end of this range.
    private readonly removed = vscode.window.createTextEditorDecorationType({
        color: color("gitDecoration.deletedResourceForeground"),
        textDecoration: "line-through",
        rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
        overviewRulerColor: color("editorOverviewRuler.modifiedForeground"),
        overviewRulerLane: vscode.OverviewRulerLane.Center,
    });
    /** What is written into the lines; its text differs each time, so it travels with the range. */
    private readonly written = vscode.window.createTextEditorDecorationType({
        rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    });
    private editor: vscode.TextEditor | undefined;

    show(editor: vscode.TextEditor, display: Display, keys: Keys): void {
        if (display.kind === "ghost") {
            this.clear(); // the editor itself draws ghost text
            return;
        }
        const { difference } = display;
        if (display.kind === "far") {
            const hint = keys.count > 1 ? `${display.hint} (${choiceOf(keys)})` : display.hint;
            const attachments = { before: hintAttachment(hint), after: keyAttachment(keys.accept, "1ch") };
            this.draw(editor, [difference], [atEndOfLine(editor, editor.selection.active.line, attachments)]);
            return;
        }
        const end = editor.document.lineAt(difference.removed.end.line).range.end;
        const key = keyAttachment(keys.accept, "2ch");
        const choice = keys.count > 1 ? { after: choiceAttachment(choiceOf(keys)) } : {};
        // Two decorations at one place have no order among them: there the key must be part of the added text's own.
        if (end.isEqual(rangeOf(difference.removed).end) && difference.addedText !== "") {
            this.draw(editor, [difference], [], { after: key });
        } else {
            this.draw(
                editor,
                [difference],
                [{ range: new vscode.Range(end, end), renderOptions: { before: key, ...choice } }],
            );
        }
    }

    /** Several places at once, without a key: the preview of "apply everywhere". */
    preview(editor: vscode.TextEditor, differences: readonly Difference[]): void {
        this.draw(editor, differences, []);
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

    private draw(
        editor: vscode.TextEditor,
        differences: readonly Difference[],
        beside: readonly vscode.DecorationOptions[],
        behind: vscode.ThemableDecorationInstanceRenderOptions = {},
    ): void {
        if (this.editor !== editor) {
            this.clear();
        }
        this.editor = editor;
        const removed = differences
            .map((difference) => rangeOf(difference.removed))
            .filter((range) => !range.isEmpty);
        const added = differences
            .filter(({ addedText }) => addedText !== "")
            .map((difference) => addedDecoration(difference, behind));
        editor.setDecorations(this.removed, removed);
        editor.setDecorations(this.written, [...added, ...beside]);
    }
}

export function rangeOf({ start, end }: Range): vscode.Range {
    return new vscode.Range(start.line, start.character, end.line, end.character);
}

/** The added text at its place, and what follows it there. */
function addedDecoration(
    { removed, addedText }: Difference,
    behind: vscode.ThemableDecorationInstanceRenderOptions,
): vscode.DecorationOptions {
    const { end, isEmpty } = rangeOf(removed);
    return {
        range: new vscode.Range(end, end),
        renderOptions: {
            before: {
                contentText: addedLabel(addedText),
                color: color("editor.foreground"),
                backgroundColor: color("diffEditor.insertedTextBackground"),
                ...(!isEmpty && { margin: "0 0 0 0.5ch" }),
            },
            ...behind,
        },
    };
}

function atEndOfLine(
    editor: vscode.TextEditor,
    line: number,
    renderOptions: vscode.ThemableDecorationInstanceRenderOptions,
): vscode.DecorationOptions {
    const { end } = editor.document.lineAt(line).range;
    return { range: new vscode.Range(end, end), renderOptions };
}

function hintAttachment(hint: string): vscode.ThemableDecorationAttachmentRenderOptions {
    return {
        contentText: hint.replaceAll(" ", "\u00a0"),
        color: color("editorCodeLens.foreground"),
        fontStyle: "italic",
        margin: "0 0 0 3ch",
    };
}

/** The name of a key, drawn like the keys in VS Code's own menus. */
function keyAttachment(key: string, space: string): vscode.ThemableDecorationAttachmentRenderOptions {
    return {
        contentText: `\u00a0${key}\u00a0`,
        color: color("keybindingLabel.foreground"),
        backgroundColor: color("keybindingLabel.background"),
        border: "1px solid",
        borderColor: color("keybindingLabel.bottomBorder"),
        margin: `0 0 0 ${space}`,
    };
}

function choiceAttachment(choice: string): vscode.ThemableDecorationAttachmentRenderOptions {
    return { contentText: choice, color: color("editorCodeLens.foreground"), margin: "0 0 0 1ch" };
}

function choiceOf({ chosen, count }: Keys): string {
    return `${chosen + 1}/${count}`;
}
