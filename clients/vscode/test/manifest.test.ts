import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import manifest from "../package.json";
import { settingsFrom } from "../src/settings";

const [seen, advanced] = manifest.contributes.configuration;
const properties: Record<string, { markdownDescription: string }> = {
    ...seen?.properties,
    ...advanced?.properties,
};

const sources = readdirSync("src").map((name) => ({ name, text: readFileSync(`src/${name}`, "utf8") }));

describe("package.json", () => {
    test("every key leads to a command that is there", () => {
        const commands = manifest.contributes.commands.map(({ command }) => command);
        for (const { command } of manifest.contributes.keybindings) {
            expect(commands).toContain(command);
        }
    });

    test("every setting has a description", () => {
        for (const setting of Object.values(properties)) {
            expect(setting.markdownDescription).toMatch(/\.$|\.\*\*$/);
        }
    });

    test("every setting is read, and every setting that is read exists", () => {
        const asked = new Set<string>();
        settingsFrom((name) => {
            asked.add(`likewise.${name}`);
            return undefined;
        });
        expect([...asked].sort()).toEqual(Object.keys(properties).sort());
    });

    test("people see the eagerness; the threshold is advanced, and not set", () => {
        expect(seen?.properties).toMatchObject({ "likewise.eagerness": { default: "balanced" } });
        expect(advanced?.properties).toMatchObject({ "likewise.threshold": { default: null } });
    });

    test("nothing that starts a program or sends text away can be set by an untrusted workspace", () => {
        const restricted = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
        expect(restricted).toEqual(
            expect.arrayContaining([
                "likewise.python",
                "likewise.bundle",
                "likewise.serviceAddress",
                "likewise.record",
            ]),
        );
    });

    test("asks for no proposed interface", () => {
        expect(manifest).not.toHaveProperty("enabledApiProposals");
    });
});

test("the pure files import no vscode", () => {
    const pure = [
        "protocol",
        "positions",
        "display",
        "landing",
        "offer",
        "tab",
        "status",
        "settings",
        "python",
        "serverLog",
        "learning",
        "word",
        "wordDifference",
        "view",
        "label",
        "typing",
        "chain",
        "nextWord",
        "tally",
        "hoverText",
        "menu",
        "reasons",
        "examples",
    ];
    for (const { name, text } of sources.filter(({ name }) => pure.includes(name.replace(".ts", "")))) {
        expect(text, name).not.toMatch(/from "vscode/);
    }
});
