// Stands between VS Code and the language server: passes everything on, and writes down what is told of documents, and
// what is suggested. usage: tee.mjs STREAM_FILE COMMAND [PARAMETER ...]
import { spawn } from "node:child_process";
import fs from "node:fs";

const [file, command, ...parameters] = process.argv.slice(2);
const started = Date.now();
const server = spawn(command, parameters, { stdio: ["pipe", "pipe", "inherit"] });

process.stdin.on("data", copier(server.stdin, /^textDocument\/did/));
process.stdin.on("end", () => server.stdin.end());
server.stdout.on("data", copier(process.stdout, /^likewise\/suggestion$/));
process.on("SIGTERM", () => server.kill());
server.on("exit", (code) => process.exit(code ?? 1));

/** Passes bytes on, and writes down the messages of these methods. */
function copier(target, methods) {
    let unread = Buffer.alloc(0);
    return (bytes) => {
        target.write(bytes);
        unread = Buffer.concat([unread, bytes]);
        for (let found = firstMessage(unread); found !== undefined; found = firstMessage(unread)) {
            unread = found.rest;
            const { method, params } = found.message;
            if (methods.test(method)) {
                const line = { milliseconds: Date.now() - started, method, params };
                fs.appendFileSync(file, `${JSON.stringify(line)}\n`);
            }
        }
    };
}

/** The first whole message of these bytes, and the bytes behind it. */
function firstMessage(bytes) {
    const headerEnd = bytes.indexOf("\r\n\r\n");
    if (headerEnd < 0) return undefined;
    const length = Number(/Content-Length: (\d+)/i.exec(bytes.subarray(0, headerEnd))[1]);
    const start = headerEnd + 4;
    if (bytes.length < start + length) return undefined;
    const message = JSON.parse(bytes.subarray(start, start + length));
    return { message, rest: bytes.subarray(start + length) };
}
