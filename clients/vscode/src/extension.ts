/** Likewise in VS Code: puts the parts together when VS Code starts and takes them apart when it ends. */

import * as vscode from "vscode";
import { applyEverywhere } from "./everywhere";
import { PythonFinder } from "./interpreter";
import { learnFromRepository } from "./learn";
import { NextEdit } from "./nextEdit";
import { practise } from "./practice";
import { type Suggestion, serverCommands } from "./protocol";
import { LanguageServer } from "./server";
import { everyEntry, needsRestart, type Settings, settingsFrom, toggled } from "./settings";
import { setUp } from "./setUp";
import { snooze, wake } from "./snooze";
import { StatusBar, showMenu } from "./statusBar";
import { Today } from "./today";
import { Unsure } from "./unsure";
import { explainWhy } from "./why";

let server: LanguageServer | undefined;

export function activate(context: vscode.ExtensionContext): void {
    const log = vscode.window.createOutputChannel("Likewise", { log: true });
    const python = new PythonFinder(context, log);
    let settings = readSettings();
    const started = new LanguageServer(python, log, settings);
    server = started;
    const statusBar = new StatusBar();
    const today = new Today(context.globalState);
    const media = vscode.Uri.joinPath(context.extensionUri, "media");
    const nextEdit = new NextEdit(started, () => settings, today, media);
    const unsure = new Unsure(started, nextEdit);
    const readAgain = () => {
        const before = settings;
        settings = readSettings();
        void (needsRestart(before, settings) ? started.restart(settings) : started.configure(settings));
        nextEdit.redraw();
    };

    const commands: Record<string, (...parameters: never[]) => unknown> = {
        accept: (key?: unknown) => nextEdit.accept(key),
        acceptWord: () => nextEdit.acceptWord(),
        acceptHere: () => nextEdit.acceptHere(),
        ghostAccepted: (suggestion: Suggestion) => nextEdit.ghostAccepted(suggestion),
        dismiss: () => nextEdit.dismiss(),
        forgetDismissed: () => forgetDismissed(started),
        next: () => nextEdit.cycle(1),
        previous: () => nextEdit.cycle(-1),
        everywhere: () => nextEdit.whileHidden(() => applyEverywhere(started)),
        why: () => explainWhy(started, nextEdit.current()),
        snooze: () => snooze(started, settings.snoozeMinutes),
        wake: () => wake(started),
        toggleLanguage: () => toggleLanguage(),
        menu: async () =>
            showMenu({
                status: statusBar.current(),
                language: vscode.window.activeTextEditor?.document.languageId,
                tally: today.tally(),
                unsure: statusBar.current().state === "quiet" ? await unsure.look() : undefined,
            }),
        showUnsure: () => unsure.show(),
        restart: () => started.restart(),
        setUpPython: () => started.setUp(() => setUp(python, log, settings.python)),
        chooseInterpreter: () =>
            vscode.commands.executeCommand("workbench.action.openSettings", "likewise.python"),
        learn: () => learnFromRepository(python, settings, log),
        showLog: () => log.show(true),
        practise: (language?: unknown) => practise(context.extensionUri, language),
        openWalkthrough: () =>
            vscode.commands.executeCommand(
                "workbench.action.openWalkthrough",
                `${context.extension.id}#start`,
            ),
    };
    context.subscriptions.push(
        log,
        python,
        statusBar,
        nextEdit,
        started,
        started.onStatus((status) => statusBar.set(status)),
        vscode.workspace.onDidChangeConfiguration((event) => {
            if (event.affectsConfiguration("likewise")) {
                readAgain();
            }
        }),
        vscode.workspace.onDidGrantWorkspaceTrust(() => {
            readAgain(); // the workspace's own wishes count now,
            void started.reconsider(); // and so does the interpreter that was selected in it
        }),
        python.onDidSelect(() => started.reconsider()),
        ...Object.entries(commands).map(([name, run]) =>
            vscode.commands.registerCommand(`likewise.${name}`, run as (...parameters: unknown[]) => unknown),
        ),
    );
    void started.restart();
}

export function deactivate(): Promise<void> | undefined {
    return server?.stop();
}

function readSettings(): Settings {
    const configuration = vscode.workspace.getConfiguration("likewise");
    return settingsFrom((name) =>
        name === "exclude" ? everyEntry(configuration.inspect(name)) : configuration.get(name),
    );
}

async function forgetDismissed(server: LanguageServer): Promise<void> {
    await server.execute(serverCommands.forgetDismissed);
    vscode.window.setStatusBarMessage("$(check) What you dismissed may be suggested again.", 4000);
}

async function toggleLanguage(): Promise<void> {
    const language = vscode.window.activeTextEditor?.document.languageId;
    if (language === undefined) {
        return;
    }
    const configuration = vscode.workspace.getConfiguration("likewise");
    const languages = toggled(readSettings().server.languages, language);
    await configuration.update("languages", languages, vscode.ConfigurationTarget.Global);
    const state = languages[language] ? "on" : "off";
    vscode.window.setStatusBarMessage(`$(check) Likewise is ${state} for ${language}.`, 4000);
}
