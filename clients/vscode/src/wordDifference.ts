/** The words that differ between two texts of one line: two changed words are two spans, not one block. */

/** `old` from `start` to `end` becomes `added`. */
export interface Span {
    readonly start: number;
    readonly end: number;
    readonly added: string;
}

const TOKENS = /[\p{L}\p{N}\p{Surrogate}_]+|\s+|[^\p{L}\p{N}\p{Surrogate}_\s]/gu;
/** Beyond this the spans take longer to find than they are worth. */
const LIMIT_CELLS = 40_000;
/** More spans than this are harder to read than one block. */
const LIMIT_SPANS = 4;

/** The spans from left to right; undefined when one block says it better. */
export function changedWords(old: string, now: string): readonly Span[] | undefined {
    if (/[\r\n]/.test(old + now)) {
        return undefined;
    }
    const olds: readonly string[] = old.match(TOKENS) ?? [];
    const news: readonly string[] = now.match(TOKENS) ?? [];
    if (olds.length * news.length > LIMIT_CELLS) {
        return undefined;
    }
    const spans = spansBetween(olds, news);
    return spans.length <= LIMIT_SPANS ? spans : undefined;
}

function spansBetween(olds: readonly string[], news: readonly string[]): Span[] {
    const common = commonLengths(olds, news);
    const at = (one: number, other: number) => common[one]?.[other] ?? 0;
    const spans: Span[] = [];
    let offset = 0;
    let one = 0;
    let other = 0;
    while (one < olds.length || other < news.length) {
        const start = offset;
        let added = "";
        while (one < olds.length || other < news.length) {
            if (one < olds.length && other < news.length && olds[one] === news[other]) {
                break;
            }
            // What goes is taken before what comes, so that the new word stands behind the old one.
            if (one < olds.length && (other >= news.length || at(one + 1, other) >= at(one, other + 1))) {
                offset += (olds[one++] as string).length;
            } else {
                added += news[other++];
            }
        }
        if (offset > start || added !== "") {
            spans.push({ start, end: offset, added });
        }
        while (one < olds.length && other < news.length && olds[one] === news[other]) {
            offset += (olds[one] as string).length;
            one++;
            other++;
        }
    }
    return spans;
}

/** For each pair of beginnings: how many tokens the rests have in common, in order. */
function commonLengths(olds: readonly string[], news: readonly string[]): number[][] {
    const table = Array.from({ length: olds.length + 1 }, () => new Array<number>(news.length + 1).fill(0));
    for (let one = olds.length - 1; one >= 0; one--) {
        const row = table[one] as number[];
        const below = table[one + 1] as number[];
        for (let other = news.length - 1; other >= 0; other--) {
            row[other] =
                olds[one] === news[other]
                    ? (below[other + 1] as number) + 1
                    : Math.max(below[other] as number, row[other + 1] as number);
        }
    }
    return table;
}
