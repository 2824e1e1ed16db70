// Bundles src/extension.ts and all it imports into the one file that VS Code loads.
import { build } from "esbuild";

await build({
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    external: ["vscode"],
    minify: true,
    logLevel: "warning",
});
