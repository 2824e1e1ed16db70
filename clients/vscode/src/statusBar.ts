/** The status bar item, and the menu behind it. */

import * as vscode from "vscode";
import { menuEntries, type Situation } from "./menu";
import type { Status } from "./protocol";
import { statusLine } from "./status";

/** Most predictions are over before this: a spinner at each keystroke would only distract. */
const THINKING_MILLISECONDS = 300;

export class StatusBar implements vscode.Disposable {
    private readonly item = vscode.window.createStatusBarItem(
        "likewise.status",
        vscode.StatusBarAlignment.Right,
        100,
    );
    private pending: NodeJS.Timeout | undefined;
    private status: Status = { state: "starting", reason: "starting", message: "" };

    constructor() {
        this.item.name = "Likewise";
        this.draw();
        this.item.show();
    }

    current(): Status {
        return this.status;
    }

    set(status: Status): void {
        this.status = status;
        clearTimeout(this.pending);
        if (status.state === "thinking") {
            this.pending = setTimeout(() => this.draw(), THINKING_MILLISECONDS);
        } else {
            this.draw();
        }
    }

    dispose(): void {
        clearTimeout(this.pending);
        this.item.dispose();
    }

    private draw(): void {
        const line = statusLine(this.status);
        this.item.text = line.text;
        this.item.tooltip = line.tooltip;
        this.item.command = line.command;
        this.item.backgroundColor = line.isWarning
            ? new vscode.ThemeColor("statusBarItem.warningBackground")
            : undefined;
    }
}

/** Shows the actions that the user has now, below the state. */
export async function showMenu(situation: Situation): Promise<void> {
    const title = statusLine(situation.status).tooltip.split("\n")[0] as string;
    const picked = await vscode.window.showQuickPick(menuEntries(situation), { title });
    if (picked !== undefined) {
        await vscode.commands.executeCommand(picked.command, ...picked.parameters);
    }
}
