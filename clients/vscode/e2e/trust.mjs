// A folder whose authors the user does not trust, and then does.
import assert from "node:assert/strict";
import { changeTwice, takeNext } from "./renaming.mjs";

export const trust = [
    {
        name: "in a workspace that is not trusted its own wishes are ignored, suggestions work; once trusted they count",
        async run(workbench) {
            const wished = workbench.pythonWithLibraries("wished");
            const selected = workbench.pythonWithLibraries("selected-there");
            const settings = {
                "likewise.python": wished,
                "likewise.serviceAddress": "http://127.0.0.1:9",
                "likewise.bundle": "/no/such/bundle",
                "likewise.record": true,
                "python.defaultInterpreterPath": selected,
            };
            workbench.writeSettings("Machine", { "likewise.logLevel": "debug" });
            workbench.writeSettings("User", {
                ...workbench.userSettings,
                "security.workspace.trust.enabled": true,
                "security.workspace.trust.startupPrompt": "always",
            });
            await workbench.openFolder("strange", "first.py", "x = 1\n", settings);
            await workbench.page.locator(".monaco-dialog-box .monaco-button", { hasText: "No," }).click();
            const restricted = workbench.page.locator("#status\\.workspaceTrust", {
                hasText: "Restricted Mode",
            });
            await restricted.waitFor();
            await workbench.runsWith(workbench.pythonOnPath);
            await changeTwice(workbench, "restricted.py");
            await takeNext(workbench);
            await workbench.windowPicture("untrusted");

            await workbench.command("Workspaces: Manage Workspace Trust");
            await workbench.page
                .locator(".workspace-trust-editor .monaco-button", { hasText: "Trust" })
                .first()
                .click();
            await restricted.waitFor({ state: "hidden" });
            await workbench.runsWith(wished);
            await changeTwice(workbench, "granted.py");
            await takeNext(workbench);
            assert.equal(workbench.processes(selected).length, 0);
        },
    },
];
