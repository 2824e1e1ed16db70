/** Quiet for a while: asks how long and tells the server. */

import * as vscode from "vscode";
import { serverCommands } from "./protocol";
import type { LanguageServer } from "./server";

const OTHER_MINUTES = [5, 15, 60, 240];

export async function snooze(server: LanguageServer, usualMinutes: number): Promise<void> {
    const choices = [usualMinutes, ...OTHER_MINUTES.filter((minutes) => minutes !== usualMinutes)];
    const items = choices.map((minutes) => ({
        label: minutes === 1 ? "1 minute" : `${minutes} minutes`,
        minutes,
    }));
    const picked = await vscode.window.showQuickPick(items, { title: "Snooze Likewise for" });
    if (picked !== undefined) {
        await server.execute(serverCommands.snooze, picked.minutes);
    }
}

export async function wake(server: LanguageServer): Promise<void> {
    await server.execute(serverCommands.snooze, 0);
}
