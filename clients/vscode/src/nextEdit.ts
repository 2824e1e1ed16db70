/** The next edit in the active editor: what is on offer, how it is shown, and what the user does with it. */

import * as vscode from "vscode";
import { Chain } from "./chain";
import { setContextKeys } from "./contextKeys";
import { Decorations, rangeOf } from "./decorations";
import { type Display, displayOf } from "./display";
import { isCursorInIndentation, linesOf, moveCursor, positionOf, snapshotOf, viewportOf } from "./editors";
import { GhostText } from "./ghostText";
import { Gutter } from "./gutter";
import { SuggestionHover } from "./hover";
import { notesFor, placeFor } from "./label";
import { landingOf, restingPlace } from "./landing";
import { nextWordOf } from "./nextWord";
import { chosenOf, cycle, isFor, type Offer, offerFrom, offerOf, typedAlong } from "./offer";
import { after, isEqual } from "./positions";
import {
    notifications,
    type Position,
    type Range,
    type Suggestion,
    type SuggestionNotice,
    serverCommands,
} from "./protocol";
import { isServed, type LanguageServer } from "./server";
import type { Settings } from "./settings";
import { SuggestWidget } from "./suggestWidget";
import { acceptKey } from "./tab";
import type { Today } from "./today";
import { suits, wordAt } from "./typing";
import { isWordComplete } from "./word";

/** A drawing outlives its text by this long: most often the next notice draws the same again, and nothing flickers. */
const LINGER_MILLISECONDS = 150;
/** After an accept the next edit is on its way for at most this long; a Tab pressed meanwhile was meant for it. */
const AWAIT_MILLISECONDS = 1500;
/** For this long the end of a chain is shown, and a Tab that comes too late does nothing. */
const DONE_MILLISECONDS = 1500;

export class NextEdit implements vscode.Disposable {
    /** By document: what is offered in one stays there while the user looks at another. */
    private readonly offers = new Map<string, Offer>();
    /** The cursor after our own jump, while it stays there: the suggestion is then drawn, not shown as ghost text. */
    private landed: Position | undefined;
    /** The end of the newest typing in the active editor, while the cursor still stands there. */
    private typed: { readonly uri: string; readonly at: Position } | undefined;
    private readonly chain = new Chain();
    /** Runs while a suggestion was just accepted and the next one is not known. */
    private awaiting: NodeJS.Timeout | undefined;
    /** Runs while the end of a chain is shown. */
    private done: NodeJS.Timeout | undefined;
    private lingering: NodeJS.Timeout | undefined;
    private announced: string | undefined;
    /** The document and version for which the list of completions was closed. */
    private closedFor: string | undefined;
    private isHidden = false;
    private isApplying = false;
    /** The position of the label in the newest drawing. */
    private label: Position | undefined;

    private readonly decorations = new Decorations();
    private readonly gutter: Gutter;
    private readonly ghostText = new GhostText((document, position) => this.lookUp(document, position));
    private readonly suggestWidget = new SuggestWidget(() => this.refresh());
    private readonly subscriptions: vscode.Disposable[];

    constructor(
        private readonly server: LanguageServer,
        private readonly settings: () => Settings,
        private readonly today: Today,
        media: vscode.Uri,
    ) {
        this.gutter = new Gutter(media);
        const hover = new SuggestionHover((document) => {
            const found = this.isHidden ? undefined : this.found();
            const isShown = found !== undefined && found.editor.document === document;
            return isShown ? { suggestion: found.suggestion, label: this.label } : undefined;
        });
        this.subscriptions = [
            this.decorations,
            this.gutter,
            this.suggestWidget,
            vscode.languages.registerInlineCompletionItemProvider({ pattern: "**" }, this.ghostText),
            vscode.languages.registerHoverProvider({ pattern: "**" }, hover),
            server.onSuggestion((notice) => this.receive(notice)),
            server.onStart(() => this.focus(vscode.window.activeTextEditor)),
            server.onEnd(() => this.forgetAll()),
            vscode.workspace.onDidChangeTextDocument((event) => this.documentChanged(event)),
            vscode.window.onDidChangeTextEditorSelection((event) => {
                if (isByHand(event.kind)) {
                    this.endDone();
                }
                this.cursorMoved(event.textEditor);
            }),
            vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => {
                if (textEditor === vscode.window.activeTextEditor && this.found() !== undefined) {
                    this.refresh(); // what cannot be seen must not be taken with Tab
                }
            }),
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
            if (key === "tab" && this.awaiting === undefined && this.done === undefined) {
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

    /** Applies what is shown, near or far: the mouse has shown it to the user. */
    async acceptHere(): Promise<void> {
        const found = this.found();
        if (found !== undefined) {
            await this.apply(found.editor, found.suggestion);
        }
    }

    async acceptWord(): Promise<void> {
        const found = this.found();
        if (found === undefined) {
            return;
        }
        const { editor, suggestion, display } = found;
        if (display.kind === "ghost") {
            await vscode.commands.executeCommand("editor.action.inlineSuggest.acceptNextWord");
            await this.server.execute(serverCommands.acceptWord, suggestion.id);
        } else if (display.kind === "far") {
            this.jump(editor, suggestion);
        } else {
            await this.applyWord(editor, suggestion);
        }
    }

    /** VS Code has inserted our ghost text. */
    async ghostAccepted(suggestion: Suggestion): Promise<void> {
        const editor = vscode.window.activeTextEditor;
        this.ghostText.forget();
        if (editor !== undefined) {
            this.chain.accept(editor.document.uri.toString());
        }
        this.today.accepted(suggestion, 1);
        if (this.found() === undefined) {
            this.awaitNext();
        }
        await this.server.execute(serverCommands.accept, suggestion.id);
    }

    async dismiss(): Promise<void> {
        const found = this.found();
        if (found !== undefined) {
            this.offers.delete(found.offer.uri);
            this.chain.break();
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

    /** Shows a suggestion that is not sure enough by itself, because the user asked for it. */
    offerAnyway(document: vscode.TextDocument, version: number, suggestion: Suggestion): void {
        if (document.version === version) {
            const { uri } = snapshotOf(document);
            this.offers.set(uri, offerOf(uri, version, [suggestion]));
            this.refresh();
        }
    }

    /** The settings have changed. */
    redraw(): void {
        this.refresh();
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
            const isAwaited = this.awaiting !== undefined;
            this.endAwaiting();
            if (offer === undefined) {
                this.endLingering();
            }
            this.refresh();
            if (isAwaited && this.found() === undefined) {
                this.tellDone();
            }
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
        const only = contentChanges.length === 1 ? contentChanges[0] : undefined;
        this.endDone();
        this.typed =
            this.isApplying || only === undefined
                ? undefined
                : { uri, at: after(positionOf(only.range.start), only.text) };
        if (offer === undefined) {
            this.chain.break();
            this.endAwaiting(); // the user goes on without waiting
            return;
        }
        const rest = only && typedAlong(offer, only, document.version);
        this.landed = undefined;
        if (rest !== undefined) {
            this.offers.set(uri, rest);
            const { range, newText } = chosenOf(rest);
            this.ghostText.follow({ kind: "ghost", position: range.start, text: newText });
            return;
        }
        if (!this.isApplying && !this.ghostText.isAllOf(only?.text)) {
            this.chain.break();
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
        if (this.typed !== undefined && !isEqual(this.typed.at, editor.selection.active)) {
            this.typed = undefined;
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
        this.typed = undefined;
        this.chain.break();
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
        if (!(await this.replace(editor, suggestion.range, suggestion.newText))) {
            this.endAwaiting();
            return;
        }
        this.chain.accept(editor.document.uri.toString());
        this.today.accepted(suggestion, 1);
        const end = after(suggestion.range.start, suggestion.newText);
        const place = restingPlace(end, linesOf(editor.document));
        moveCursor(editor, place, vscode.TextEditorRevealType.Default);
        await this.server.execute(serverCommands.accept, suggestion.id);
    }

    private async applyWord(editor: vscode.TextEditor, suggestion: Suggestion): Promise<void> {
        const { difference, end, isLast } = nextWordOf(suggestion);
        if (isLast) {
            await this.apply(editor, suggestion);
        } else if (await this.replace(editor, difference.removed, difference.addedText)) {
            moveCursor(editor, end, vscode.TextEditorRevealType.Default);
            await this.server.execute(serverCommands.acceptWord, suggestion.id);
        }
    }

    /** VS Code refuses the edit if its text has moved on since the version that we see here. */
    private async replace(editor: vscode.TextEditor, range: Range, text: string): Promise<boolean> {
        this.isApplying = true;
        try {
            return await editor.edit((edit) => edit.replace(rangeOf(range), text));
        } finally {
            this.isApplying = false;
        }
    }

    /** The offer for exactly this text, as it is shown when the cursor stands there. */
    private lookUp(document: vscode.TextDocument, position: vscode.Position) {
        const offer = this.offers.get(document.uri.toString());
        if (offer === undefined || !isFor(offer, snapshotOf(document))) {
            return undefined;
        }
        const suggestion = chosenOf(offer);
        const lines = linesOf(document);
        const word = this.typed?.uri === offer.uri ? wordAt(this.typed.at, lines) : undefined;
        if (word !== undefined && !suits(suggestion, word)) {
            return undefined;
        }
        const hasJumped = this.landed !== undefined && isEqual(this.landed, position);
        const editor = vscode.window.activeTextEditor;
        const display = displayOf(suggestion, position, lines, {
            // Tab in ghost text is VS Code's.
            isDrawn: hasJumped || this.settings().neverUseTab,
            ...(editor?.document === document && { viewport: viewportOf(editor) }),
        });
        return { offer, suggestion, display };
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
            if (this.lingering === undefined && this.done === undefined) {
                this.clear();
            }
            return;
        }
        this.endLingering();
        this.endDone();
        const { editor, offer, suggestion, display } = found;
        if (display.kind === "ghost") {
            this.ghostText.show(display);
        } else {
            this.closeSuggestWidget(editor, offer);
            this.ghostText.hide();
        }
        const place = placeFor(display, viewportOf(editor), linesOf(editor.document));
        this.label = display.kind === "ghost" ? undefined : place;
        this.setKeys(found);
        const key = acceptKey({
            "likewise.shown": place !== undefined && !this.settings().neverUseTab,
            "likewise.inIndentation": isCursorInIndentation(editor),
            editorHasSelection: !editor.selection.isEmpty,
            editorHasMultipleSelections: editor.selections.length > 1,
            suggestWidgetVisible: this.suggestWidget.mayBeOpen(editor.document),
        });
        const facts = { key, placesLeft: suggestion.placesLeft, others: offer.choices.length - 1 };
        this.decorations.show(editor, display, { place, key, notes: notesFor(display, facts) });
        this.gutter.show(editor, display);
        this.announce(suggestion);
    }

    private hide(): void {
        this.endLingering();
        this.endDone();
        this.clear();
        this.ghostText.hide();
        this.setKeys(undefined);
    }

    private clear(): void {
        this.label = undefined;
        this.decorations.clear();
        this.gutter.clear();
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

    /** Says that nothing is left, and lets a Tab that was meant for one more place do nothing. */
    private tellDone(): void {
        const editor = vscode.window.activeTextEditor;
        const words = this.chain.end();
        if (editor === undefined || words === undefined) {
            return;
        }
        this.gutter.clear();
        this.decorations.say(editor, words);
        this.done = setTimeout(() => this.endDone(), DONE_MILLISECONDS);
        this.setKeys(undefined);
    }

    private endDone(): void {
        if (this.done !== undefined) {
            clearTimeout(this.done);
            this.done = undefined;
            this.decorations.clear();
            this.setKeys(this.found());
        }
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
            this.today.offered();
            this.server.send(notifications.shown, { item: { command: { arguments: [suggestion.id] } } });
        }
    }

    private setKeys(found: { readonly offer: Offer; readonly display: Display } | undefined): void {
        const editor = vscode.window.activeTextEditor;
        const isDrawn = found !== undefined && found.display.kind !== "ghost";
        const isSeen = isDrawn && this.label !== undefined;
        const isOver = this.awaiting !== undefined || this.done !== undefined;
        setContextKeys({
            shown: (isSeen || isOver) && !this.settings().neverUseTab,
            offered: found !== undefined,
            alternatives: found !== undefined && found.offer.choices.length > 1,
            inIndentation: editor !== undefined && isCursorInIndentation(editor),
        });
    }
}

/** True if the user moved the cursor, not a command or we ourselves. */
function isByHand(kind: vscode.TextEditorSelectionChangeKind | undefined): boolean {
    const { Keyboard, Mouse } = vscode.TextEditorSelectionChangeKind;
    return kind === Keyboard || kind === Mouse;
}
