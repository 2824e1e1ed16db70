/** Suggestions that are accepted one after another, and what is said when the last is done. */

/** How many suggestions the user has taken in a row in one document. */
export class Chain {
    private uri = "";
    private count = 0;

    accept(uri: string): void {
        this.count = this.uri === uri ? this.count + 1 : 1;
        this.uri = uri;
    }

    /** The words for the end of the chain; undefined when there was none. It is told once. */
    end(): string | undefined {
        const { count } = this;
        this.break();
        return count === 0 ? undefined : `done, ${count} ${count === 1 ? "place" : "places"}`;
    }

    /** The user does something else. */
    break(): void {
        this.count = 0;
        this.uri = "";
    }
}
