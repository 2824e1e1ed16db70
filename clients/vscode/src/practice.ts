/** "Try It on an Example": opens a file with a change that repeats, and says what to do. */

import * as vscode from "vscode";
import { type Example, exampleFor, instructionFor, placesIn } from "./examples";

export async function practise(extension: vscode.Uri, language: unknown): Promise<void> {
    const example = exampleFor(language ?? (await chooseLanguage()));
    const bytes = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(extension, example.file));
    const content = new TextDecoder().decode(bytes);
    const document = await vscode.workspace.openTextDocument({ language: example.language, content });
    const editor = await vscode.window.showTextDocument(document);
    const places = placesIn(document.getText(), example).map((offset) => document.positionAt(offset));
    const [first] = places;
    if (first !== undefined) {
        select(editor, first, example);
        const lines = places.map(({ line }) => line + 1);
        void vscode.window.showInformationMessage(instructionFor(example, lines));
    }
}

function select(editor: vscode.TextEditor, place: vscode.Position, { from }: Example): void {
    editor.selection = new vscode.Selection(place, place.translate(0, from.length));
    editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenter);
}

async function chooseLanguage(): Promise<string | undefined> {
    const picked = await vscode.window.showQuickPick(
        [
            { label: "Python", language: "python" },
            { label: "TypeScript", language: "typescript" },
            { label: "Go", language: "go" },
        ],
        { title: "Try Likewise in" },
    );
    return picked?.language;
}
