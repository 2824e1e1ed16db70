"""The pygls handlers and nothing else: fetch, convert, call, convert, return.

Notifications about documents are plain functions on the protocol class: pygls calls these in the order of arrival, before
anything else, and its own copy of the text (which counts lines differently) is never made.
"""

import asyncio
import logging
from typing import Any, NamedTuple

from lsprotocol import types
from pygls.exceptions import FeatureNotificationError, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.protocol.json_rpc import JsonRPCNotification

from lsp import doors
from lsp.open_file import OpenFile
from lsp.settings import SECTION, Settings, is_about_us, parse
from lsp.suggestions import Answer
from lsp.workspace import Status, Workspace

_log = logging.getLogger(__name__)


class _Typing(NamedTuple):
    """A didChange notification as it came."""

    data: dict[str, Any]


class Protocol(LanguageServerProtocol):
    """Feeds our own text store."""

    _server: "Server"

    def structure_message(self, data: dict[str, Any]) -> Any:
        if "jsonrpc" not in data:
            return data
        if "id" not in data:
            method = data.get("method")
            if method == types.TEXT_DOCUMENT_DID_CHANGE:
                return _Typing(data)
            # Emacs's Copilot client tells acceptance as a notification, which the protocol does not know.
            if method == types.WORKSPACE_EXECUTE_COMMAND:
                return self._converter.structure(data, JsonRPCNotification)
        return super().structure_message(data)

    def handle_message(self, message: Any) -> None:
        if not isinstance(message, _Typing):
            super().handle_message(message)
        elif not self._shutdown:
            self._take_typing(message.data)

    def _take_typing(self, data: dict[str, Any]) -> None:
        """A change of a document, from the JSON as it is: at each keystroke, so not by way of pygls' converter."""
        try:
            params = data["params"]
            document = params["textDocument"]
            uri, version = str(document["uri"]), int(document["version"])
            events = [_event(event) for event in params["contentChanges"]]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self._server.report_server_error(error, JsonRpcInvalidParams)
            return
        try:
            self._server.files.change(uri, events, version)
        except Exception as error:  # whatever it was, the next message is read
            self._server.report_server_error(error, FeatureNotificationError)

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        self._server.files.open(document.uri, document.language_id, document.version, document.text)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Announces that we want changes; `_take_typing` takes them."""

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._server.files.close(params.text_document.uri)


class Server(LanguageServer):
    """What the workspace says goes out here."""

    def __init__(self) -> None:
        super().__init__("likewise", "0.1.0", protocol_cls=Protocol)
        self.files = Workspace(self, Settings())

    def show(self, file: OpenFile, answer: Answer) -> None:
        if self.files.settings.push:
            self._say("likewise/suggestion", doors.notice(file, answer))

    def tell(self, status: Status) -> None:
        if self.files.settings.push:
            self._say("likewise/status", _status(status))

    def log(self, message: str) -> None:
        self.window_log_message(types.LogMessageParams(types.MessageType.Info, message))

    def use(self, options: Any) -> Settings:
        """Settings from whatever the editor sent; one message about all that is wrong with it."""
        settings, problems = parse(options, self.files.settings)
        logging.getLogger().setLevel(settings.log_level.upper())
        if problems:
            text = "Likewise: " + "; ".join(problems)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, text))
        return settings

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        """Into the log, without the message's content; nothing pops up while someone types."""
        _log.error("%s: %s", source.__name__, type(error).__name__)

    async def close(self) -> None:
        await self.files.stop()

    def _say(self, method: str, params: dict[str, Any]) -> None:
        """A notification that is plain JSON already: at each keystroke, so not by way of pygls' converter."""
        self.protocol._send_data({"jsonrpc": "2.0", "method": method, "params": params})


def create_server() -> Server:
    server = Server()
    _add_life(server)
    _add_notices(server)
    _add_doors(server)
    _add_commands(server)
    return server


def _add_life(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        settings = server.use(params.initialization_options)
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
        await server.close()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configured(params: types.DidChangeConfigurationParams) -> None:
        options = _plain(params.settings) or _plain(await _asked_for_settings(server))
        if is_about_us(options):
            await server.files.configure(server.use(options))

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(params: types.DidChangeWatchedFilesParams) -> None:
        server.files.switch_branch()


def _add_notices(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.files.save(params.text_document.uri)

    @server.feature("textDocument/didFocus")
    def focused(params: Any) -> None:
        document = getattr(params, "textDocument", None)  # some editors send the uri alone
        server.files.focus(str(document.uri if document is not None else params.uri))

    @server.feature("likewise/cursor")
    def moved(params: Any) -> None:
        version = getattr(params.textDocument, "version", None)
        server.files.move_cursor(str(params.textDocument.uri), version, _position(params.position))

    @server.feature("textDocument/didShowInlineEdit")
    def shown(params: Any) -> None:
        server.files.shown(str(params.item.command.arguments[0]))

    @server.feature("textDocument/didShowCompletion")
    def shown_completion(params: Any) -> None:
        server.files.shown(str(params.item.command.arguments[0]))


def _add_doors(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())
    async def inline_completion(params: types.InlineCompletionParams) -> types.InlineCompletionList:
        answer = await server.files.answer(params.text_document.uri, None, params.position)
        file = server.files.files.get(params.text_document.uri)
        if file is None or not answer.suggestions or file.answer is not answer:
            return types.InlineCompletionList(items=[])
        selected = params.context.selected_completion_info
        return doors.inline_completions(file.document, answer, params.position, selected)

    @server.feature("textDocument/copilotInlineEdit")
    async def copilot_inline_edit(params: Any) -> dict[str, Any]:
        uri, version = str(params.textDocument.uri), getattr(params.textDocument, "version", None)
        answer = await server.files.answer(uri, version, _position(params.position))
        file = server.files.files.get(uri)
        if file is None or not answer.suggestions or file.answer is not answer:
            return {"edits": []}
        return doors.inline_edits(file.document, answer, version, server.files.settings.limit_suggestions)


def _add_commands(server: Server) -> None:
    @server.command(doors.ACCEPT)
    def accept(*arguments: Any) -> None:
        server.files.accept(_id(arguments))

    @server.command("likewise.lsp.acceptWord")
    def accept_word(*arguments: Any) -> None:
        server.files.accept_word(_id(arguments))

    @server.command("likewise.lsp.dismiss")
    def dismiss(*arguments: Any) -> None:
        server.files.dismiss(_id(arguments))

    @server.command("likewise.lsp.explain")
    def explain(*arguments: Any) -> dict[str, Any]:
        found = server.files.find(_id(arguments))
        if found is None:
            return {"suggestion": None, "reasons": []}
        file, suggestion = found
        reasons = [{"uri": file.uri, **doors.reason_of(file.document, each)} for each in suggestion.because]
        return {"suggestion": doors.suggestion_of(file.document, suggestion), "reasons": reasons}

    @server.command("likewise.lsp.everywhere")
    async def everywhere(*arguments: Any) -> dict[str, Any]:
        uri = _id(arguments)
        version = arguments[1] if len(arguments) > 1 and isinstance(arguments[1], int) else None
        places = await server.files.everywhere(uri, version)
        file = server.files.files.get(uri)
        edits = [doors.place_of(file.document, place) for place in places] if file is not None else []
        return {"uri": uri, "version": version, "edits": edits}

    @server.command("likewise.lsp.snooze")
    def snooze(*arguments: Any) -> None:
        minutes = arguments[0] if arguments and isinstance(arguments[0], int | float) else 0
        server.files.snooze(max(0.0, float(minutes)))

    @server.command("likewise.lsp.status")
    def status(*arguments: Any) -> dict[str, Any]:
        return {**_status(server.files.status), "counters": dict(server.files.counters)}


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


async def _asked_for_settings(server: Server) -> Any:
    workspace = server.client_capabilities.workspace
    if workspace is None or not workspace.configuration:
        return None
    items = [types.ConfigurationItem(section=SECTION)]
    found = await asyncio.wait_for(
        server.workspace_configuration_async(types.ConfigurationParams(items)), timeout=10
    )
    return found[0] if found else None


def _plain(value: Any) -> Any:
    """pygls turns unknown objects into named tuples; settings are read as the JSON they were."""
    if hasattr(value, "_asdict"):
        return {key: _plain(each) for key, each in value._asdict().items()}
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _event(event: dict[str, Any]) -> types.TextDocumentContentChangeEvent:
    """One change of a didChange notification."""
    place = event.get("range")
    if place is None:
        return types.TextDocumentContentChangeWholeDocument(text=event["text"])
    start, end = (types.Position(side["line"], side["character"]) for side in (place["start"], place["end"]))
    return types.TextDocumentContentChangePartial(range=types.Range(start, end), text=event["text"])


def _position(value: Any) -> types.Position:
    return types.Position(line=int(value.line), character=int(value.character))


def _id(arguments: tuple[Any, ...]) -> str:
    """The first argument; some editors pass all of them as one list."""
    first = arguments[0] if arguments else ""
    return str(first[0] if isinstance(first, list | tuple) and first else first)


def _status(status: Status) -> dict[str, Any]:
    return {"state": status.state, "reason": status.reason, "message": status.message}
