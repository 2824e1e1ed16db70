/** The next edit in the active editor: what is on offer, how it is shown, and what the user does with it. */

import * as vscode from "vscode";
import { setContextKeys } from "./contextKeys";
import { Decorations, rangeOf } from "./decorations";
import { type Display, displayOf } from "./display";
import { GhostText } from "./ghostText";
import { landingOf, restingPlace } from "./landing";
import { chosenOf, cycle, isFor, type Offer, offerFrom, typedAlong } from "./offer";
import { after, isEqual, type LineText } from "./positions";
import {
    notifications,
    type Position,
    type Suggestion,
    type SuggestionNotice,
    serverCommands,
} from "./protocol";
import { isServed, type LanguageServer } from "./server";
import type { Settings } from "./settings";
import { SuggestWidget } from "./suggestWidget";
import { acceptKey, isInIndentation } from "./tab";
import { isWordComplete } from "./word";

/** A drawing outlives its text by this long: most often the next notice draws the same again, and nothing flickers. */
const LINGER_MILLISECONDS = 150;
/** After an accept the next edit is on its way for about this long; a Tab pressed meanwhile was meant for it. */
const AWAIT_MILLISECONDS = 400;

export class NextEdit implements vscode.Disposable {
    /** By document: what is offered in one stays there while the user looks at another. */
    private readonly offers = new Map<string, Offer>();
    /** Where our own jump put the cursor, while it still stands there: what it led to is then drawn, not ghost text. */
    private landed: Position | undefined;
    /** Runs while a suggestion was just accepted and the next one is not known. */
    private awaiting: NodeJS.Timeout | undefined;
    private lingering: NodeJS.Timeout | undefined;
    private announced: string | undefined;
    /** The document and version for which the list of completions was closed. */
    private closedFor: string | undefined;
    private isHidden = false;

    private readonly decorations = new Decorations();
    private readonly ghostText = new GhostText((document, position) => this.lookUp(document, position));
    private readonly suggestWidget = new SuggestWidget(() => this.refresh());
    private readonly subscriptions: vscode.Disposable[];

    constructor(
        private readonly server: LanguageServer,
        private readonly settings: () => Settings,
    ) {
        this.subscriptions = [
            this.decorations,
            this.suggestWidget,
            vscode.languages.registerInlineCompletionItemProvider({ pattern: "**" }, this.ghostText),
            server.onSuggestion((notice) => this.receive(notice)),
            server.onStart(() => this.focus(vscode.window.activeTextEditor)),
            server.onEnd(() => this.forgetAll()),
            vscode.workspace.onDidChangeTextDocument((event) => this.documentChanged(event)),
            vscode.window.onDidChangeTextEditorSelection((event) => this.cursorMoved(event.textEditor)),
            vscode.window.onDidChangeActiveTextEditor((editor) => this.focus(editor)),
            vscode.workspace.onDidCloseTextDocument((document) =>
                this.offers.delete(document.uri.toString()),
            ),
        ];
        this.refresh();
    }

    /** The suggestion that the user sees now. */
    current(): Suggestion | undefined {
        return this.found()?.suggestion;
    }

    async accept(key?: unknown): Promise<void> {
        const found = this.found();
        if (found === undefined) {
            if (key === "tab" && this.awaiting === undefined) {
                await vscode.commands.executeCommand("tab"); // the key came before the news that nothing is on offer
            }
            return;
        }
        const { editor, suggestion, display } = found;
        if (key === "tab" && isCursorInIndentation(editor)) {
            await vscode.commands.executeCommand("tab");
            return;
        }
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
        this.ghostText.forget();
        if (this.found() === undefined) {
            this.awaitNext();
        }
        await this.server.execute(serverCommands.accept, id);
    }

    async dismiss(): Promise<void> {
        const found = this.found();
        if (found !== undefined) {
            this.offers.delete(found.offer.uri);
            this.hide();
            await this.server.execute(serverCommands.dismiss, found.suggestion.id);
        }
    }

    cycle(step: number): void {
        const offer = this.found()?.offer;
        if (offer !== undefined) {
            this.offers.set(offer.uri, cycle(offer, step));
            this.landed = undefined;
            this.refresh();
        }
    }

    /** Nothing of ours is drawn while something else shows its own. */
    async whileHidden(work: () => Promise<void>): Promise<void> {
        this.isHidden = true;
        this.hide();
        try {
            await work();
        } finally {
            this.isHidden = false;
            this.refresh();
        }
    }

    dispose(): void {
        this.forgetAll();
        for (const subscription of this.subscriptions) {
            subscription.dispose();
        }
    }

    private receive(notice: SuggestionNotice): void {
        const uri = vscode.Uri.parse(notice.uri).toString(); // the server may spell it in another way than VS Code
        const offer = offerFrom({ ...notice, uri }, this.offers.get(uri));
        const document = vscode.window.activeTextEditor?.document;
        const isLate = document?.uri.toString() === uri && document.version !== notice.version;
        if (isLate) {
            return; // for a text that is gone
        }
        if (offer === undefined) {
            this.offers.delete(uri);
        } else {
            this.offers.set(uri, offer);
        }
        if (document?.uri.toString() === uri) {
            this.endAwaiting();
            if (offer === undefined) {
                this.endLingering();
            }
            this.refresh();
        }
    }

    private documentChanged({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
        const uri = document.uri.toString();
        const offer = this.offers.get(uri);
        if (contentChanges.length === 0) {
            return;
        }
        if (document !== vscode.window.activeTextEditor?.document) {
            this.offers.delete(uri);
            return;
        }
        if (offer === undefined) {
            this.endAwaiting(); // the user goes on without waiting
            return;
        }
        const only = contentChanges.length === 1 ? contentChanges[0] : undefined;
        const rest = only && typedAlong(offer, only, document.version);
        this.landed = undefined;
        if (rest !== undefined) {
            this.offers.set(uri, rest);
            const { range, newText } = chosenOf(rest);
            this.ghostText.follow({ kind: "ghost", position: range.start, text: newText });
            return;
        }
        this.offers.delete(uri);
        this.ghostText.forget(); // VS Code asks again at each change, and gets nothing
        this.linger();
        this.setKeys(undefined);
    }

    private cursorMoved(editor: vscode.TextEditor): void {
        if (editor !== vscode.window.activeTextEditor || !isServed(editor.document)) {
            return;
        }
        if (this.landed !== undefined && !isEqual(this.landed, editor.selection.active)) {
            this.landed = undefined;
        }
        this.suggestWidget.noteMove(editor.document);
        this.server.send(notifications.cursor, {
            textDocument: { uri: editor.document.uri.toString(), version: editor.document.version },
            position: positionOf(editor.selection.active),
        });
        this.refresh();
    }

    private focus(editor: vscode.TextEditor | undefined): void {
        this.landed = undefined;
        this.endAwaiting();
        this.hide();
        if (editor !== undefined && isServed(editor.document)) {
            this.server.send(notifications.focus, { textDocument: { uri: editor.document.uri.toString() } });
            this.cursorMoved(editor);
        }
    }

    private jump(editor: vscode.TextEditor, suggestion: Suggestion): void {
        this.landed = landingOf(suggestion, linesOf(editor.document));
        moveCursor(editor, this.landed, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }

    private async apply(editor: vscode.TextEditor, suggestion: Suggestion): Promise<void> {
        this.awaitNext();
        // VS Code refuses the edit if its text has moved on since the version that we see here.
        const isApplied = await editor.edit((edit) =>
            edit.replace(rangeOf(suggestion.range), suggestion.newText),
        );
        if (!isApplied) {
            this.endAwaiting();
            return;
        }
        const end = after(suggestion.range.start, suggestion.newText);
        const place = restingPlace(end, linesOf(editor.document));
        moveCursor(editor, place, vscode.TextEditorRevealType.Default);
        await this.server.execute(serverCommands.accept, suggestion.id);
    }

    /** What is on offer for exactly this text, as it is shown when the cursor stands there. */
    private lookUp(document: vscode.TextDocument, position: vscode.Position) {
        const offer = this.offers.get(document.uri.toString());
        if (offer === undefined || !isFor(offer, snapshotOf(document))) {
            return undefined;
        }
        const suggestion = chosenOf(offer);
        const hasJumped = this.landed !== undefined && isEqual(this.landed, position);
        return { offer, suggestion, display: displayOf(suggestion, position, linesOf(document), hasJumped) };
    }

    private found() {
        const editor = vscode.window.activeTextEditor;
        const found = editor && this.lookUp(editor.document, editor.selection.active);
        return found && { editor, ...found };
    }

    /** Draws what is on offer from where the cursor stands now. */
    private refresh(): void {
        const found = this.isHidden ? undefined : this.found();
        if (found === undefined) {
            this.ghostText.hide();
            this.setKeys(undefined);
            if (this.lingering === undefined) {
                this.decorations.clear();
            }
            return;
        }
        this.endLingering();
        const { editor, offer, suggestion, display } = found;
        if (display.kind !== "ghost") {
            this.closeSuggestWidget(editor, offer);
        }
        this.decorations.show(editor, display, {
            accept: acceptKey({
                "likewise.inIndentation": isCursorInIndentation(editor),
                editorHasSelection: !editor.selection.isEmpty,
                editorHasMultipleSelections: editor.selections.length > 1,
                suggestWidgetVisible: this.suggestWidget.mayBeOpen(editor.document),
            }),
            chosen: offer.chosen,
            count: offer.choices.length,
        });
        if (display.kind === "ghost") {
            this.ghostText.show(display);
        } else {
            this.ghostText.hide();
        }
        this.setKeys(found);
        this.announce(suggestion);
    }

    private hide(): void {
        this.endLingering();
        this.decorations.clear();
        this.ghostText.hide();
        this.setKeys(undefined);
    }

    private forgetAll(): void {
        this.offers.clear();
        this.landed = undefined;
        this.endAwaiting();
        this.hide();
    }

    private linger(): void {
        this.endLingering();
        this.lingering = setTimeout(() => {
            this.endLingering();
            this.refresh();
        }, LINGER_MILLISECONDS);
    }

    private endLingering(): void {
        clearTimeout(this.lingering);
        this.lingering = undefined;
    }

    private awaitNext(): void {
        clearTimeout(this.awaiting);
        this.awaiting = setTimeout(() => this.endAwaiting(), AWAIT_MILLISECONDS);
        this.setKeys(this.found());
    }

    private endAwaiting(): void {
        clearTimeout(this.awaiting);
        this.awaiting = undefined;
        this.setKeys(this.found());
    }

    /**
     * Closes the list of completions once for each text, if the typed word needs none: it covers the offer and takes
     * Tab. One that the user opens after that stays.
     */
    private closeSuggestWidget({ document, selection }: vscode.TextEditor, offer: Offer): void {
        const text = `${offer.uri} ${offer.version}`;
        if (this.closedFor === text) {
            return;
        }
        this.closedFor = text;
        const all = document.getText();
        const cursor = document.offsetAt(selection.active);
        if (isWordComplete(all.slice(0, cursor), all.slice(cursor))) {
            this.suggestWidget.close(() => this.closedFor === text && this.found() !== undefined);
        }
    }

    /** Tells the server once that a suggestion was seen. */
    private announce(suggestion: Suggestion): void {
        if (this.announced !== suggestion.id) {
            this.announced = suggestion.id;
            this.server.send(notifications.shown, { item: { command: { arguments: [suggestion.id] } } });
        }
    }

    private setKeys(found: { readonly offer: Offer; readonly display: Display } | undefined): void {
        const editor = vscode.window.activeTextEditor;
        const isDrawn = found !== undefined && found.display.kind !== "ghost";
        setContextKeys({
            shown: isDrawn || this.awaiting !== undefined,
            offered: found !== undefined,
            alternatives: found !== undefined && found.offer.choices.length > 1,
            inIndentation: editor !== undefined && isCursorInIndentation(editor),
        });
    }
}

function isCursorInIndentation({ document, selection }: vscode.TextEditor): boolean {
    const { line, character } = document.validatePosition(selection.active); // a change is known before the cursor's move
    return isInIndentation(document.lineAt(line).text, character);
}

function linesOf(document: vscode.TextDocument): LineText {
    return (line) => (line >= 0 && line < document.lineCount ? document.lineAt(line).text : "");
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
