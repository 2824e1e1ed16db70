/** The context keys that the `when` clauses of our keybindings read. */

import * as vscode from "vscode";

export interface ContextKeys {
    /** A suggestion is drawn by us (near or far), so Tab may be ours. */
    readonly shown: boolean;
    /** A suggestion is there in any display. */
    readonly offered: boolean;
    /** There is more than one to choose from. */
    readonly alternatives: boolean;
    /** Only white space stands before the cursor: there Tab indents. */
    readonly inIndentation: boolean;
}

const current: Partial<Record<keyof ContextKeys, boolean>> = {};

/** Tells VS Code what changed; saying the same again would cost a message at each keystroke. */
export function setContextKeys(keys: ContextKeys): void {
    for (const name of Object.keys(keys) as (keyof ContextKeys)[]) {
        if (current[name] !== keys[name]) {
            current[name] = keys[name];
            void vscode.commands.executeCommand("setContext", `likewise.${name}`, keys[name]);
        }
    }
}
