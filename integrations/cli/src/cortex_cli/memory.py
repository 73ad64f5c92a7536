"""`cortex get`, `forget`, `restore` and `share`: one memory by its id, and who else may read a namespace."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.text import Text

from cortex_cli import moment
from cortex_cli.failure import reported
from cortex_cli.gateway import MEMORY, Gateway
from cortex_cli.output import console, escape, plain
from cortex_contracts.errors import InvalidMessage
from cortex_contracts.messages.base import preview
from cortex_contracts.rpc.ingest import Access, Changed, Grant, Grants, Share
from cortex_contracts.rpc.recall import GetReply
from cortex_runtime.settle import describe

Id = Annotated[UUID, typer.Argument(metavar="ID", help="Id of the memory, from `cortex recall`.")]
Json = Annotated[bool, typer.Option("--json", help="Print the reply as JSON.")]


def get(memory_id: Id, as_json: Json = False) -> None:
    """Show one memory with its provenance and its history; exit code 4 when there is none."""
    with reported():
        reply = Gateway.here().get(f"{MEMORY}/{memory_id}", GetReply)
    if as_json:
        print(reply.model_dump_json(indent=2))
    else:
        show(reply, console())


def forget(memory_id: Id, as_json: Json = False) -> None:
    """A memory stops being true; nothing is deleted. Exit code 4 when there is none."""
    changed = _change(memory_id, "forget")
    if as_json:
        print(changed.model_dump_json(indent=2))
    elif changed.changed:
        print(f"forgotten; `cortex restore {memory_id}` undoes it")
    else:
        print(f"not true any more since {moment.told(changed.invalid_at)}")


def restore(memory_id: Id, as_json: Json = False) -> None:
    """Undo a forget. Exit code 4 when there is no such memory."""
    changed = _change(memory_id, "restore")
    if as_json:
        print(changed.model_dump_json(indent=2))
    else:
        print("restored" if changed.changed else "it was not forgotten")


def share(
    namespace: Annotated[
        str | None, typer.Argument(help="Project to share; without it, show who was granted what.")
    ] = None,
    agent: Annotated[str | None, typer.Argument(help="Subject of the other agent's credentials.")] = None,
    write: Annotated[bool, typer.Option("--write", help="To read and to write; default: to read.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Take it back.")] = False,
    as_json: Json = False,
) -> None:
    """Let another agent read or write a namespace, or show the grants there are."""
    if write and revoke:
        raise typer.BadParameter("give --write or --revoke, not both")
    if agent is None and (write or revoke):
        raise typer.BadParameter("name the namespace and the agent")
    with reported():
        found: Grants | Grant
        if namespace is None or agent is None:
            parameters = {"namespace": namespace} if namespace else None
            found = Gateway.here().get(f"{MEMORY}/grants", Grants, parameters)
        else:
            access = Access.WRITE if write else Access.NONE if revoke else Access.READ
            try:
                wanted = Share(namespace=namespace, agent=agent, access=access)
            except ValidationError as error:
                raise InvalidMessage(describe(error)) from None
            found = Gateway.here().post(f"{MEMORY}/share", Grant, wanted)
    if as_json:
        print(found.model_dump_json(indent=2))
        return
    grants = found.grants if isinstance(found, Grants) else (found,)
    for one in grants:
        print(f"{one.namespace}  {one.access.value:<5}  {plain(one.agent)}")
    if not grants:
        print("Nothing is shared.")


def show(reply: GetReply, terminal: Console) -> None:
    """Print a memory for people: its text, then what is known about it."""
    memory = reply.memory
    terminal.print(Text(plain(memory.content)))
    terminal.print()
    since, until = moment.told(memory.valid_at), moment.told(memory.invalid_at)
    turn = "" if memory.turn is None else f"turn {memory.turn}"
    rows = {
        "id": str(memory.memory_id),
        "namespace": memory.namespace,
        "source": _listed(memory.source_kind, memory.source_ref, memory.session, turn, memory.speaker),
        "true": f"{since} to {until}" if until else f"since {since}",
        "learned": moment.told(memory.created_at),
        "kind": _listed(memory.network.value, memory.memory_type.value, memory.visibility.value),
        "owner": memory.owner or "",
        "importance": f"{memory.importance:.2f}",
        "decision": _listed(memory.decision.value, memory.decision_reason),
        "entities": ", ".join(reply.entities),
        "made of": ", ".join(map(str, reply.sources)),
        "facts": ", ".join(map(str, reply.facts)),
        "replaced by": str(memory.superseded_by or ""),
        "tier": "cold: found in the archive, not recalled" if reply.archived else "",
        "recalled": f"{reply.access_count} times, last {moment.told(reply.last_accessed_at)}"
        if reply.access_count
        else "",
    }
    for name, value in rows.items():
        if value:
            terminal.print(f"[dim]{name:<12}[/dim]{escape(value)}", soft_wrap=True)
    for claim in memory.assertions:
        terminal.print(f"[dim]{'claims':<12}[/dim]{escape(f'{claim.subject} {claim.attribute}: {claim.value}')}")
    for name, known in reply.summaries.items():
        terminal.print(f"\nKnown of {escape(name)}:")
        terminal.print(Text(plain(known)))
    if len(reply.chain) > 1:
        terminal.print("\nWhat superseded what:")
        for one in reply.chain:
            tier = " cold" if one.memory_id in reply.chain_archived else ""
            terminal.print(f"  {moment.told(one.valid_at)}  [dim]{one.memory_id}{tier}[/dim]", soft_wrap=True)
            terminal.print(f"    {escape(preview(one.content))}")
    if not reply.chain_complete:
        terminal.print("What of its chain is in the cold tier cannot be asked now.")
    if reply.occurrences:
        terminal.print("\nSaid again:")
        for said in reply.occurrences:
            origin = _listed(said.source_kind, said.source_ref, said.session, said.speaker)
            terminal.print(f"  {moment.told(said.occurred_at)}  {escape(origin)}", soft_wrap=True)
    if reply.history:
        terminal.print("\nHistory:")
        for entry in reply.history:
            terminal.print(
                f"  {moment.told(entry.occurred_at)}  {entry.op}  {escape(entry.agent or '')}", soft_wrap=True
            )


def _change(memory_id: UUID, verb: str) -> Changed:
    with reported():
        changed = Gateway.here().post(f"{MEMORY}/{memory_id}/{verb}", Changed)
    return changed


def _listed(*parts: str | None) -> str:
    return ", ".join(dict.fromkeys(part for part in parts if part))
