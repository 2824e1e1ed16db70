// What the editor told the language server, and what that suggested: the text and the newest offer of each file.
import fs from "node:fs";

export class Texts {
    constructor(streamFile) {
        this.streamFile = streamFile;
        this.read = 0;
        this.files = new Map();
    }

    /** Takes in what is new. Returns the file with this name: its text, its version, its offers by version. */
    of(name) {
        const all = fs.existsSync(this.streamFile) ? fs.readFileSync(this.streamFile) : Buffer.alloc(0);
        const end = all.lastIndexOf("\n") + 1;
        const lines = all.subarray(this.read, end).toString("utf8").split("\n");
        this.read = end;
        for (const line of lines.filter((each) => each !== "")) this.take(JSON.parse(line));
        return [...this.files.entries()].find(([uri]) => uri.endsWith(`/${name}`))?.[1];
    }

    take({ method, params, milliseconds }) {
        const uri = params.textDocument?.uri ?? params.uri;
        if (method === "textDocument/didOpen") {
            const { text, version } = params.textDocument;
            this.files.set(uri, { text, version, offers: [], changed: milliseconds });
            return;
        }
        const file = this.files.get(uri);
        if (file === undefined) return;
        if (method === "textDocument/didChange") {
            for (const change of params.contentChanges) file.text = replaced(file.text, change);
            file.version = params.textDocument.version;
            file.changed = milliseconds;
        } else if (method === "likewise/suggestion" && params.version === file.version) {
            file.offers.push({ version: params.version, text: file.text, suggestion: params.suggestion });
        }
    }
}

export function offsetOf(text, { line, character }) {
    let start = 0;
    for (let left = line; left > 0; left--) start = text.indexOf("\n", start) + 1;
    return start + character;
}

/** Line and column as VS Code shows them, from 1. */
export function placeOf(text, offset) {
    const before = text.slice(0, offset).split("\n");
    return { line: before.length, column: before.at(-1).length + 1 };
}

/** A suggestion as a change of offsets. */
export function changeOf(text, { range, newText }) {
    return [offsetOf(text, range.start), offsetOf(text, range.end), newText];
}

function replaced(text, { range, text: now }) {
    if (range === undefined) return now;
    return text.slice(0, offsetOf(text, range.start)) + now + text.slice(offsetOf(text, range.end));
}
