/** The language server's process: started, told of new settings, restarted, stopped. One at a time, never two. */

import * as vscode from "vscode";
import {
    CloseAction,
    type CloseHandlerResult,
    DidChangeConfigurationNotification,
    ErrorAction,
    ExecuteCommandRequest,
    LanguageClient,
    type LanguageClientOptions,
    State,
    TransportKind,
} from "vscode-languageclient/node";
import { NoPython, type PythonFinder } from "./interpreter";
import { notifications, type Status, type SuggestionNotice } from "./protocol";
import { commandFor, type Launch } from "./python";
import { type Level, LogReader } from "./serverLog";
import type { Settings } from "./settings";

const DOCUMENTS = [{ scheme: "file" }, { scheme: "untitled" }];
/** A server that ends more often than this within the window has a fault that another start will not heal. */
const LIMIT_ENDS = 4;
const ENDS_WINDOW_MILLISECONDS = 3 * 60 * 1000;
/** The time that a server has for its shutdown before it is killed. */
const STOP_MILLISECONDS = 2000;

export function isServed(document: vscode.TextDocument): boolean {
    return DOCUMENTS.some(({ scheme }) => scheme === document.uri.scheme);
}

export class LanguageServer implements vscode.Disposable {
    private client: LanguageClient | undefined;
    /** The launch that the client was started with. */
    private launch: Launch | undefined;
    private settings: Settings;
    /** Starts and stops run one after another: a restart during a start must not leave a process behind. */
    private queue: Promise<void> = Promise.resolve();
    private endings: number[] = [];

    private readonly suggestions = new vscode.EventEmitter<SuggestionNotice>();
    private readonly statuses = new vscode.EventEmitter<Status>();
    private readonly starts = new vscode.EventEmitter<void>();
    private readonly ends = new vscode.EventEmitter<void>();
    readonly onSuggestion = this.suggestions.event;
    readonly onStatus = this.statuses.event;
    /** It runs, for the first time or again after it ended. */
    readonly onStart = this.starts.event;
    readonly onEnd = this.ends.event;

    constructor(
        private readonly python: PythonFinder,
        private readonly log: vscode.LogOutputChannel,
        settings: Settings,
    ) {
        this.settings = settings;
    }

    restart(settings: Settings = this.settings): Promise<void> {
        this.settings = settings;
        return this.enqueue(async () => {
            await this.end();
            if (!this.settings.enabled) {
                this.statuses.fire({ state: "off", reason: "disabled", message: "likewise.enabled is off" });
                return;
            }
            this.statuses.fire({ state: "starting", reason: "starting", message: "looking for Python" });
            const launch = await this.python.find(this.settings.python);
            if (launch instanceof NoPython) {
                this.statuses.fire({ state: "setup", reason: "python", message: launch.advice.message });
                void this.python.tell(launch);
            } else {
                await this.begin(launch);
            }
        });
    }

    /** Lets `make` set up Python, then starts with it. */
    async setUp(make: () => Promise<boolean>): Promise<void> {
        this.statuses.fire({ state: "starting", reason: "set-up", message: "Python is being set up" });
        await make();
        await this.restart(); // also when it was cancelled: then the status says again what is missing
    }

    /** Another interpreter may be the one to use now. A server that runs with it already goes on, with what it knows. */
    reconsider(): Promise<void> {
        return this.enqueue(async () => {
            if (!this.settings.enabled) {
                return;
            }
            const launch = await this.python.find(this.settings.python);
            if (!(launch instanceof NoPython) && launch.python !== this.launch?.python) {
                await this.end();
                await this.begin(launch);
            }
        });
    }

    /** Settings that the running process can take. */
    configure(settings: Settings): void {
        this.settings = settings;
        this.send(DidChangeConfigurationNotification.method, { settings: { likewise: settings.server } });
    }

    send(method: string, parameters: object): void {
        if (this.client?.isRunning()) {
            this.client
                .sendNotification(method, parameters)
                .catch((error: unknown) => this.log.warn(`${method}: ${error}`));
        }
    }

    /** Undefined when there is no server or it cannot answer: on the typing path nothing pops up. */
    async execute<Result>(command: string, ...parameters: unknown[]): Promise<Result | undefined> {
        if (!this.client?.isRunning()) {
            return undefined;
        }
        try {
            return (await this.client.sendRequest(ExecuteCommandRequest.type, {
                command,
                arguments: parameters,
            })) as Result;
        } catch (error) {
            this.log.warn(`${command}: ${error}`);
            return undefined;
        }
    }

    stop(): Promise<void> {
        return this.enqueue(() => this.end());
    }

    dispose(): void {
        void this.stop();
        for (const emitter of [this.suggestions, this.statuses, this.starts, this.ends]) {
            emitter.dispose();
        }
    }

    private enqueue(work: () => Promise<void>): Promise<void> {
        this.queue = this.queue.then(work).catch((error: unknown) => this.trouble(String(error)));
        return this.queue;
    }

    private async begin(launch: Launch): Promise<void> {
        this.log.info(`Starting the language server with ${launch.python} (${launch.origin})`);
        const client = new LanguageClient(
            "likewise",
            "Likewise",
            serverOptions(launch),
            this.clientOptions(),
        );
        client.onNotification(notifications.suggestion, (notice: SuggestionNotice) =>
            this.suggestions.fire(notice),
        );
        client.onNotification(notifications.status, (status: Status) => this.statuses.fire(status));
        client.onDidChangeState(({ newState }) => {
            if (newState === State.Running) {
                this.starts.fire();
            } else if (newState === State.Stopped) {
                this.ends.fire();
            }
        });
        this.client = client;
        this.launch = launch;
        await client.start();
    }

    private async end(): Promise<void> {
        const client = this.client;
        this.client = undefined;
        this.launch = undefined;
        this.endings = [];
        if (client === undefined) {
            return;
        }
        try {
            await client.dispose(STOP_MILLISECONDS);
        } catch (error) {
            this.log.warn(`The language server did not stop in order: ${error}`);
        }
    }

    private clientOptions(): LanguageClientOptions {
        return {
            documentSelector: DOCUMENTS,
            outputChannel: this.log,
            stdioOptions: { stdout: () => {}, stderr: (stream) => copyLog(stream, this.log) },
            initializationOptions: () => this.settings.server, // those of now, also when it is started again
            initializationFailedHandler: (error) => {
                this.log.error(`The language server refused to start: ${error}`);
                return false;
            },
            middleware: {
                // Ghost text comes from what the server pushed (see ghostText.ts); a second provider would show it twice.
                provideInlineCompletionItems: () => undefined,
                workspace: {
                    configuration: ({ items }) =>
                        items.map(({ section }) => (section === "likewise" ? this.settings.server : null)),
                },
            },
            errorHandler: {
                error: () => ({ action: ErrorAction.Continue, handled: true }),
                closed: () => this.closed(),
            },
        };
    }

    private closed(): CloseHandlerResult {
        const now = Date.now();
        this.endings = [...this.endings.filter((ending) => now - ending < ENDS_WINDOW_MILLISECONDS), now];
        if (this.endings.length > LIMIT_ENDS) {
            this.trouble("the language server keeps ending; see the log");
            return { action: CloseAction.DoNotRestart, handled: true };
        }
        this.statuses.fire({
            state: "starting",
            reason: "restarting",
            message: "the language server ended; starting it again",
        });
        return { action: CloseAction.Restart, handled: true };
    }

    private trouble(message: string): void {
        this.log.error(message);
        this.statuses.fire({ state: "trouble", reason: "client", message });
    }
}

/** Copies the log of the language server: the channel adds the time, the level stays. */
function copyLog(stream: NodeJS.ReadableStream, log: vscode.LogOutputChannel): void {
    const write: Record<Level, (text: string) => void> = {
        debug: (text) => log.debug(text),
        info: (text) => log.info(text),
        warning: (text) => log.warn(text),
        error: (text) => log.error(text),
    };
    const reader = new LogReader();
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
        for (const { level, text } of reader.read(chunk)) {
            write[level](text);
        }
    });
}

function serverOptions(launch: Launch) {
    const run = { ...commandFor(launch, process.env), transport: TransportKind.stdio };
    return { run, debug: run };
}
