/** Files to try Likewise on: each has a change that repeats. */

export interface Example {
    readonly language: string;
    /** Below the extension's folder. */
    readonly file: string;
    /** The text to change in the first two places, and the new text. */
    readonly from: string;
    readonly to: string;
    /** The text right before `from`. */
    readonly before: string;
}

export const EXAMPLES: readonly Example[] = [
    { language: "python", file: "media/walkthrough/orders.py", before: "logger.", from: "info", to: "debug" },
    {
        language: "typescript",
        file: "bundled/walkthrough/track_list.ts",
        before: "",
        from: "let",
        to: "const",
    },
    { language: "go", file: "bundled/walkthrough/config_store.go", before: "", from: "%s", to: "%w" },
];

export function exampleFor(language: unknown): Example {
    return EXAMPLES.find((each) => each.language === language) ?? (EXAMPLES[0] as Example);
}

/** The offsets of the places to change, top to bottom. */
export function placesIn(text: string, { before, from }: Example): number[] {
    const escaped = (part: string) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const isWord = /^\w/.test(from);
    const pattern = new RegExp(
        `${escaped(before)}${isWord ? "\\b" : ""}${escaped(from)}${isWord ? "\\b" : ""}`,
        "g",
    );
    return Array.from(text.matchAll(pattern), ({ index }) => index + before.length);
}

export function instructionFor({ from, to }: Example, lines: readonly number[]): string {
    return `Change ${from} to ${to} in line ${lines[0]}, then in line ${lines[1]}. Then press Tab, and Tab again.`;
}
