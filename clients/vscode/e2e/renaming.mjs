// What a user does in most scenarios: in a file that logs, info becomes debug, twice by hand.
import { until } from "./workbench.mjs";

export const NEAR = `import logging

log = logging.getLogger(__name__)


def start(settings):
    log.info("starting")
    log.info("reading the settings")
    log.info("opening the files")
    log.info("connecting")
    log.info("ready")
`;

const BETWEEN = Array.from(
    { length: 12 },
    (_, index) => `    part_${index} = build(${index})\n    check(part_${index})\n`,
);
export const FAR = NEAR.replace('    log.info("opening', `${BETWEEN.join("")}    log.info("opening`);
export const PLACES = [7, 8];
export const COLUMN = 9;

/** Changes by hand what stands in the first two places: the rest is Likewise's to offer. */
export async function changeTwice(workbench, name, text = NEAR) {
    await workbench.open(name, text);
    await changeByHand(workbench);
    return changed(text, ...PLACES);
}

export async function changeByHand(workbench) {
    for (const line of PLACES) await workbench.replace(line, COLUMN, "info", "debug");
}

/** Changes the first place by hand and starts with the second: the rest of the word is shown as ghost text. */
export async function startByHand(workbench) {
    await workbench.replace(7, COLUMN, "info", "debug");
    await workbench.replace(8, COLUMN, "info", "d");
    await until("ghost text", async () => (await workbench.ghost()) === "ebug");
}

/** The text with the word changed in these lines. */
export function changed(text, ...lines) {
    return text
        .split("\n")
        .map((line, index) => (lines.includes(index + 1) ? line.replace("info", "debug") : line))
        .join("\n");
}

export const nextShown = (workbench) => workbench.shows("info", "debug");

/** Takes the suggestion that is shown near the cursor; returns its line. */
export async function takeNext(workbench, key = "Tab") {
    const line = await nextShown(workbench);
    await workbench.press(key);
    await workbench.cursorOn(line);
    return line;
}
