// Stands between VS Code and the language server: passes everything on, and writes down what is told of documents.
// usage: tee.mjs STREAM_FILE COMMAND [PARAMETER ...]
import { spawn } from "node:child_process";
import fs from "node:fs";

const [file, command, ...parameters] = process.argv.slice(2);
const started = Date.now();
const server = spawn(command, parameters, { stdio: ["pipe", "inherit", "inherit"] });
let unread = Buffer.alloc(0);

process.stdin.on("data", (bytes) => {
    server.stdin.write(bytes);
    unread = Buffer.concat([unread, bytes]);
    for (let message = nextMessage(); message !== undefined; message = nextMessage()) {
        if (message.method?.startsWith("textDocument/did")) {
            const { method, params } = message;
            fs.appendFileSync(
                file,
                `${JSON.stringify({ milliseconds: Date.now() - started, method, params })}\n`,
            );
        }
    }
});
process.stdin.on("end", () => server.stdin.end());
process.on("SIGTERM", () => server.kill());
server.on("exit", (code) => process.exit(code ?? 1));

/** Takes the first whole message out of what was not read yet. */
function nextMessage() {
    const headerEnd = unread.indexOf("\r\n\r\n");
    if (headerEnd < 0) return undefined;
    const length = Number(/Content-Length: (\d+)/i.exec(unread.subarray(0, headerEnd))[1]);
    const start = headerEnd + 4;
    if (unread.length < start + length) return undefined;
    const message = JSON.parse(unread.subarray(start, start + length));
    unread = unread.subarray(start + length);
    return message;
}
