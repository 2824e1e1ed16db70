// The figures of the played kinds, in words and as a table.

export function describe({ kind, hands, sites, byTab, firstRight, wrong, lost }) {
    const first = firstRight === null ? "nothing right" : `first right after ${firstRight}`;
    const offers = wrong.map((line) => `\n    wrong: ${line}`).join("");
    return `${kind} (${hands}): ${first}, ${byTab} of ${sites} by Tab, ${wrong.length} wrong, ${lost} lost${offers}`;
}

export function table(rows) {
    const head = ["retypes", "least"].flatMap((hands) =>
        ["first right after", "by Tab", "wrong"].map((what) => `${what} (${hands})`),
    );
    const lines = [...groups(rows)].map(
        ([kind, played]) => `| ${[kind, ...played.flatMap(cells)].join(" | ")} |`,
    );
    return [`| kind | ${head.join(" | ")} |`, `| --- |${" ---: |".repeat(head.length)}`, ...lines].join("\n");
}

export function summarize(rows) {
    const kinds = [...groups(rows)];
    const early = kinds.filter(([, played]) =>
        played.every(({ firstRight }) => firstRight !== null && firstRight <= 2),
    );
    const sum = (value) => rows.reduce((total, row) => total + value(row), 0);
    const sites = sum((row) => row.sites);
    const share = Math.round((100 * sum((row) => row.byTab)) / Math.max(sites, 1));
    return (
        `${early.length} of ${kinds.length} kinds have a right offer after the second edit at the latest; ` +
        `${share} % of ${sites} sites by Tab; ${sum((row) => row.wrong.length)} wrong offers; ` +
        `${sum((row) => row.lost)} right offers that Tab did not take`
    );
}

function cells({ firstRight, byTab, sites, wrong }) {
    return [firstRight ?? "-", `${byTab} of ${sites}`, wrong.length];
}

function groups(rows) {
    const found = new Map();
    for (const row of rows) found.set(row.kind, [...(found.get(row.kind) ?? []), row]);
    return found;
}
