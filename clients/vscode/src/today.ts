/** Keeps today's tally in VS Code's own store, so that a restart does not lose it. */

import type * as vscode from "vscode";
import type { Suggestion } from "./protocol";
import { dayOf, type Tally, tallyOf, withAcceptance, withOffer } from "./tally";

const KEY = "tally";

export class Today {
    constructor(private readonly store: vscode.Memento) {}

    tally(): Tally {
        return tallyOf(dayOf(new Date()), this.store.get(KEY));
    }

    offered(): void {
        void this.store.update(KEY, withOffer(this.tally()));
    }

    accepted(suggestion: Suggestion, pressed: number): void {
        void this.store.update(KEY, withAcceptance(this.tally(), suggestion, pressed));
    }
}
