"""`cortex keys`: what agents and scripts prove themselves with. A key is shown once, when it is made."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final

import typer
from pydantic import ValidationError
from rich.table import Table

from cortex_cli import moment
from cortex_cli.failure import reported
from cortex_cli.gateway import Gateway
from cortex_cli.output import console, escape, plain
from cortex_contracts.errors import InvalidMessage
from cortex_contracts.rpc.keys import Key, KeyDraft, Keys, Role
from cortex_runtime.settle import describe

app = typer.Typer(help="Keys of agents: make, list and revoke them.", no_args_is_help=True)

KEYS: Final = "/api/v1/keys"

Json = Annotated[bool, typer.Option("--json", help="Print the reply as JSON.")]


class _CreatedKey(Key):
    """With the key itself."""

    key: str


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The agent: the subject that its memories belong to.")],
    read: Annotated[
        list[str] | None, typer.Option("--read", metavar="NAMESPACE", help="It may read this one; default: all.")
    ] = None,
    write: Annotated[
        list[str] | None,
        typer.Option("--write", metavar="NAMESPACE", help="It may write this one; default: those it may read."),
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="It may write nothing.")] = False,
    role: Annotated[Role, typer.Option(help="An owner manages keys.")] = Role.MEMBER,
    expires: Annotated[
        datetime | None, typer.Option(parser=moment.parse, metavar="TIME", help="When it ends; default: never.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a key for an agent. It is printed now and never again."""
    if read_only and write:
        raise typer.BadParameter("give --write or --read-only")
    with reported():
        try:
            draft = KeyDraft(
                subject=name,
                role=role,
                readable=tuple(read) if read else None,
                writable=() if read_only else tuple(write) if write else None,
                expires_at=expires,
            )
        except ValidationError as error:
            raise InvalidMessage(describe(error)) from None
        made = Gateway.here().post(KEYS, _CreatedKey, draft)
    if as_json:
        print(made.model_dump_json(indent=2))
        return
    print(made.key)
    told = f"the key of {plain(made.subject)}: keep it, it is not shown again (cortex keys revoke {made.key_id})"
    typer.echo(told, err=True)


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the keys, those that work first."""
    with reported():
        reply = Gateway.here().get(KEYS, Keys)
    if as_json:
        print(reply.model_dump_json(indent=2))
        return
    if not reply.keys:
        print("There are no keys.")
        return
    table = Table("id", "agent", "role", "reads", "writes", "made", "last used", "state")
    for key in reply.keys:
        table.add_row(
            key.key_id,
            escape(key.subject),
            key.role.value,
            _namespaces(key.readable),
            _namespaces(key.readable if key.writable is None else key.writable),
            moment.told(key.created_at),
            moment.told(key.last_used_at),
            _state(key),
        )
    console().print(table)


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the key, from `cortex keys list`.")],
    as_json: Json = False,
) -> None:
    """End a key at once and for good; exit code 4 when there is none."""
    with reported():
        # The whole key may be pasted: its id is in it, and the rest must not be sent as a part of an address.
        path = f"{KEYS}/{_id(key_id)}"
        ended = Gateway.here().delete(path, Key)
    if as_json:
        print(ended.model_dump_json(indent=2))
    else:
        print(f"the key {ended.key_id} of {plain(ended.subject)} does not work any more")


def _id(given: str) -> str:
    found = given.split("_")[1] if given.startswith("ctx_") and given.count("_") >= 2 else given
    if not found.isalnum() or not found.isascii():
        raise InvalidMessage("expected the id of a key, twelve characters such as 3f9a1c07b2de")
    return found


def _namespaces(names: tuple[str, ...] | None) -> str:
    return "all" if names is None else ", ".join(names) or "none"


def _state(key: Key) -> str:
    if key.revoked_at is not None:
        return f"revoked {moment.told(key.revoked_at)}"
    if key.expires_at is None:
        return "works"
    over = key.expires_at <= datetime.now(UTC)
    return f"expired {moment.told(key.expires_at)}" if over else f"until {moment.told(key.expires_at)}"
