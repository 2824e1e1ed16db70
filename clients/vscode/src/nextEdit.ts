/** The next edit in the active editor: what is on offer, how it is shown, and what the user does with it. */

import * as vscode from "vscode";
import { setContextKeys } from "./contextKeys";
import { Decorations, rangeOf } from "./decorations";
import { displayOf, landingOf } from "./display";
import { GhostText } from "./ghostText";
import { chosenOf, cycle, isFor, type Offer, offerFrom, typedAlong } from "./offer";
import { after, isEqual } from "./positions";
import {
    notifications,
    type Position,
    type Suggestion,
    type SuggestionNotice,
    serverCommands,
} from "./protocol";
import type { LanguageServer } from "./server";
import type { Settings } from "./settings";
import { isInIndentation } from "./tab";

/** A drawing outlives its text by this long: most often the next notice draws the same again, and nothing flickers. */
const LINGER_MILLISECONDS = 150;
/** After an accept the next edit is on its way for about this long; a Tab pressed meanwhile was meant for it. */
const AWAIT_MILLISECONDS = 400;

export class NextEdit implements vscode.Disposable {
    private offer: Offer | undefined;
    /** Where our own jump put the cursor, while it still stands there: the second Tab may then apply in any column. */
    private landed: Position | undefined;
    /** The document that an accepted suggestion just changed, while its next suggestion is not known. */
    private awaited: { readonly uri: string; readonly timer: NodeJS.Timeout } | undefined;
    private lingering: NodeJS.Timeout | undefined;
    private announced: string | undefined;
    private isHidden = false;

    private readonly decorations = new Decorations();
    private readonly ghostText = new GhostText((document, position) => this.lookUp(document, position));
    private readonly subscriptions: vscode.Disposable[];

    constructor(
        private readonly server: LanguageServer,
        private readonly settings: () => Settings,
    ) {
        this.subscriptions = [
            this.decorations,
            vscode.languages.registerInlineCompletionItemProvider({ pattern: "**" }, this.ghostText),
            server.onSuggestion((notice) => this.receive(notice)),
            server.onStart(() => this.focus(vscode.window.activeTextEditor)),
            server.onEnd(() => this.withdraw()),
            vscode.workspace.onDidChangeTextDocument((event) => this.documentChanged(event)),
            vscode.window.onDidChangeTextEditorSelection((event) => this.cursorMoved(event.textEditor)),
            vscode.window.onDidChangeActiveTextEditor((editor) => this.focus(editor)),
        ];
        this.refresh();
    }

    /** The suggestion that the user sees now. */
    current(): Suggestion | undefined {
        return this.offer && chosenOf(this.offer);
    }

    async accept(key?: unknown): Promise<void> {
        const editor = vscode.window.activeTextEditor;
        const found = editor && this.lookUp(editor.document, editor.selection.active);
        if (editor === undefined || found === undefined) {
            if (key === "tab" && this.awaited === undefined) {
                await vscode.commands.executeCommand("tab"); // the key came before the news that nothing is on offer
            }
            return;
        }
        if (key === "tab" && this.inIndentation(editor)) {
            await vscode.commands.executeCommand("tab");
            return;
        }
        const { suggestion, display } = found;
        if (display.kind === "ghost") {
            await vscode.commands.executeCommand("editor.action.inlineSuggest.commit");
        } else if (display.kind === "far" && !this.settings().jumpAndApply) {
            this.jump(editor, suggestion);
        } else {
            await this.apply(editor, suggestion);
        }
    }

    async acceptWord(): Promise<void> {
        const suggestion = this.current();
        if (suggestion !== undefined) {
            await vscode.commands.executeCommand("editor.action.inlineSuggest.acceptNextWord");
            await this.server.execute(serverCommands.acceptWord, suggestion.id);
        }
    }

    /** VS Code has inserted our ghost text. */
    async ghostAccepted(id: string): Promise<void> {
        const editor = vscode.window.activeTextEditor;
        this.ghostText.forget();
        if (editor !== undefined) {
            this.awaitNext(editor.document);
        }
        await this.server.execute(serverCommands.accept, id);
    }

    async dismiss(): Promise<void> {
        const suggestion = this.current();
        this.withdraw();
        if (suggestion !== undefined) {
            await this.server.execute(serverCommands.dismiss, suggestion.id);
        }
    }

    cycle(step: number): void {
        if (this.offer !== undefined) {
            this.offer = cycle(this.offer, step);
            this.landed = undefined;
            this.refresh();
        }
    }

    /** Nothing of ours is drawn while something else shows its own. */
    async whileHidden(work: () => Promise<void>): Promise<void> {
        this.isHidden = true;
        this.decorations.clear();
        try {
            await work();
        } finally {
            this.isHidden = false;
            this.refresh();
        }
    }

    dispose(): void {
        this.withdraw();
        clearTimeout(this.awaited?.timer);
        for (const subscription of this.subscriptions) {
            subscription.dispose();
        }
    }

    private receive(notice: SuggestionNotice): void {
        const editor = vscode.window.activeTextEditor;
        const uri = vscode.Uri.parse(notice.uri).toString();
        if (
            editor === undefined ||
            !isFor({ ...notice, uri, choices: [], chosen: 0 }, snapshotOf(editor.document))
        ) {
            return; // for another document, or for a text that is gone
        }
        const earlier = this.offer;
        this.endAwaiting();
        this.offer = offerFrom({ ...notice, uri }, earlier);
        if (this.offer === undefined) {
            this.withdraw();
        } else {
            this.refresh();
        }
    }

    private documentChanged({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
        const offer = this.offer;
        if (offer === undefined || offer.uri !== document.uri.toString() || contentChanges.length === 0) {
            return;
        }
        const only = contentChanges.length === 1 ? contentChanges[0] : undefined;
        this.offer = only && typedAlong(offer, only, document.version);
        this.landed = undefined;
        if (this.offer === undefined) {
            this.ghostText.forget(); // VS Code asks again at each change, and gets nothing
            this.linger();
            this.setKeys(undefined);
        } else {
            const { range, newText } = chosenOf(this.offer);
            this.ghostText.follow({ kind: "ghost", position: range.start, text: newText });
        }
    }

    private cursorMoved(editor: vscode.TextEditor): void {
        if (editor !== vscode.window.activeTextEditor) {
            return;
        }
        if (this.landed !== undefined && !isEqual(this.landed, editor.selection.active)) {
            this.landed = undefined;
        }
        this.server.send(notifications.cursor, {
            textDocument: { uri: editor.document.uri.toString(), version: editor.document.version },
            position: positionOf(editor.selection.active),
        });
        this.refresh();
    }

    private focus(editor: vscode.TextEditor | undefined): void {
        if (this.offer !== undefined && this.offer.uri !== editor?.document.uri.toString()) {
            this.withdraw();
        }
        if (editor !== undefined) {
            this.server.send(notifications.focus, { textDocument: { uri: editor.document.uri.toString() } });
            this.cursorMoved(editor);
        }
    }

    private jump(editor: vscode.TextEditor, suggestion: Suggestion): void {
        this.landed = landingOf(suggestion);
        moveCursor(editor, this.landed, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }

    private async apply(editor: vscode.TextEditor, suggestion: Suggestion): Promise<void> {
        const { document } = editor;
        this.awaitNext(document);
        // VS Code refuses the edit if its text has moved on since the version that we see here.
        const isApplied = await editor.edit((edit) =>
            edit.replace(rangeOf(suggestion.range), suggestion.newText),
        );
        if (!isApplied) {
            this.endAwaiting();
            this.refresh();
            return;
        }
        const end = after(suggestion.range.start, suggestion.newText);
        moveCursor(editor, end, vscode.TextEditorRevealType.Default);
        await this.server.execute(serverCommands.accept, suggestion.id);
    }

    /** What is on offer for exactly this text, as it is shown when the cursor stands there. */
    private lookUp(document: vscode.TextDocument, position: vscode.Position) {
        const offer = this.offer;
        if (offer === undefined || !isFor(offer, snapshotOf(document))) {
            return undefined;
        }
        const suggestion = chosenOf(offer);
        const hasJumped = this.landed !== undefined && isEqual(this.landed, position);
        return { offer, suggestion, display: displayOf(suggestion, position, hasJumped) };
    }

    /** Draws what is on offer from where the cursor stands now. */
    private refresh(): void {
        const editor = vscode.window.activeTextEditor;
        const found = editor && this.lookUp(editor.document, editor.selection.active);
        if (editor === undefined || found === undefined || this.isHidden) {
            this.setKeys(undefined);
            return;
        }
        clearTimeout(this.lingering);
        const { offer, suggestion, display } = found;
        this.decorations.show(editor, display, {
            accept: this.inIndentation(editor) ? "Alt+L" : "Tab",
            chosen: offer.chosen,
            count: offer.choices.length,
        });
        if (display.kind === "ghost") {
            this.ghostText.show(display);
        } else {
            this.ghostText.hide();
        }
        this.setKeys(display.kind);
        this.announce(suggestion);
    }

    private withdraw(): void {
        clearTimeout(this.lingering);
        this.offer = undefined;
        this.landed = undefined;
        this.decorations.clear();
        this.ghostText.hide();
        this.setKeys(undefined);
    }

    private linger(): void {
        clearTimeout(this.lingering);
        this.lingering = setTimeout(() => this.decorations.clear(), LINGER_MILLISECONDS);
    }

    private awaitNext(document: vscode.TextDocument): void {
        this.endAwaiting();
        const timer = setTimeout(() => {
            this.endAwaiting();
            this.refresh();
        }, AWAIT_MILLISECONDS);
        this.awaited = { uri: document.uri.toString(), timer };
    }

    private endAwaiting(): void {
        clearTimeout(this.awaited?.timer);
        this.awaited = undefined;
    }

    /** Tells the server once that a suggestion was seen. */
    private announce(suggestion: Suggestion): void {
        if (this.announced !== suggestion.id) {
            this.announced = suggestion.id;
            this.server.send(notifications.shown, { item: { command: { arguments: [suggestion.id] } } });
        }
    }

    private setKeys(kind: "ghost" | "near" | "far" | undefined): void {
        const editor = vscode.window.activeTextEditor;
        const isDrawn = kind === "near" || kind === "far";
        setContextKeys({
            shown: isDrawn || this.awaited !== undefined,
            offered: kind !== undefined,
            alternatives: kind !== undefined && (this.offer?.choices.length ?? 0) > 1,
            inIndentation: editor !== undefined && this.inIndentation(editor),
        });
    }

    private inIndentation(editor: vscode.TextEditor): boolean {
        const { active } = editor.selection;
        if (this.landed !== undefined && isEqual(this.landed, active)) {
            return false;
        }
        return isInIndentation(editor.document.lineAt(active.line).text, active.character);
    }
}

function snapshotOf(document: vscode.TextDocument): { uri: string; version: number } {
    return { uri: document.uri.toString(), version: document.version };
}

function positionOf({ line, character }: vscode.Position): Position {
    return { line, character };
}

function moveCursor(
    editor: vscode.TextEditor,
    { line, character }: Position,
    reveal: vscode.TextEditorRevealType,
): void {
    const position = new vscode.Position(line, character);
    editor.selection = new vscode.Selection(position, position);
    editor.revealRange(editor.selection, reveal);
}
