"""The pygls handlers and nothing else: fetch, convert, call, convert, return.

`lsp.transport` takes the notifications about documents.
"""

import asyncio
import logging
from typing import Any

from lsprotocol import types

from lsp import responses
from lsp.document import Document
from lsp.settings import SECTION, Settings, is_about_us, parse
from lsp.status import EditorStatus
from lsp.suggestions import Answer
from lsp.transport import FastServer
from lsp.workspace import Workspace

_log = logging.getLogger(__name__)


class Server(FastServer):
    """The language server: passes on whatever the workspace says."""

    files: Workspace

    def __init__(self) -> None:
        super().__init__("likewise", "0.1.0")
        self.files = Workspace(self, Settings())

    def show(self, document: Document, answer: Answer) -> None:
        if self.files.settings.push:
            self.notify_plain("likewise/suggestion", responses.build_notice(document, answer))

    def tell(self, status: EditorStatus) -> None:
        if self.files.settings.push:
            self.notify_plain("likewise/status", _build_status(status))

    def log(self, message: str) -> None:
        self.window_log_message(types.LogMessageParams(types.MessageType.Info, message))

    def read_settings(self, options: Any) -> Settings:
        """Read settings from whatever the editor sent; show one message about all that is wrong with it."""
        settings, problems = parse(options, self.files.settings)
        logging.getLogger().setLevel(settings.log_level.upper())
        if problems:
            text = "Likewise: " + "; ".join(problems)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, text))
        return settings

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        """Log an error without the message's content; nothing pops up while someone types."""
        _log.error("%s: %s", source.__name__, type(error).__name__)


def create_server() -> Server:
    server = Server()
    _add_lifecycle(server)
    _add_notifications(server)
    _add_requests(server)
    _add_commands(server)
    return server


def _add_lifecycle(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        settings = server.read_settings(params.initialization_options)
        folders = params.workspace_folders or []
        root = folders[0].uri if folders else params.root_uri
        encoding = str(
            getattr(server.workspace.position_encoding, "value", server.workspace.position_encoding)
        )
        server.files = Workspace(server, settings, root, encoding)

    @server.feature(types.INITIALIZED)
    def initialized(params: types.InitializedParams) -> None:
        server.files.start()
        _watch_branches(server)

    @server.feature(types.SHUTDOWN)
    async def shutdown(params: None) -> None:
        await server.files.stop()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def change_configuration(params: types.DidChangeConfigurationParams) -> None:
        options = _convert_to_json(params.settings) or _convert_to_json(await _ask_for_settings(server))
        if is_about_us(options):
            await server.files.configure(server.read_settings(options))

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def switch_branch(params: types.DidChangeWatchedFilesParams) -> None:
        server.files.switch_branch()


def _add_notifications(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def save(params: types.DidSaveTextDocumentParams) -> None:
        server.files.save(params.text_document.uri)

    @server.feature("textDocument/didFocus")
    def focus(params: Any) -> None:
        document = getattr(params, "textDocument", None)  # some editors send the uri alone
        server.files.focus(str(document.uri if document is not None else params.uri))

    @server.feature("likewise/cursor")
    def move_cursor(params: Any) -> None:
        version = getattr(params.textDocument, "version", None)
        server.files.move_cursor(str(params.textDocument.uri), version, _read_position(params.position))

    @server.feature("textDocument/didShowInlineEdit")
    def count_shown_edit(params: Any) -> None:
        server.files.count_shown(str(params.item.command.arguments[0]))

    @server.feature("textDocument/didShowCompletion")
    def count_shown_completion(params: Any) -> None:
        server.files.count_shown(str(params.item.command.arguments[0]))


def _add_requests(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())
    async def inline_completion(params: types.InlineCompletionParams) -> types.InlineCompletionList:
        answer = await server.files.answer(params.text_document.uri, None, params.position)
        file = server.files.files.get(params.text_document.uri)
        if file is None or not answer.suggestions or file.answer is not answer:
            return types.InlineCompletionList(items=[])
        selected = params.context.selected_completion_info
        return responses.build_inline_completions(file.document, answer, params.position, selected)

    @server.feature("textDocument/copilotInlineEdit")
    async def copilot_inline_edit(params: Any) -> dict[str, Any]:
        uri, version = str(params.textDocument.uri), getattr(params.textDocument, "version", None)
        answer = await server.files.answer(uri, version, _read_position(params.position))
        file = server.files.files.get(uri)
        if file is None or not answer.suggestions or file.answer is not answer:
            return {"edits": []}
        return responses.build_inline_edits(
            file.document, answer, version, server.files.settings.limit_suggestions
        )


def _add_commands(server: Server) -> None:
    @server.command(responses.ACCEPT)
    def accept(*arguments: Any) -> None:
        server.files.accept(_read_id(arguments))

    @server.command("likewise.lsp.acceptWord")
    def accept_word(*arguments: Any) -> None:
        server.files.accept_word(_read_id(arguments))

    @server.command("likewise.lsp.dismiss")
    def dismiss(*arguments: Any) -> None:
        server.files.dismiss(_read_id(arguments))

    @server.command("likewise.lsp.forgetDismissed")
    def forget_dismissed(*arguments: Any) -> None:
        server.files.forget_dismissed()

    @server.command("likewise.lsp.explain")
    def explain(*arguments: Any) -> dict[str, Any]:
        found = server.files.find(_read_id(arguments))
        if found is None:
            return {"suggestion": None, "reasons": []}
        file, suggestion = found
        reasons = [
            {"uri": file.uri, **responses.build_reason(file.document, each)} for each in suggestion.because
        ]
        return {"suggestion": responses.build_suggestion(file.document, suggestion), "reasons": reasons}

    @server.command("likewise.lsp.everywhere")
    async def everywhere(*arguments: Any) -> dict[str, Any]:
        uri = _read_id(arguments)
        version = arguments[1] if len(arguments) > 1 and isinstance(arguments[1], int) else None
        found = await server.files.find_everywhere(uri, version)
        file = server.files.files.get(uri)
        edits = [] if file is None else [responses.build_likely_change(file.document, each) for each in found]
        return {"uri": uri, "version": version, "edits": edits}

    @server.command("likewise.lsp.candidate")
    async def candidate(*arguments: Any) -> dict[str, Any]:
        uri = _read_id(arguments)
        found = await server.files.find_unsure(uri)
        file = server.files.files.get(uri)
        if found is None or file is None:
            return {"version": None, "suggestion": None}
        return {
            "version": file.document.version,
            "suggestion": responses.build_suggestion(file.document, found),
        }

    @server.command("likewise.lsp.snooze")
    def snooze(*arguments: Any) -> None:
        minutes = arguments[0] if arguments and isinstance(arguments[0], int | float) else 0
        server.files.snooze(max(0.0, float(minutes)))

    @server.command("likewise.lsp.status")
    def status(*arguments: Any) -> dict[str, Any]:
        return {**_build_status(server.files.status), "counters": dict(server.files.counters)}


def _watch_branches(server: Server) -> None:
    """Ask to be told when another branch is checked out, if the editor can tell."""
    workspace = server.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace is not None else None
    if watching is None or not watching.dynamic_registration:
        return
    options = types.DidChangeWatchedFilesRegistrationOptions(
        watchers=[types.FileSystemWatcher(glob_pattern="**/.git/HEAD")]
    )
    registration = types.Registration(
        id="likewise-branches", method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES, register_options=options
    )
    server.client_register_capability(types.RegistrationParams([registration]))


async def _ask_for_settings(server: Server) -> Any:
    workspace = server.client_capabilities.workspace
    if workspace is None or not workspace.configuration:
        return None
    items = [types.ConfigurationItem(section=SECTION)]
    found = await asyncio.wait_for(
        server.workspace_configuration_async(types.ConfigurationParams(items)), timeout=10
    )
    return found[0] if found else None


def _convert_to_json(value: Any) -> Any:
    """Turn the named tuples that pygls makes of unknown objects back into JSON."""
    if hasattr(value, "_asdict"):
        return {key: _convert_to_json(each) for key, each in value._asdict().items()}
    if isinstance(value, dict):
        return {key: _convert_to_json(each) for key, each in value.items()}
    return [_convert_to_json(each) for each in value] if isinstance(value, list | tuple) else value


def _read_position(value: Any) -> types.Position:
    return types.Position(line=int(value.line), character=int(value.character))


def _read_id(arguments: tuple[Any, ...]) -> str:
    """Read the first argument; some editors pass all of them as one list."""
    first = arguments[0] if arguments else ""
    return str(first[0] if isinstance(first, list | tuple) and first else first)


def _build_status(status: EditorStatus) -> dict[str, Any]:
    return {"state": status.state, "reason": status.reason, "message": status.message}
