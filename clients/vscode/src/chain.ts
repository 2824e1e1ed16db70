/** Suggestions that are accepted one after another, and what is said when the last is done. */

/** Counts the suggestions that the user has accepted in a row in one document. */
export class Chain {
    private uri = "";
    private count = 0;

    accept(uri: string): void {
        this.count = this.uri === uri ? this.count + 1 : 1;
        this.uri = uri;
    }

    /** Ends the chain and returns the words that say so; undefined when there was no chain. */
    end(): string | undefined {
        const { count } = this;
        this.break();
        return count === 0 ? undefined : `done, ${count} ${count === 1 ? "place" : "places"}`;
    }

    /** Ends the chain without words: the user does something else. */
    break(): void {
        this.count = 0;
        this.uri = "";
    }
}
