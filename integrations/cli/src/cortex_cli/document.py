"""`cortex document`: put, get, list and forget long texts by an id, which is a path as often as not."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import quote

import typer
from pydantic import RootModel, ValidationError

from cortex_cli import moment, operations
from cortex_cli.failure import FAILED, reported
from cortex_cli.gateway import MEMORY, Gateway
from cortex_cli.output import console, plain
from cortex_cli.retain import cut_out
from cortex_contracts.errors import InvalidMessage
from cortex_contracts.messages.documents import DocumentForgotten, DocumentRetained, DocumentText, DocumentView
from cortex_contracts.messages.memory import Visibility
from cortex_contracts.rpc.documents import DocumentReply, DocumentsReply
from cortex_contracts.rpc.operations import OperationStarted
from cortex_runtime.settle import describe

DOCUMENTS: Final = f"{MEMORY}/documents"
PUT_TIMEOUT_S: Final = 310.0
"""Longer than the gateway waits for a document to be embedded."""


class _PutReply(RootModel[DocumentRetained | OperationStarted]):
    """A long document is remembered in the background."""


app = typer.Typer(no_args_is_help=True, help="Long texts: put, get, list and forget them by an id.")

Id = Annotated[str, typer.Argument(metavar="ID", help="Id of the document, from `cortex document list`.")]
Namespace = Annotated[str, typer.Option("--namespace", "-n", help="Project it belongs to.")]
AsOf = Annotated[
    datetime | None, typer.Option(parser=moment.parse, metavar="TIME", help="The text that was true then.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the reply as JSON.")]


@app.command()
def put(
    file: Annotated[str, typer.Argument(help="Text file in UTF-8; - reads standard input.")],
    document_id: Annotated[str | None, typer.Option("--id", help="Its id; default: the path as it is given.")] = None,
    namespace: Namespace = "default",
    source: Annotated[str, typer.Option("--source", "--source-kind", help="Kind of source.")] = "document",
    at: Annotated[
        datetime | None, typer.Option(parser=moment.parse, metavar="TIME", help="When it became true; default: now.")
    ] = None,
    private: Annotated[bool, typer.Option("--private", help="Only its owner may read it.")] = False,
    background: Annotated[
        bool, typer.Option("--background", help="Do not wait for it: `cortex operation get` tells how far it is.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Remember a document, or its next text: only what changed is written."""
    if file == "-" and document_id is None:
        raise typer.BadParameter("what standard input says needs an --id")
    with reported():
        text = _text(file)
        try:
            body = DocumentText(
                namespace=namespace,
                content=text,
                source_kind=source,
                occurred_at=at,
                visibility=Visibility.PRIVATE if private else Visibility.TEAM,
            )
        except ValidationError as error:
            raise InvalidMessage(describe(error)) from None
        path = _path(Path(file).as_posix() if document_id is None else document_id)
        parameters = {"background": "true"} if background else None
        answer = Gateway.here().put(path, _PutReply, body, parameters, timeout_s=PUT_TIMEOUT_S).root
    if isinstance(answer, DocumentRetained):
        retained = answer
    elif background:
        operations.tell(answer.operation_id, wait=False, as_json=as_json)
        return
    else:
        with reported():
            reply = operations.ended(answer.operation_id, quiet=as_json)
        found = next((item.document for item in reply.items if item.document), None)
        if found is None:
            operations.show(reply, console())
            raise typer.Exit(FAILED)
        retained = found
    if as_json:
        print(retained.model_dump_json(indent=2))
        return
    if retained.unchanged:
        print(f"{plain(retained.document_id)} has not changed")
    else:
        changes = f"{retained.added} new, {retained.kept} kept, {retained.removed} removed"
        print(f"{plain(retained.document_id)} is at version {retained.version}: {changes}")
    if cut := cut_out(retained.redactions):
        print(f"  cut out {cut}")


@app.command()
def get(document_id: Id, namespace: Namespace = "default", as_of: AsOf = None, as_json: Json = False) -> None:
    """Print the text of a document, as it is or as it was; exit code 4 when there is none."""
    parameters = {"namespace": namespace} | ({"as_of": as_of.isoformat()} if as_of else {})
    with reported():
        gateway = Gateway.here()
        reply = gateway.get(_path(document_id), DocumentReply, parameters)
        chunks = list(reply.chunks)
        while reply.next is not None:
            reply = gateway.get(_path(document_id), DocumentReply, parameters | {"first": str(reply.next)})
            chunks += reply.chunks
        if as_json:
            print(reply.model_copy(update={"chunks": tuple(chunks)}).model_dump_json(indent=2))
        else:
            text = "".join(chunk.text for chunk in chunks)
            # A file gets what was put; a terminal obeys nothing that is in it.
            print(plain(text) if sys.stdout.isatty() else text)


@app.command("list")
def listed(
    prefix: Annotated[str, typer.Argument(help="What the ids begin with.")] = "",
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="Only of this project; default: all.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show which documents there are."""
    parameters = {"prefix": prefix, "limit": "500"} | ({"namespaces": namespace} if namespace else {})
    found: list[DocumentView] = []
    with reported():
        gateway = Gateway.here()
        reply = gateway.get(DOCUMENTS, DocumentsReply, parameters)
        found += reply.documents
        while reply.more:
            reply = gateway.get(DOCUMENTS, DocumentsReply, parameters | {"offset": str(len(found))})
            found += reply.documents
    if as_json:
        print(DocumentsReply(documents=tuple(found), more=False).model_dump_json(indent=2))
        return
    for one in found:
        size = f"{one.chars} characters in {one.chunks} chunks"
        print(
            f"{one.namespace}  {plain(one.document_id)}  {size}, version {one.version}, {moment.told(one.updated_at)}"
        )
    if not found:
        print("There are no documents.")


@app.command()
def forget(document_id: Id, namespace: Namespace = "default", as_json: Json = False) -> None:
    """A document and what was derived from it stop being true; nothing is deleted. Exit code 4 when there is none."""
    with reported():
        forgotten = Gateway.here().delete(_path(document_id), DocumentForgotten, {"namespace": namespace})
    if as_json:
        print(forgotten.model_dump_json(indent=2))
    elif forgotten.changed:
        derived = f" and {forgotten.derived} that were made of them" if forgotten.derived else ""
        print(f"forgotten, with {forgotten.chunks} memories{derived}")
    else:
        print("it was forgotten already")


def _text(file: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise InvalidMessage(f"cannot read {file} ({error.strerror})") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidMessage(f"{file}: expected text in UTF-8, byte {error.start} is not") from None
    if "\x00" in text:
        raise InvalidMessage(f"{file}: expected text, got binary data")
    return text


def _path(document_id: str) -> str:
    # Its slashes, too: a ".." between them would be resolved on the way.
    return f"{DOCUMENTS}/{quote(document_id, safe='')}"
