/** VS Code's list of completions, as far as an extension can know it: when it may be open, and how to close it. */

import * as vscode from "vscode";

/** A slow provider opens the list some time after the key that asked for it. */
const CLOSE_AGAIN_MILLISECONDS = [0, 150, 400];

export class SuggestWidget implements vscode.Disposable {
    /** The text for which VS Code last asked for completions; undefined when the list is surely closed. */
    private asked: { readonly uri: string; readonly version: number } | undefined;
    /** The text at the newest move of the cursor, and whether the user moved it again since that text was there. */
    private seen: { readonly uri: string; readonly version: number } | undefined;
    private hasMoved = false;
    private timers: NodeJS.Timeout[] = [];
    private readonly provider: vscode.Disposable;

    /** `onChange` is called when the list is about to open, and when it was closed. */
    constructor(private readonly onChange: () => void) {
        // A provider that has nothing to complete: to be asked is the only sign of the list that an extension gets.
        const listener = {
            provideCompletionItems: (document: vscode.TextDocument) => {
                this.asked = { uri: document.uri.toString(), version: document.version };
                onChange();
                return undefined;
            },
        };
        this.provider = vscode.languages.registerCompletionItemProvider({ pattern: "**" }, listener, ".");
    }

    mayBeOpen(document: vscode.TextDocument): boolean {
        return this.asked?.uri === document.uri.toString();
    }

    /** The cursor was moved: without a change of the text since VS Code asked, that closes the list. */
    noteMove(document: vscode.TextDocument): void {
        const uri = document.uri.toString();
        this.hasMoved = this.seen?.uri === uri && this.seen.version === document.version;
        this.seen = { uri, version: document.version };
        if (this.asked?.uri !== document.uri.toString() || this.asked.version === document.version) {
            this.asked = undefined;
        } else {
            this.asked = { ...this.asked, version: document.version };
        }
    }

    /** Closes the list, also one that is just being opened, as long as `isWanted`. One opened after a move stays. */
    close(isWanted: () => boolean): void {
        if (this.hasMoved) {
            return; // no key opened it: the user did
        }
        this.asked = undefined;
        this.stop();
        this.timers = CLOSE_AGAIN_MILLISECONDS.map((delay) =>
            setTimeout(() => {
                if (isWanted() && !this.hasMoved) {
                    void vscode.commands.executeCommand("hideSuggestWidget");
                    this.noteClosed();
                }
            }, delay),
        );
    }

    dispose(): void {
        this.stop();
        this.provider.dispose();
    }

    private noteClosed(): void {
        if (this.asked !== undefined) {
            this.asked = undefined;
            this.onChange();
        }
    }

    private stop(): void {
        for (const timer of this.timers) {
            clearTimeout(timer);
        }
    }
}
