// The referee, a Python program that knows the sessions and judges offers: one question a line, one answer a line.
import { spawn } from "node:child_process";
import path from "node:path";
import readline from "node:readline";
import { fileURLToPath } from "node:url";

const CHECKOUT = fileURLToPath(new URL("../../../..", import.meta.url));

export class Referee {
    constructor(python) {
        this.process = spawn(path.resolve(python), ["-m", "training.suite.kinds_referee"], {
            cwd: CHECKOUT,
            stdio: ["pipe", "pipe", "inherit"],
        });
        this.answers = readline.createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
    }

    async sessions() {
        return JSON.parse((await this.answers.next()).value);
    }

    /** Verdicts on offers ([start, end, text] each), and the sites that are left. */
    async judge(session, now, offers = []) {
        this.process.stdin.write(`${JSON.stringify({ session, now, offers })}\n`);
        return JSON.parse((await this.answers.next()).value);
    }

    stop() {
        this.process.stdin.end();
    }
}
