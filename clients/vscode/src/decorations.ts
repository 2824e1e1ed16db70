/** Draws a suggestion into an editor: the removed text struck through, the new text beside it, a key, a few words. */

import * as vscode from "vscode";
import { addedLabel, type Difference, type Display } from "./display";
import type { Label } from "./label";
import type { Range } from "./protocol";

const color = (name: string) => new vscode.ThemeColor(name);

/** Everything drawn for one display, in one editor. */
export class Decorations implements vscode.Disposable {
    private readonly removed = vscode.window.createTextEditorDecorationType({
        color: color("gitDecoration.deletedResourceForeground"),
        textDecoration: "line-through",
        rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
        overviewRulerColor: color("editorOverviewRuler.modifiedForeground"),
        overviewRulerLane: vscode.OverviewRulerLane.Center,
    });
    /**
     * The texts of the change, the key and the notes, as written into the lines. Texts at one place stand in the order of
     * their types' keys, so these are sorted.
     */
    private readonly written = Array.from({ length: 3 }, () =>
        vscode.window.createTextEditorDecorationType({
            rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
        }),
    ).sort((one, other) => (one.key < other.key ? -1 : 1));
    private editor: vscode.TextEditor | undefined;

    show(editor: vscode.TextEditor, display: Display, { place, key, notes }: Label): void {
        if (display.kind === "ghost") {
            this.clear(); // the editor itself draws ghost text
            return;
        }
        const usual =
            display.kind === "far" ? editor.selection.active.line : display.difference.removed.end.line;
        const { line, character } = place ?? editor.document.lineAt(usual).range.end;
        const position = new vscode.Position(line, character);
        const note = notes.length > 0 ? [at(position, noteAttachment(notes.join("  ·  ")))] : [];
        this.draw(editor, display.words, [at(position, keyAttachment(key))], note);
    }

    /** Several places at once, without a key: the preview of "apply everywhere". */
    preview(editor: vscode.TextEditor, differences: readonly Difference[]): void {
        this.draw(editor, differences);
    }

    /** A few words at the end of the cursor line, and nothing else. */
    say(editor: vscode.TextEditor, words: string): void {
        const { end } = editor.document.lineAt(editor.selection.active.line).range;
        this.draw(editor, [], [], [at(end, noteAttachment(words))]);
    }

    clear(): void {
        for (const type of [this.removed, ...this.written]) {
            this.editor?.setDecorations(type, []);
        }
        this.editor = undefined;
    }

    dispose(): void {
        for (const type of [this.removed, ...this.written]) {
            type.dispose();
        }
    }

    private draw(
        editor: vscode.TextEditor,
        differences: readonly Difference[],
        keys: readonly vscode.DecorationOptions[] = [],
        notes: readonly vscode.DecorationOptions[] = [],
    ): void {
        if (this.editor !== editor) {
            this.clear();
        }
        this.editor = editor;
        const removed = differences.map((difference) => rangeOf(difference.removed));
        const added = differences
            .filter(({ addedText }) => addedText !== "")
            .map((difference) => addedDecoration(editor.document, difference));
        editor.setDecorations(
            this.removed,
            removed.filter((range) => !range.isEmpty),
        );
        for (const [index, options] of [added, keys, notes].entries()) {
            editor.setDecorations(this.written[index] as vscode.TextEditorDecorationType, options);
        }
    }
}

export function rangeOf({ start, end }: Range): vscode.Range {
    return new vscode.Range(start.line, start.character, end.line, end.character);
}

type Attachment = vscode.ThemableDecorationAttachmentRenderOptions;

function at(position: vscode.Position, after: Attachment): vscode.DecorationOptions {
    return { range: new vscode.Range(position, position), renderOptions: { after } };
}

/**
 * VS Code frames a matching bracket together with a `before` text behind it and with an `after` text in front of it:
 * so it is `before` inside of a line and `after` at its end, where nothing follows.
 */
function addedDecoration(document: vscode.TextDocument, difference: Difference): vscode.DecorationOptions {
    const { end } = rangeOf(difference.removed);
    const attachment = {
        contentText: addedLabel(difference.addedText),
        color: color("editor.foreground"),
        backgroundColor: color("diffEditor.insertedTextBackground"),
        // Only high contrast themes have this color, and no background for inserted text.
        border: "1px solid",
        borderColor: color("diffEditor.insertedTextBorder"),
        margin: difference.removedText === "" ? "0" : "0 0 0 0.5ch",
    };
    if (end.isEqual(document.lineAt(end.line).range.end)) {
        return at(end, attachment);
    }
    return { range: new vscode.Range(end, end), renderOptions: { before: attachment } };
}

function noteAttachment(note: string): Attachment {
    return {
        contentText: note.replaceAll(" ", "\u00a0"),
        color: color("editorCodeLens.foreground"),
        fontStyle: "italic",
        margin: "0 0 0 2ch",
    };
}

/** The name of a key, drawn like the keys in VS Code's own menus. */
function keyAttachment(key: string): Attachment {
    return {
        contentText: `\u00a0${key}\u00a0`,
        color: color("keybindingLabel.foreground"),
        backgroundColor: color("keybindingLabel.background"),
        border: "1px solid",
        borderColor: color("keybindingLabel.bottomBorder"),
        margin: "0 0 0 2ch",
    };
}
