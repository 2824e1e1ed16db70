/** The user's settings as the language server wants them. `python` and `enabled` decide about the process itself. */

export interface ServerOptions {
    readonly push: true;
    readonly serviceAddress: string | null;
    readonly serviceToken: string | null;
    readonly bundle: string | null;
    readonly device: string;
    readonly eagerness: string;
    /** Wins over the eagerness. */
    readonly threshold: number | null;
    readonly languages: Readonly<Record<string, boolean>>;
    readonly record: boolean;
    readonly exclude: readonly string[];
    readonly limitSuggestions: number;
    readonly logLevel: string;
}

/** One suggestion and what Alt+] can still bring: more would only be cycled through. */
const LIMIT_SUGGESTIONS = 3;

const EAGERNESS = ["quiet", "balanced", "eager"];

export interface Settings {
    readonly enabled: boolean;
    readonly python: string;
    readonly jumpAndApply: boolean;
    readonly neverUseTab: boolean;
    readonly snoozeMinutes: number;
    readonly server: ServerOptions;
}

/** Reads one setting by its name without the `likewise.` in front. */
export type ReadSetting = (name: string) => unknown;

/** A value that package.json's schema forbids is VS Code's to complain about; here it only must do no harm. */
export function settingsFrom(read: ReadSetting): Settings {
    const text = (name: string) => {
        const value = read(name);
        return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
    };
    const threshold = read("threshold");
    const minutes = read("snoozeMinutes");
    return {
        enabled: read("enabled") !== false,
        python: text("python") ?? "",
        jumpAndApply: read("jumpAndApply") === true,
        neverUseTab: read("neverUseTab") === true,
        snoozeMinutes: typeof minutes === "number" && minutes > 0 ? minutes : 30,
        server: {
            push: true,
            serviceAddress: text("serviceAddress"),
            serviceToken: text("serviceToken"),
            bundle: text("bundle"),
            device: text("device") ?? "auto",
            eagerness: EAGERNESS.find((each) => each === text("eagerness")) ?? "balanced",
            threshold: typeof threshold === "number" ? Math.min(Math.max(threshold, 0), 1) : null,
            languages: languagesFrom(read("languages")),
            record: read("record") === true,
            exclude: patternsFrom(read("exclude")),
            limitSuggestions: LIMIT_SUGGESTIONS,
            logLevel: text("logLevel") ?? "info",
        },
    };
}

/** The values of one setting by where they come from. */
export interface Layers {
    readonly globalValue?: unknown;
    readonly workspaceValue?: unknown;
    readonly workspaceFolderValue?: unknown;
}

/** A list with the user's entries and the workspace's: a workspace may exclude more files, never fewer. */
export function everyEntry(layers: Layers | undefined): unknown[] {
    const lists = [layers?.globalValue, layers?.workspaceValue, layers?.workspaceFolderValue];
    return lists.filter((list) => Array.isArray(list)).flat();
}

/** True if the process must be restarted; all other settings are sent to the running one. */
export function needsRestart(before: Settings, now: Settings): boolean {
    const process = ({ enabled, python, server }: Settings) =>
        JSON.stringify([
            enabled,
            python,
            server.serviceAddress,
            server.serviceToken,
            server.bundle,
            server.device,
        ]);
    return process(before) !== process(now);
}

/** `languages` with the language turned the other way. */
export function toggled(
    languages: Readonly<Record<string, boolean>>,
    language: string,
): Record<string, boolean> {
    const isOn = languages[language] ?? languages["*"] ?? true;
    return { ...languages, [language]: !isOn };
}

function languagesFrom(value: unknown): Record<string, boolean> {
    const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
    return { "*": true, ...Object.fromEntries(entries.filter(([, isOn]) => typeof isOn === "boolean")) };
}

function patternsFrom(value: unknown): string[] {
    return Array.isArray(value) ? value.filter((pattern) => typeof pattern === "string") : [];
}
