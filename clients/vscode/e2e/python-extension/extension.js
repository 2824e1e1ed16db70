// The interpreter of python.defaultInterpreterPath, told as the real extension tells it (its exported `environments`).
// Even an untrusted workspace may set it: not to listen then is Likewise's own duty.
const vscode = require("vscode");

const SETTING = "python.defaultInterpreterPath";

function selected(resource) {
    const path = vscode.workspace.getConfiguration(undefined, resource).get(SETTING);
    return path ? { id: path, path } : { id: "DEFAULT_PYTHON", path: "python" };
}

function resolved(environment) {
    const { path } = typeof environment === "string" ? { path: environment } : environment;
    if (path === "python") {
        return undefined; // nothing was selected, and what is there was not looked at
    }
    return {
        id: path,
        path,
        executable: { uri: vscode.Uri.file(path), bitness: "64-bit", sysPrefix: undefined },
        environment: undefined,
        version: undefined,
        tools: [],
    };
}

exports.activate = (context) => {
    const changes = new vscode.EventEmitter();
    context.subscriptions.push(
        changes,
        vscode.workspace.onDidChangeConfiguration((event) => {
            if (event.affectsConfiguration(SETTING)) {
                changes.fire({ ...selected(), resource: undefined });
            }
        }),
    );
    return {
        ready: Promise.resolve(),
        environments: {
            getActiveEnvironmentPath: selected,
            resolveEnvironment: async (environment) => resolved(environment),
            onDidChangeActiveEnvironmentPath: changes.event,
        },
    };
};
