/** Learning from the user's repository: the command to run and what its lines mean. Processes are run by the caller. */

/** Distributions that the judge's learning needs beside those of the language server. */
export const LEARNING_DISTRIBUTIONS: readonly string[] = ["lightgbm", "onnx", "tqdm"];

/** A program for `python -c`, with module names as its arguments; prints those that are not there as JSON. */
export const MISSING_MODULES = `
import importlib.util, json, sys
print(json.dumps([name for name in sys.argv[1:] if importlib.util.find_spec(name) is None]))
`;

/** A line of `python -m training.fit --json`. */
export type LearningLine =
    | {
          readonly event: "progress";
          readonly title: string;
          /** The share of the whole work, between 0 and 1. */
          readonly share: number;
          readonly seconds_left: number | null;
      }
    | { readonly event: "note"; readonly text: string }
    | {
          readonly event: "result";
          readonly is_better: boolean;
          readonly reason: string;
          readonly summary: string;
          readonly report: string;
      };

/** The arguments for Python. Zero minutes leave the network as it is. */
export function learningParameters(folder: string, eagerness: string, networkMinutes: number): string[] {
    return [
        ...["-P", "-m", "training.fit", "--yes", "--json"],
        ...["--folder", folder, "--eagerness", eagerness, "--minutes", String(networkMinutes)],
    ];
}

/** A line that the program printed; undefined when it is none of ours. */
export function learningLine(printed: string): LearningLine | undefined {
    try {
        const line: unknown = JSON.parse(printed);
        return typeof line === "object" && line !== null && "event" in line
            ? (line as LearningLine)
            : undefined;
    } catch {
        return undefined;
    }
}

/** The text of the notification while it runs. */
export function progressMessage(title: string, secondsLeft: number | null): string {
    if (secondsLeft === null) {
        return `${title}…`;
    }
    const left = secondsLeft < 90 ? `${secondsLeft} s` : `${Math.round(secondsLeft / 60)} min`;
    return `${title}… (this step: ${left} left)`;
}

/** The text of the notification at the end. */
export function resultMessage(result: LearningLine & { readonly event: "result" }): string {
    return result.is_better
        ? `Likewise learned from your repository: ${result.reason}.`
        : `Likewise stays as it is: ${result.reason}.`;
}

/** The reason for a failure: the last line that the program wrote. */
export function failureMessage(errors: string): string {
    const last = errors
        .split(/[\r\n]+/)
        .map((line) => line.trim())
        .filter((line) => line !== "")
        .at(-1);
    return last?.replace(/^training\.fit: /, "") ?? "it ended without a reason";
}
